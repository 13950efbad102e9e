// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// clean reads the strings of JSON inside a notice about siren. A judgment that cannot be
// read is kept, with the effect "unclear": it must not vanish.
func (n bodaccNotice) clean(siren, evidence string) Notice {
	out := Notice{
		ID: supplier.Clean(n.ID, 40), Evidence: evidence, Family: n.Family,
		Published: isoDay(n.Published), Court: cleanName(repair(n.Court)),
	}
	switch n.Family {
	case familyCollective, familyRecovery:
		n.judgment(&out)
	case familyConciliation:
		n.judgment(&out)
		out.Effect = EffectConciliation
	case familyDeposit:
		n.deposit(&out)
	case familySale:
		out.Role = n.saleRole(siren, &out)
	default:
		out.Text = freeText(n.Changes, n.Strike)
	}
	return out
}

func (n bodaccNotice) judgment(out *Notice) {
	j, present, err := embedded[bodaccJudgment](n.Judgment)
	if err != nil || !present {
		out.Effect = EffectUnclear
		return
	}
	out.Nature = supplier.Clean(repair(j.Nature), supplier.MaxTitleLength)
	out.Decided = frenchDate(j.Date)
	out.Effect = classify(j)
}

func (n bodaccNotice) deposit(out *Notice) {
	d, _, err := embedded[struct {
		YearEnd string `json:"dateCloture"`
		Kind    string `json:"typeDepot"`
		Text    string `json:"descriptif"`
	}](n.Deposit)
	if err != nil {
		return // the deposit is still a deposit
	}
	out.YearEnd = frenchDate(d.YearEnd)
	out.Text = supplier.Clean(repair(strings.TrimSpace(d.Kind+". "+d.Text)), supplier.MaxTitleLength)
}

// saleRole tells whether siren bought or sold: a notice of sale lists the new
// owner among its persons and the former owner or operator in fields of their
// own. Where the notice does not tell them apart, the role is unknown.
func (n bodaccNotice) saleRole(siren string, out *Notice) string {
	act, _, err := embedded[struct {
		Sale struct {
			Category string `json:"categorieVente"`
		} `json:"vente"`
	}](n.Act)
	if err == nil {
		out.Text = supplier.Clean(repair(act.Sale.Category), supplier.MaxTitleLength)
	}
	switch {
	case names(n.FormerOwner, siren), names(n.FormerOperator, siren):
		return RoleSeller
	case names(n.Persons, siren) && (n.FormerOwner+n.FormerOperator != "" || !severalPersons(n.Persons)):
		return RoleBuyer
	}
	return RoleUnknown
}

// severalPersons reports whether a notice lists more than one person: without a
// field for the former owner, either may be the seller.
func severalPersons(field string) bool {
	v, _, err := embedded[struct {
		Person json.RawMessage `json:"personne"`
	}](field)
	return err != nil || len(v.Person) == 0 || v.Person[0] == '['
}

// names reports whether JSON inside a field holds siren as a registration
// number. A person is an object or a list of them, under a key that varies.
func names(field, siren string) bool {
	v, present, err := embedded[any](field)
	return present && err == nil && holdsNumber(v, siren)
}

func holdsNumber(v any, siren string) bool {
	switch x := v.(type) {
	case map[string]any:
		for key, child := range x {
			s, isText := child.(string)
			if isText && (key == "numeroIdentification" || key == "numeroIdentificationRM") && strings.ReplaceAll(supplier.Clean(s, 0), " ", "") == siren {
				return true
			}
			if holdsNumber(child, siren) {
				return true
			}
		}
	case []any:
		for _, child := range x {
			if holdsNumber(child, siren) {
				return true
			}
		}
	}
	return false
}

// freeText is the description that modifications and strikings-off carry under
// one of several keys.
func freeText(fields ...string) string {
	for _, f := range fields {
		v, present, err := embedded[map[string]any](f)
		if !present || err != nil {
			continue
		}
		for _, key := range []string{"descriptif", "commentaire", "radiationPM", "radiationPP"} {
			switch x := v[key].(type) {
			case string:
				return supplier.Clean(repair(x), supplier.MaxTitleLength)
			case map[string]any:
				if s, ok := x["commentaire"].(string); ok {
					return supplier.Clean(repair(s), supplier.MaxTitleLength)
				}
			}
		}
	}
	return ""
}

// cancelled tells, by notice id, which notices do not count: those that a
// cancellation, a correction or a retraction names, and the cancellations
// themselves. A cancellation that does not say what it cancels is kept, unread,
// for a person.
func cancelled(notices []bodaccNotice) map[string]string {
	dropped := map[string]string{}
	for _, n := range notices {
		reason := ""
		switch n.Kind {
		case "annulation":
			reason = "cancelled"
		case "rectificatif":
			reason = "corrected"
		default:
			j, _, err := embedded[bodaccJudgment](n.Judgment)
			if err == nil && strings.Contains(fold(j.Family), "retractation sur tierce opposition") {
				reason = "cancelled"
			}
		}
		if reason == "" {
			continue
		}
		target := predecessor(n)
		if target == "" {
			continue
		}
		dropped[target] = reason
		if reason == "cancelled" {
			dropped[n.ID] = "cancels"
		}
	}
	return dropped
}

// predecessor is the id of the notice that n refers to, "" when it cannot be
// read.
func predecessor(n bodaccNotice) string {
	p, present, err := embedded[bodaccPredecessor](n.Predecessor)
	if err != nil || !present || p.Publication == "" || p.Issue == "" || p.Number == "" {
		return ""
	}
	return p.Publication[len(p.Publication)-1:] + string(p.Issue) + string(p.Number)
}

// UnmarshalJSON accepts the references that the publisher writes as numbers or
// as strings.
func (p *bodaccPredecessor) UnmarshalJSON(b []byte) error {
	var raw struct {
		Publication string `json:"nomPublication"`
		Issue       any    `json:"numeroParution"`
		Number      any    `json:"numeroAnnonce"`
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return errMalformed
	}
	p.Publication, p.Issue, p.Number = raw.Publication, digits(raw.Issue), digits(raw.Number)
	return nil
}

func digits(v any) json.Number {
	switch x := v.(type) {
	case json.Number:
		return x
	case string:
		return json.Number(strings.TrimSpace(x))
	}
	return ""
}
