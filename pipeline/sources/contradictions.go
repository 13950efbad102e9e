// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"strings"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Contradiction names two pieces of evidence that disagree.
type Contradiction struct {
	Code     string   `json:"code"`
	Evidence []string `json:"evidence"`
	Dates    []string `json:"dates"` // of the evidence, in its order; empty where unknown
}

// identity compares the identifiers that several sources give for the subject;
// one identifier alone agrees with nothing.
func identity(f RegistryFacts) risk.Identity {
	compared := false
	if len(f.Company.Items) == 1 {
		for _, v := range f.Company.Items[0].VAT {
			id, err := supplier.ParseIdentifier(v)
			if err != nil || id.SIREN != f.Company.Items[0].SIREN {
				return risk.IdentityMismatch
			}
			compared = true
		}
	}
	if len(f.VAT.Items) == 1 {
		if !f.VAT.Items[0].Valid {
			return risk.IdentityMismatch
		}
		compared = true
	}
	// The LEI record was found by the SIREN or by itself: what can still
	// disagree is the number it gives for a French company.
	if len(f.LEI.Items) == 1 && f.Subject.SIREN != "" {
		if onlyDigits(f.LEI.Items[0].RegisteredAs) != f.Subject.SIREN {
			return risk.IdentityMismatch
		}
		compared = true
	}
	if !compared {
		return ""
	}
	return risk.IdentityMatch
}

func contradictions(f RegistryFacts) []Contradiction {
	out := []Contradiction{}
	if f.Identity == risk.IdentityMismatch {
		ids := identityEvidence(f)
		out = append(out, Contradiction{Code: ContradictionIdentifiers, Evidence: ids, Dates: make([]string, len(ids))})
	}
	if f.Company.Status != StatusOK || !f.Company.Items[0].Active {
		return out
	}
	company := f.Company.Items[0]
	add := func(code, evidence, date string) {
		out = append(out, Contradiction{Code: code, Evidence: []string{company.Evidence, evidence}, Dates: []string{f.Company.DataAsOf, date}})
	}
	switch f.Insolvency.State {
	case risk.InsolvencyLiquidation, risk.InsolvencyReorganisation:
		add(ContradictionActiveInProcedure, f.Insolvency.Evidence[len(f.Insolvency.Evidence)-1], f.Insolvency.Since)
	}
	if n, struck := strikeOff(counted(f.Changes.Items)); struck {
		add(ContradictionActiveStruckOff, n.Evidence, n.Published)
	}
	return out
}

// strikeOff returns the last striking off that no later registration undid.
// Moving to another court's register is none.
func strikeOff(oldestFirst []Notice) (last Notice, struck bool) {
	for _, n := range oldestFirst {
		switch n.Family {
		case familyStrike:
			if !strings.Contains(supplier.Fold(n.Text), "transfert du siege hors ressort") {
				last, struck = n, true
			}
		case familyCreation, familyRegistration:
			struck = false
		}
	}
	return last, struck
}

// identityEvidence lists what the identifiers were read from.
func identityEvidence(f RegistryFacts) []string {
	ids := []string{}
	for _, x := range f.Company.Items {
		ids = append(ids, x.Evidence)
	}
	for _, x := range f.VAT.Items {
		ids = append(ids, x.Evidence)
	}
	for _, x := range f.LEI.Items {
		ids = append(ids, x.Evidence)
	}
	return ids
}

// The codes of a [Contradiction].
const (
	ContradictionActiveInProcedure = "active_in_registry_but_open_procedure"
	ContradictionActiveStruckOff   = "active_in_registry_but_struck_off"
	ContradictionIdentifiers       = "identifiers_disagree"
)
