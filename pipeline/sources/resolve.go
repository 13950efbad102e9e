// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// maxSearchPages bounds how far a name search is read; a search with more
// results than that is not fully read and resolves nothing.
const maxSearchPages = 4

// Resolve finds the one legal unit that query means. It asks the registry only,
// never guesses, and settles no ambiguity: a name resolves when exactly one
// active unit bears it as its legal name, nobody else bears it as a trade name
// or acronym, and every result was read. A sole trader, whose legal name is that of
// a person, is found by number only. Anything less is a list of candidates.
func (c *Client) Resolve(ctx context.Context, query string) supplier.Resolution {
	q, err := supplier.ParseQuery(query)
	var refused *supplier.RefusedError
	if errors.As(err, &refused) {
		return supplier.Refusal(refused)
	}
	return c.ResolveQuery(ctx, q)
}

// ResolveQuery is [Client.Resolve] for a query that is already parsed. Where it holds
// several numbers, or a name beside a number, it resolves only if all of them mean the
// same company.
func (c *Client) ResolveQuery(ctx context.Context, q supplier.Query) supplier.Resolution {
	r := c.resolveOne(ctx, q)
	for _, id := range q.Also {
		if r.Status != supplier.StatusResolved {
			break
		}
		r = c.confirm(ctx, r, id)
	}
	r.Query = q
	return r
}

func (c *Client) resolveOne(ctx context.Context, q supplier.Query) supplier.Resolution {
	switch {
	case q.ID.SIREN != "":
		return c.resolveIdentifier(ctx, q)
	case q.ID.Kind == supplier.KindLEI:
		return c.resolveLEI(ctx, q)
	case q.ID.Kind == supplier.KindVAT:
		return c.resolveVAT(ctx, q)
	case q.ID.Kind == supplier.KindRNA:
		return c.resolveRNA(ctx, q)
	}
	return c.resolveName(ctx, q)
}

// confirm returns r if the company that id belongs to is r's, too, and otherwise why that
// can't be said. A valid VAT number of a country that discloses no name contradicts
// nothing.
func (c *Client) confirm(ctx context.Context, r supplier.Resolution, id supplier.Identifier) supplier.Resolution {
	other := c.resolveOne(ctx, supplier.Query{ID: id})
	switch {
	case other.Reason == supplier.ReasonNameNotDisclosed:
	case other.Status != supplier.StatusResolved:
		return other
	case !sameCompany(r.Subject, other.Subject):
		return supplier.Resolution{
			Status: supplier.StatusRefused, Reason: supplier.ReasonNumbersDisagree,
			Detail:     r.Query.ID.Value + " and " + id.Value + " belong to two companies",
			Candidates: []supplier.Candidate{ofSubject(r.Subject), ofSubject(other.Subject)},
		}
	}
	r.Subject.LEI = cmp.Or(r.Subject.LEI, other.Subject.LEI)
	r.Subject.VAT = cmp.Or(r.Subject.VAT, other.Subject.VAT)
	return r
}

func sameCompany(a, b supplier.Subject) bool {
	if a.SIREN != "" && b.SIREN != "" {
		return a.SIREN == b.SIREN
	}
	x, y := supplier.Normalize(a.LegalName), supplier.Normalize(b.LegalName)
	return supplier.CompareNames(x, y) != supplier.MatchNone || supplier.CompareNames(y, x) != supplier.MatchNone
}

func ofSubject(s supplier.Subject) supplier.Candidate {
	return supplier.Candidate{LegalName: s.LegalName, SIREN: s.SIREN, LEI: s.LEI, Country: s.Country, City: s.City}
}

// mismatch refuses a number that belongs to another name than the one beside it, and
// names its owner.
func mismatch(q supplier.Query, owner supplier.Candidate) supplier.Resolution {
	return supplier.Resolution{
		Status: supplier.StatusRefused, Query: q, Reason: supplier.ReasonNameMismatch,
		Detail:     q.ID.Value + " belongs to another name than the one given beside it",
		Candidates: []supplier.Candidate{owner},
	}
}

