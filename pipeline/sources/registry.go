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
		const why = "the subject has no SIREN, and no connected source covers its country"
		f.Company = notAsked[Company](c.recherche, StatusNotAsked, FailNoSource, why)
		f.Procedures = notAsked[Notice](c.bodacc, StatusNotAsked, FailNoSource, why)
		f.Changes = notAsked[Notice](c.bodacc, StatusNotAsked, FailNoSource, why)
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
	env, raw := c.notices(ctx, siren, familyModification, familyStrike, familySale, familyCreation, familyRegistration, familyOther)
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

// familyNames say what a notice without a title of its own is, in the gazette's
// language like the titles.
var familyNames = map[string]string{
	familyDeposit: "dépôt des comptes", familyModification: "modification", familyStrike: "radiation", familySale: "vente ou cession",
	familyCreation: "création d'établissement", familyRegistration: "immatriculation", familyOther: "avis divers",
}

func noticeLabel(n Notice) string {
	what := n.Nature
	if what == "" {
		what = familyNames[n.Family]
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
