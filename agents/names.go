// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

// Names of the agents.
const (
	RegistryResearcher   = "registry_researcher"
	FinanceResearcher    = "finance_researcher"
	ReputationResearcher = "reputation_researcher"
	RiskScorer           = "risk_scorer"
	Writer               = "writer"
	Reviewer             = "reviewer"
)

// Names of the tools. A look-up's name after "lookup_" is the name its data is
// stashed under.
const (
	LookupPrefix     = "lookup_"
	LookupRegistry   = "lookup_registry"
	LookupFinances   = "lookup_finances"
	LookupReputation = "lookup_reputation"
	ReportFinding    = "report_finding"
	ApproveReport    = "approve_report"
	RequestChanges   = "request_changes"
)

// MaxSupplierLen is the most characters of the supplier argument.
const MaxSupplierLen = 80

// MaxRounds is how many times the writer may write.
const MaxRounds = 2

// Researchers returns the names of the agents that report findings.
func Researchers() []string {
	return []string{RegistryResearcher, FinanceResearcher, ReputationResearcher}
}
