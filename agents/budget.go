// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// RunBudget is the name of the guard that bounds the model calls of the whole run.
const RunBudget = "run_call_budget"

// researchShare is how much of a run's money research may use, in percent.
const researchShare = 60

// Slices splits a run's money for guards.SpendOptions: the researchers share three
// fifths, the rest is kept for the report together with what they did not need. Research
// that the money is not enough for is completed by code; a text that nobody wrote is not.
func Slices(total ledger.Nano) []guards.Slice {
	part := total * researchShare / 100
	if part == 0 {
		return nil
	}
	return []guards.Slice{{Name: "research", Agents: Researchers(), Limits: ledger.Limits{Hard: part}}}
}
