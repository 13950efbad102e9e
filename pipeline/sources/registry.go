// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Company is a legal unit as the registry describes it.
type Company struct {
	Evidence           string    `json:"evidence"`
	SIREN              string    `json:"siren"`
	LegalName          string    `json:"legal_name"`
	TradeNames         []string  `json:"trade_names,omitempty"`
	Acronym            string    `json:"acronym,omitempty"`
	Active             bool      `json:"active"`
	Created            string    `json:"created,omitempty"`
	Closed             string    `json:"closed,omitempty"`
	LegalForm          string    `json:"legal_form,omitempty"` // INSEE "catégorie juridique"
	Activity           string    `json:"activity,omitempty"`   // NAF code
	Category           string    `json:"category,omitempty"`   // PME, ETI or GE
	Headcount          string    `json:"headcount,omitempty"`  // band: "20-49", "none_or_unknown"
	HeadcountYear      string    `json:"headcount_year,omitempty"`
	Establishments     int       `json:"establishments"`
	OpenEstablishments *int      `json:"open_establishments,omitempty"`
	Address            string    `json:"address,omitempty"`
	PostalCode         string    `json:"postal_code,omitempty"`
	City               string    `json:"city,omitempty"`
	VAT                []string  `json:"vat,omitempty"`
	Officers           []Officer `json:"officers"`
	Masked             bool      `json:"masked"` // the person opted out of publication: masked fields stay masked
	Association        bool      `json:"association"`
	SoleTrader         bool      `json:"sole_trader"`
	PublicBody         bool      `json:"public_body"`
}

// Officer is a person or company that the registry lists as an officer. The
// month of birth is published too, but nobody reading a report needs it.
type Officer struct {
	Name  string `json:"name"`
	Role  string `json:"role,omitempty"`
	SIREN string `json:"siren,omitempty"` // of a company officer
}

// headcountBands are INSEE's codes for "tranche d'effectif salarié".
var headcountBands = map[string]string{
	"NN": "none_or_unknown", "00": "0", "01": "1-2", "02": "3-5", "03": "6-9", "11": "10-19", "12": "20-49",
	"21": "50-99", "22": "100-199", "31": "200-249", "32": "250-499", "41": "500-999", "42": "1000-1999",
	"51": "2000-4999", "52": "5000-9999", "53": "10000+",
}

// maxOfficers caps the officers handed on; a large company lists hundreds.
const maxOfficers = 50

func (u rechercheUnit) company(evidence string) Company {
	c := Company{
		Evidence: evidence, SIREN: u.SIREN, LegalName: u.legalName(), TradeNames: u.tradeNames(), Acronym: cleanName(u.Acronym),
		Active: u.State == "A", Created: isoDay(u.Created), Closed: isoDay(u.Closed), LegalForm: cleanName(u.LegalForm),
		Activity: cleanName(u.Activity), Category: cleanName(u.Category),
		Headcount: headcountBands[u.Headcount], HeadcountYear: cleanName(u.HeadcountYear),
		Establishments: u.Establishments, OpenEstablishments: u.OpenEstablishments,
		Address: cleanName(u.HeadOffice.Address), PostalCode: cleanName(u.HeadOffice.PostalCode), City: cleanName(u.HeadOffice.City),
		Officers: []Officer{}, Masked: u.Diffusion == "P",
		Association: u.Complements.Association, SoleTrader: u.Complements.SoleTrader, PublicBody: u.Complements.Administration,
	}
	for _, v := range u.VAT {
		c.VAT = append(c.VAT, cleanName(v))
	}
	for _, o := range u.Officers[:min(len(u.Officers), maxOfficers)] {
		name := o.Name
		if name == "" {
			name = strings.TrimSpace(o.FirstNames + " " + o.LastName)
		}
		officer := Officer{Name: cleanName(name), Role: cleanName(o.Role)}
		if supplier.ValidSIREN(o.SIREN) {
			officer.SIREN = o.SIREN
		}
		c.Officers = append(c.Officers, officer)
	}
	return c
}

