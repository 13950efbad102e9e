// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// Document is a paper to ask the supplier for: no public source holds it.
type Document struct {
	ID         string `json:"id"`
	Basis      string `json:"basis"`                 // the text of law that asks for it
	MaxMonths  int    `json:"max_months,omitempty"`  // how old it may be when received; 0: no rule
	RenewBy    string `json:"renew_by,omitempty"`    // ISO date; empty: once is enough
	When       string `json:"when,omitempty"`        // condition, by id; empty: always
	Triggered  bool   `json:"triggered"`             // the condition is known to hold
	FromReview string `json:"from_review,omitempty"` // the review flag that asks for it
}

// vigilanceThreshold is the amount of a contract, in euros before tax, from
// which the duty of vigilance applies (Code du travail R8222-1).
const vigilanceThreshold = 5000

// Conditions of a document.
const (
	whenAmount    = "amount"   // a contract of at least 5 000 euros
	whenForeign   = "foreign"  // it employs foreign staff who need a permit
	whenPublic    = "public"   // the buyer is a public body
	whenActivity  = "activity" // its activity is regulated
	whenReviewing = "review"
)

// documents lists what the law or the score asks a buyer to collect.
func documents(f sources.Facts, r risk.Result, purchases *int64, asOf time.Time) []Document {
	half, year := asOf.AddDate(0, 6, 0).Format(time.DateOnly), asOf.AddDate(1, 0, 0).Format(time.DateOnly)
	large := purchases != nil && *purchases >= vigilanceThreshold
	list := []Document{}
	if f.Subject().Country == "FR" {
		list = append(list,
			Document{ID: "vigilance_certificate", Basis: "C. trav. L8222-1, D8222-5 1°; CSS L243-15", MaxMonths: 6, RenewBy: half, When: whenAmount, Triggered: large},
			Document{ID: "registration_proof", Basis: "C. trav. D8222-5 2°", MaxMonths: 3, RenewBy: half, When: whenAmount, Triggered: large},
		)
	} else {
		list = append(list,
			Document{ID: "foreign_registration", Basis: "C. trav. D8222-7", RenewBy: half, When: whenAmount, Triggered: large},
			Document{ID: "foreign_social_cover", Basis: "C. trav. D8222-7; (CE) 883/2004", RenewBy: half, When: whenAmount, Triggered: large},
		)
	}
	list = append(list,
		Document{ID: "foreign_staff_list", Basis: "C. trav. L8254-1, D8254-2", MaxMonths: 6, RenewBy: half, When: whenForeign},
		Document{ID: "tax_certificate", Basis: "CCP R2143-7", MaxMonths: 12, RenewBy: year, When: whenPublic},
	)
	activity := activityOf(f)
	switch {
	case strings.HasPrefix(activity, "41"), strings.HasPrefix(activity, "42"), strings.HasPrefix(activity, "43"):
		list = append(list,
			Document{ID: "building_cards", Basis: "C. trav. L8291-1", When: whenActivity, Triggered: true},
			Document{ID: "ten_year_insurance", Basis: "C. assur. L241-1", RenewBy: year, When: whenActivity, Triggered: true},
		)
	case strings.HasPrefix(activity, "49.4"):
		list = append(list, Document{ID: "haulage_licence", Basis: "C. transports L3211-1", When: whenActivity, Triggered: true})
	case strings.HasPrefix(activity, "78.2"):
		list = append(list, Document{ID: "temp_work_guarantee", Basis: "C. trav. L1251-49", RenewBy: year, When: whenActivity, Triggered: true})
	case strings.HasPrefix(activity, "80.1"):
		list = append(list, Document{ID: "security_authorisation", Basis: "CSI L612-9", When: whenActivity, Triggered: true})
	}
	for _, code := range r.Reviews {
		if code == risk.ReviewAskAccounts {
			list = append(list, Document{ID: "accounts", Basis: "C. com. L232-25", When: whenReviewing, Triggered: true, FromReview: string(code)})
		}
	}
	return list
}

func activityOf(f sources.Facts) string {
	if f.Registry == nil || len(f.Registry.Company.Items) != 1 {
		return ""
	}
	return f.Registry.Company.Items[0].Activity
}
