// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Figures is one year of the registry's own finance block: the latest only.
type Figures struct {
	Evidence  string `json:"evidence"`
	Year      string `json:"year"`
	Turnover  *int64 `json:"turnover"`   // euros; nil when not declared
	NetResult *int64 `json:"net_result"` // euros; nil when not declared
}

// FinanceFacts is what public accounts say about a subject.
type FinanceFacts struct {
	Subject supplier.Subject `json:"subject"`
	// Figures is the registry's block, Accounts the published ratios, Deposits
	// the BODACC notices that accounts were filed, confidential ones included.
	Figures  Answer[Figures] `json:"figures"`
	Accounts Answer[Account] `json:"accounts"`
	Deposits Answer[Notice]  `json:"deposits"`
	// Transparency is derived from accounts, deposits and age; empty when
	// unknown.
	Transparency risk.Transparency `json:"transparency,omitempty"`
}

// Envelopes returns the envelope of each look-up, in a fixed order.
func (f FinanceFacts) Envelopes() []Envelope {
	return []Envelope{f.Figures.Envelope, f.Accounts.Envelope, f.Deposits.Envelope}
}

// Map returns f as plain JSON values, for a tool result.
func (f FinanceFacts) Map() map[string]any { return toMap(f) }

// Finances looks up the subject's public accounts and the notices of their
// deposit.
func (c *Client) Finances(ctx context.Context, subject supplier.Subject) FinanceFacts {
	f := FinanceFacts{Subject: subject}
	if !supplier.ValidSIREN(subject.SIREN) {
		const why = "the subject has no SIREN, and no connected source publishes accounts for its country"
		f.Figures = notAsked[Figures](c.recherche, StatusNotAsked, FailNoSource, why)
		f.Accounts = notAsked[Account](c.ratios, StatusNotAsked, FailNoSource, why)
		f.Deposits = notAsked[Notice](c.bodacc, StatusNotAsked, FailNoSource, why)
		return f
	}
	figures, unit := c.figures(ctx, subject.SIREN)
	f.Figures = figures
	if why := unit.filesNoAccounts(); why != "" {
		f.Accounts = notAsked[Account](c.ratios, StatusNotApplicable, FailNotApplicable, why)
		f.Deposits = notAsked[Notice](c.bodacc, StatusNotApplicable, FailNotApplicable, why)
		return f
	}
	f.Accounts = c.accounts(ctx, subject.SIREN)
	f.Deposits = c.deposits(ctx, subject.SIREN)
	f.Transparency = transparency(f, unit.Created, c.AsOf())
	return f
}

// filesNoAccounts says why a unit deposits no accounts at the commercial
// register, "" when it does or when that is unknown.
func (u rechercheUnit) filesNoAccounts() string {
	switch {
	case u.Complements.Administration:
		return "a public body files no accounts at the commercial register"
	case u.Complements.Association:
		return "an association files no accounts at the commercial register"
	case u.soleTrader():
		return "a sole trader files no accounts at the commercial register"
	}
	return ""
}

func (c *Client) figures(ctx context.Context, siren string) (Answer[Figures], rechercheUnit) {
	a := Answer[Figures]{Items: []Figures{}}
	env, unit := c.unitBySIREN(ctx, siren)
	a.Envelope = env
	if !env.Status.Read() {
		return a, unit
	}
	page := "https://annuaire-entreprises.data.gouv.fr/donnees-financieres/" + siren
	a.cite("E-FIN-000", page, "Annuaire des entreprises: finances of SIREN "+siren, env.DataAsOf)
	for year, v := range unit.Finances {
		if _, err := strconv.Atoi(year); err != nil || len(year) != 4 {
			a.fail(StatusInvalid, FailMalformed, errMalformed.Error())
			a.Items = []Figures{}
			return a, unit
		}
		a.Items = append(a.Items, Figures{Year: year, Turnover: euros(v.Turnover), NetResult: euros(v.NetResult)})
	}
	slices.SortFunc(a.Items, func(x, y Figures) int { return strings.Compare(x.Year, y.Year) })
	for i := range a.Items {
		id := fmt.Sprintf("E-FIN-%03d", i+1)
		a.Items[i].Evidence = a.cite(id, page, "Annuaire des entreprises: finances "+a.Items[i].Year, a.Items[i].Year+"-12-31")
	}
	if len(a.Items) == 0 {
		a.Status = StatusNotFound
	}
	return a, unit
}

// maxEuros bounds the figures taken for true.
const maxEuros = 1e13

// euros reads an amount as whole euros. Zero is how the register writes "not
// declared"; a figure out of all proportion is none.
func euros(n *json.Number) *int64 {
	f := number(n)
	if f == nil || math.Abs(*f) > maxEuros {
		return nil
	}
	v := int64(math.Round(*f))
	if v == 0 {
		return nil
	}
	return &v
}

// number reads a JSON number, nil when there is none or it is not finite.
func number(n *json.Number) *float64 {
	if n == nil {
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return &f
}

// declared is number with zero read as "not declared".
func declared(n *json.Number) *float64 {
	if f := number(n); f != nil && *f != 0 {
		return f
	}
	return nil
}

func (c *Client) deposits(ctx context.Context, siren string) Answer[Notice] {
	env, raw := c.notices(ctx, siren, familyDeposit)
	return c.noticeAnswer(env, raw, siren, "E-DPC", "BODACC: accounts deposited by SIREN "+siren)
}

// The time from a year's end to when its accounts must be public (Code de
// commerce L232-22, L225-100: six months to approve, two to file by wire), and
// how long silence must last before it means something.
const (
	firstAccountsDue = 20 // months from creation
	depositsRecent   = 24 // months
)

// transparency says what the company shows of its accounts. Rows in the ratios
// answer that; without any, the notices of deposit tell "confidential" from
// "never filed".
func transparency(f FinanceFacts, created string, asOf time.Time) risk.Transparency {
	recent := asOf.AddDate(0, -depositsRecent, 0).Format(time.DateOnly)
	if f.Accounts.Status == StatusOK {
		last := f.Accounts.Items[len(f.Accounts.Items)-1]
		if last.YearEnd > asOf.AddDate(-3, 0, 0).Format(time.DateOnly) {
			if last.Confidentiality == "Public" {
				return risk.TransparencyPublic
			}
			return risk.TransparencyPartial
		}
	}
	if !f.Deposits.Status.Read() {
		return ""
	}
	deposited := risk.Transparency("")
	for _, n := range counted(f.Deposits.Items) {
		if n.Published <= recent {
			continue
		}
		deposited = risk.TransparencyPublic
		if strings.Contains(supplier.Fold(n.Text), "confidentialite") {
			deposited = risk.TransparencyConfidential
		}
	}
	switch {
	case deposited != "":
		return deposited
	case created > asOf.AddDate(0, -firstAccountsDue, 0).Format(time.DateOnly):
		return risk.TransparencyNotDue
	}
	return risk.TransparencyNoneFiled
}