// RegistryFacts is what the registries say about a subject.
type RegistryFacts struct {
	Subject supplier.Subject `json:"subject"`
	// Company, LEI and VAT hold at most one item: the legal unit in the French
	// registry, its LEI record, the check of its VAT number.
	Company Answer[Company]   `json:"company"`
	LEI     Answer[LEIRecord] `json:"lei"`
	VAT     Answer[VATCheck]  `json:"vat"`
	// Procedures are the notices of court procedures, Changes those about the
	// company's life: seat, officers, name, capital, sale, striking off.
	Procedures Answer[Notice] `json:"procedures"`
	Changes    Answer[Notice] `json:"changes"`
	// Identity tells whether SIREN, VAT number and LEI agree; empty without a
	// second identifier.
	Identity risk.Identity `json:"identity,omitempty"`
	// Insolvency and RecentChanges are derived from the notices; State is empty
	// and RecentChanges nil where those could not be read.
	Insolvency    Insolvency `json:"insolvency"`
	RecentChanges *int       `json:"recent_changes"` // counted changes in the 24 months before the as-of date
	// Contradictions are statements of two sources that cannot both hold.
	Contradictions []Contradiction `json:"contradictions"`
}

// Contradiction names two pieces of evidence that disagree.
type Contradiction struct {
	Code     string   `json:"code"`
	Evidence []string `json:"evidence"`
	Dates    []string `json:"dates"` // of the evidence, in its order; empty where unknown
}

// The codes of a [Contradiction].
const (
	ContradictionActiveInProcedure = "active_in_registry_but_open_procedure"
	ContradictionActiveStruckOff   = "active_in_registry_but_struck_off"
	ContradictionIdentifiers       = "identifiers_disagree"
)

// Envelopes returns the envelope of each look-up, in a fixed order.
func (f RegistryFacts) Envelopes() []Envelope {
	return []Envelope{f.Company.Envelope, f.LEI.Envelope, f.VAT.Envelope, f.Procedures.Envelope, f.Changes.Envelope}
}

// Map returns f as plain JSON values, for a tool result.
func (f RegistryFacts) Map() map[string]any { return toMap(f) }

// Registry looks up the subject's legal unit, its LEI and VAT number, and its
// BODACC notices.
func (c *Client) Registry(ctx context.Context, subject supplier.Subject) RegistryFacts {
	f := RegistryFacts{Subject: subject, Contradictions: []Contradiction{}}
	if !supplier.ValidSIREN(subject.SIREN) {
		const why = "the subject has no SIREN: French registers do not apply"
		f.Company = notAsked[Company](c.recherche, StatusNotApplicable, FailNoIdentifier, why)
		f.Procedures = notAsked[Notice](c.bodacc, StatusNotApplicable, FailNoIdentifier, why)
		f.Changes = notAsked[Notice](c.bodacc, StatusNotApplicable, FailNoIdentifier, why)
		f.LEI = c.leiOrNone(ctx, subject)
		f.VAT = c.vatCheck(ctx, subject, nil)
		f.Identity = identity(f)
		return f
	}
	f.Company = c.company(ctx, subject.SIREN)
	var published []string
	if len(f.Company.Items) == 1 {
		published = f.Company.Items[0].VAT
	}
	f.LEI = c.leiRecord(ctx, subject)
	f.VAT = c.vatCheck(ctx, subject, published)
	f.Procedures = c.procedures(ctx, subject.SIREN)
	f.Changes = c.changes(ctx, subject.SIREN)
	f.Identity = identity(f)
	if f.Procedures.Status.Read() {
		f.Insolvency = insolvency(counted(f.Procedures.Items), c.AsOf())
		if len(f.Insolvency.Evidence) == 0 {
			f.Insolvency.Evidence = []string{f.Procedures.Evidence[0].ID}
		}
	}
	if f.Changes.Status.Read() {
		n := recentChanges(counted(f.Changes.Items), c.AsOf())
		f.RecentChanges = &n
	}
	f.Contradictions = contradictions(f)
	return f
}