// unreadable turns a failed look-up into a resolution that claims nothing.
func unreadable(q supplier.Query, env Envelope) supplier.Resolution {
	r := supplier.Resolution{Status: supplier.StatusUnavailable, Query: q, Reason: supplier.ReasonSourceUnavailable}
	switch env.Status {
	case StatusRateLimited:
		r.Reason = supplier.ReasonRateLimited
	case StatusInvalid:
		r.Reason = supplier.ReasonInvalidAnswer
	}
	if env.Error != nil {
		r.Detail = env.Source + ": " + env.Error.Text
	}
	return r
}

func (c *Client) resolveIdentifier(ctx context.Context, q supplier.Query) supplier.Resolution {
	number := q.ID.SIREN
	if q.ID.Kind == supplier.KindSIRET {
		number = q.ID.Value // a direct look-up by SIRET also returns the establishment
	}
	env, unit := c.unitBySIREN(ctx, number)
	switch {
	case env.Status == StatusNotFound:
		return supplier.Resolution{Status: supplier.StatusNotFound, Query: q, Reason: supplier.ReasonUnknownIdentifier}
	case env.Status != StatusOK:
		return unreadable(q, env)
	}
	subject := unit.subject()
	subject.Notes = slices.Clone(q.Notes)
	if q.ID.Kind == supplier.KindSIRET {
		subject.SIRET = q.ID.Value
		subject.Notes = append(subject.Notes, supplier.NoteEstablishment)
		if note := unit.establishmentNote(q.ID.Value); note != "" {
			subject.Notes = append(subject.Notes, note)
		}
	}
	if q.Name != "" && !bears(unit, q.Name) {
		return mismatch(q, candidate(unit, matched{}))
	}
	return supplier.Resolution{Status: supplier.StatusResolved, Query: q, Subject: subject, Total: 1}
}

// establishmentNote says what a person who gave this SIRET should know.
func (u rechercheUnit) establishmentNote(siret string) supplier.Note {
	for _, site := range append([]rechercheSite{u.HeadOffice}, u.Matching...) {
		if site.SIRET != siret {
			continue
		}
		if site.State == "F" {
			return supplier.NoteEstablishmentShut
		}
		return ""
	}
	return supplier.NoteEstablishmentMiss
}

// bears reports whether name is, or is contained in, one of the unit's names:
// enough to confirm a SIREN, not enough to find one.
func bears(u rechercheUnit, name string) bool {
	m := bestMatch(u, supplier.Normalize(name))
	return m.match != supplier.MatchNone
}

type matched struct {
	on    supplier.MatchedOn
	match supplier.Match
	name  string // trade name or acronym
}

var matchOrder = []supplier.Match{
	supplier.MatchExact, supplier.MatchVariant, supplier.MatchTypo, supplier.MatchPartial, supplier.MatchNone,
}

// bestMatch compares query with every name of u and keeps the best, the legal
// name before the others.
func bestMatch(u rechercheUnit, query supplier.Name) matched {
	best := matched{on: supplier.MatchedAddress, match: supplier.MatchNone}
	try := func(on supplier.MatchedOn, text string) {
		m := supplier.CompareNames(query, supplier.Normalize(text))
		if slices.Index(matchOrder, m) < slices.Index(matchOrder, best.match) {
			best = matched{on: on, match: m}
			if on != supplier.MatchedLegalName {
				best.name = cleanName(text)
			}
		}
	}
	try(supplier.MatchedLegalName, u.legalName())
	for _, t := range u.tradeNames() {
		try(supplier.MatchedTradeName, t)
	}
	if u.Acronym != "" {
		try(supplier.MatchedAcronym, u.Acronym)
	}
	return best
}

func candidate(u rechercheUnit, m matched) supplier.Candidate {
	return supplier.Candidate{
		LegalName: u.legalName(), SIREN: u.SIREN, Country: "FR", City: cleanName(u.HeadOffice.City),
		Activity: cleanName(u.Activity), Ceased: u.State == "C", Created: isoDay(u.Created),
		MatchedOn: m.on, Match: m.match, Name: m.name,
	}
}

func (c *Client) resolveName(ctx context.Context, q supplier.Query) supplier.Resolution {
	env, units, total := c.searchAll(ctx, q.Name, nil)
	query := supplier.Normalize(q.Name)
	if env.Status == StatusOK && len(units) == 0 && query.Form != "" {
		env, units, total = c.searchWithoutForm(ctx, query)
	}
	if env.Status != StatusOK {
		return unreadable(q, env)
	}
	var r supplier.Resolution
	if len(units) > 0 {
		if r = settle(q, query, units, total); anyExact(r) {
			return r
		}
	}
	if inPlace, ok := c.resolveInPlace(ctx, q); ok {
		return inPlace
	}
	if len(units) == 0 {
		return c.abroad(ctx, q, query)
	}
	return r
}

// searchWithoutForm searches the name alone, the registered one rarely holding the
// legal form: first among the companies of that form, then, where there is none,
// among all, for whoever has the form wrong.
func (c *Client) searchWithoutForm(ctx context.Context, n supplier.Name) (Envelope, []rechercheUnit, int) {
	bare := strings.Join(n.Tokens, " ")
	if len([]rune(bare)) < supplier.MinQueryLength {
		return Envelope{Status: StatusOK}, nil, 0
	}
	if codes := supplier.NatureJuridique(n.Form); len(codes) > 0 {
		env, units, total := c.searchAll(ctx, bare, url.Values{"nature_juridique": {strings.Join(codes, ",")}})
		if env.Status != StatusOK || len(units) > 0 {
			return env, units, total
		}
	}
	return c.searchAll(ctx, bare, nil)
}

// searchAll reads the pages of a name search, as far as maxSearchPages; filter
// narrows it down.
func (c *Client) searchAll(ctx context.Context, q string, filter url.Values) (Envelope, []rechercheUnit, int) {
	var units []rechercheUnit
	for page := 1; ; page++ {
		env, a := c.searchRegistry(ctx, q, page, filter)
		if env.Status != StatusOK {
			return env, nil, 0
		}
		units = append(units, *a.Results...)
		if page >= maxSearchPages || page >= a.TotalPages || len(*a.Results) == 0 {
			return env, units, *a.TotalResults
		}
	}
}

// settle applies the rule of [Client.Resolve] to what the search returned.
func settle(q supplier.Query, query supplier.Name, units []rechercheUnit, total int) supplier.Resolution {
	type found struct {
		unit rechercheUnit
		matched
	}
	list := make([]found, len(units))
	for i, u := range units {
		list[i] = found{u, bestMatch(u, query)}
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return rank(a.matched, a.unit) - rank(b.matched, b.unit)
	})
	var active, ceased []found
	for _, f := range list {
		if f.match == supplier.MatchExact {
			if f.unit.State == "A" {
				active = append(active, f)
			} else {
				ceased = append(ceased, f)
			}
		}
	}
	r := supplier.Resolution{Status: supplier.StatusCandidates, Query: q, Total: total}
	for _, f := range list[:min(len(list), supplier.MaxCandidates)] {
		r.Candidates = append(r.Candidates, candidate(f.unit, f.matched))
	}
	switch {
	case query.Weak:
		r.Reason = supplier.ReasonWeakName
	case total > len(units):
		r.Reason = supplier.ReasonNotFullyRead
	case len(active) > 1:
		r.Reason = supplier.ReasonSeveralMatch
	case len(active) == 0 && len(ceased) > 0:
		r.Reason = supplier.ReasonOnlyCeased
	case len(active) == 0 || active[0].on != supplier.MatchedLegalName:
		r.Reason = supplier.ReasonNoExactMatch
	case active[0].unit.soleTrader():
		r.Reason = supplier.ReasonPersonsName
	default:
		subject := active[0].unit.subject()
		subject.Notes = append(slices.Clone(q.Notes), supplier.NoteResolvedByName)
		if registered := supplier.FormOfNatureJuridique(active[0].unit.LegalForm); query.Form != "" && registered != "" && registered != query.Form {
			subject.Notes = append(subject.Notes, supplier.NoteFormDiffers)
		}
		if len(ceased) > 0 {
			subject.Notes = append(subject.Notes, supplier.NoteCeasedHomonym)
		}
		return supplier.Resolution{Status: supplier.StatusResolved, Query: q, Subject: subject, Total: total}
	}
	return r
}

// rank orders candidates: by match, the legal name before others, active before
// ceased. The size of a company plays no part.
func rank(m matched, u rechercheUnit) int {
	n := slices.Index(matchOrder, m.match) * 4
	if m.on != supplier.MatchedLegalName {
		n += 2
	}
	if u.State == "C" {
		n++
	}
	return n
}