func (c *Client) leiOrNone(ctx context.Context, subject supplier.Subject) Answer[LEIRecord] {
	if subject.LEI == "" {
		return notAsked[LEIRecord](c.gleif, StatusNotApplicable, FailNoIdentifier, "the subject has no LEI")
	}
	return c.leiRecord(ctx, subject)
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

func (c *Client) company(ctx context.Context, siren string) Answer[Company] {
	a := Answer[Company]{Items: []Company{}}
	env, unit := c.unitBySIREN(ctx, siren)
	a.Envelope = env
	switch env.Status {
	case StatusNotFound:
		a.cite("E-REG-000", env.Query.link(), "Annuaire des entreprises: search for SIREN "+siren, isoDay(env.RetrievedAt.Format(time.DateOnly)))
	case StatusOK:
		id := a.cite("E-REG-001", "https://annuaire-entreprises.data.gouv.fr/entreprise/"+siren, "Annuaire des entreprises: "+unit.legalName(), env.DataAsOf)
		a.Items = append(a.Items, unit.company(id))
	}
	return a
}

// counted leaves out the notices that were cancelled, replaced or published
// after the as-of date.
func counted(notices []Notice) []Notice {
	return slices.DeleteFunc(slices.Clone(notices), func(n Notice) bool { return n.Dropped != "" })
}

func (c *Client) procedures(ctx context.Context, siren string) Answer[Notice] {
	env, raw := c.notices(ctx, siren, familyCollective, familyConciliation, familyRecovery)
	return c.noticeAnswer(env, raw, siren, "E-BOD", "BODACC: court procedures of SIREN "+siren)
}

func (c *Client) changes(ctx context.Context, siren string) Answer[Notice] {
	env, raw := c.notices(ctx, siren, familyModification, familyStrike, familySale)
	return c.noticeAnswer(env, raw, siren, "E-MOD", "BODACC: changes of SIREN "+siren)
}

// noticeAnswer numbers the notices from the oldest, the search itself being
// number 000, and marks those that do not count.
func (c *Client) noticeAnswer(env Envelope, raw []bodaccNotice, siren, prefix, search string) Answer[Notice] {
	a := Answer[Notice]{Envelope: env, Items: []Notice{}}
	if !env.Status.Read() {
		return a
	}
	a.cite(prefix+"-000", env.Query.link(), search, env.RetrievedAt.Format(time.DateOnly))
	slices.SortFunc(raw, func(x, y bodaccNotice) int {
		return cmp.Or(strings.Compare(x.Published, y.Published), strings.Compare(x.ID, y.ID))
	})
	dropped := cancelled(raw)
	for i, n := range raw {
		id := fmt.Sprintf("%s-%03d", prefix, i+1)
		notice := n.clean(siren, id)
		if notice.Dropped == "" {
			notice.Dropped = dropped[n.ID]
		}
		if notice.Published > c.AsOf().Format(time.DateOnly) {
			notice.Dropped = "future"
		}
		a.cite(id, noticeURL(n.ID), noticeLabel(notice), notice.Published)
		a.Items = append(a.Items, notice)
	}
	return a
}

func noticeLabel(n Notice) string {
	what := n.Nature
	if what == "" {
		what = n.Family
	}
	return supplier.Clean("BODACC "+n.ID+": "+what, supplier.MaxTitleLength)
}

// recentChanges counts the notices of the last 24 months that tell of a new
// seat, officer, name or capital.
func recentChanges(notices []Notice, asOf time.Time) int {
	since := asOf.AddDate(0, -24, 0).Format(time.DateOnly)
	n := 0
	for _, notice := range notices {
		if notice.Family == familyModification && notice.Published > since && notableChange(notice.Text) {
			n++
		}
	}
	return n
}

// notableChange reports whether a modification is about seat, officers, name or
// capital. One without text counts: it hides what changed.
func notableChange(text string) bool {
	t := supplier.Fold(text)
	return t == "" || slices.ContainsFunc(
		[]string{"siege", "administration", "dirigeant", "gerant", "president", "directeur", "denomination", "capital", "forme juridique"},
		func(w string) bool { return strings.Contains(t, w) },
	)
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
	for _, n := range counted(f.Changes.Items) {
		if n.Family == familyStrike && !strings.Contains(supplier.Fold(n.Text), "transfert du siege hors ressort") {
			add(ContradictionActiveStruckOff, n.Evidence, n.Published)
		}
	}
	return out
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
