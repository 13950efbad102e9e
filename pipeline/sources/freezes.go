// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// How long a list is used before its date is asked again, and how old a copy
// may be before screening against it counts as not done.
const (
	freezesFresh = 24 * time.Hour
	freezesStale = 7 * 24 * time.Hour
)

// freezeHolder keeps the list between screenings. The lock is held while it is
// fetched, so that it is fetched once.
type freezeHolder struct {
	mu      sync.Mutex
	list    *freezeList
	env     Envelope // of the download
	checked time.Time
}

// freezes returns the current list, or the envelope that says why there is
// none. It asks for the date of the last publication first and downloads only
// what it does not hold.
func (c *Client) freezeRegister(ctx context.Context) (Envelope, *freezeList) {
	h := &c.freezeHolder
	h.mu.Lock()
	defer h.mu.Unlock()
	now := c.now()
	if h.list != nil && now.Sub(h.checked) < freezesFresh {
		return h.env, h.list
	}
	announced, dateErr := c.freezeDate(ctx)
	if dateErr.Status == StatusOK && h.list != nil && sameSecond(h.list.published, announced) {
		h.checked = now
		return h.env, h.list
	}
	env, body := c.get(ctx, c.freezes, freezePath+"derniere-publication-fichier-json", nil, gone)
	if body == nil {
		return env, nil
	}
	list, err := parseFreezes(body)
	if err != nil {
		env.fail(StatusInvalid, FailMalformed, "the list is not whole")
		return env, nil
	}
	if why := stale(list.published, announced, dateErr.Status == StatusOK, now); why != "" {
		env.fail(StatusInvalid, FailStale, why)
		return env, nil
	}
	sum := sha256.Sum256(body)
	list.sha256 = hex.EncodeToString(sum[:])
	env.ListVersion, env.DataAsOf = &list.version, list.published.Format(time.DateOnly)
	h.list, h.env, h.checked = list, env, now
	return env, list
}

const freezePath = "/ApiPublic/api/v1/publication/"

func (c *Client) freezeDate(ctx context.Context) (time.Time, Envelope) {
	env, body := c.get(ctx, c.freezes, freezePath+"derniere-publication-date", nil, gone)
	if body == nil {
		return time.Time{}, env
	}
	at, err := parseFreezeDate(body)
	if err != nil {
		env.fail(StatusInvalid, FailMalformed, errMalformed.Error())
	}
	return at, env
}

func sameSecond(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) }

// stale says why a list must not be screened against: it lies in the future, is
// not the one announced, or nobody could say which is current and it is old. A
// list that is announced as current may be older than a week: nothing was
// published since.
func stale(published, announced time.Time, known bool, now time.Time) string {
	switch {
	case published.After(now.Add(24 * time.Hour)):
		return "the list is dated in the future"
	case known && announced.Sub(published) > 24*time.Hour:
		return "a later list was published than the one received"
	case !known && now.Sub(published) > freezesStale:
		return "the list is more than a week old and no date could be read"
	}
	return ""
}

// screenSubject matches the subject's names and numbers.
func (l *freezeList) screenSubject(s supplier.Subject) []ListMatch {
	found := map[int]ListMatch{}
	for _, number := range []string{s.SIREN, s.SIRET, s.VAT, s.LEI} {
		n := significant(number)
		if len(n) < minIdentifier {
			continue
		}
		for _, i := range l.byNumber[n] {
			keep(found, l.match(i, number, risk.SanctionsIdentifier, []string{"identifier"}, nil))
		}
	}
	for _, name := range append([]string{s.LegalName, s.Acronym}, s.TradeNames...) {
		for _, text := range spellings(name) {
			n := supplier.Normalize(text)
			if !matchable(n) {
				continue
			}
			for _, i := range l.byName[n.Key()] {
				keep(found, l.matchName(i, name, n, s))
			}
			for _, i := range l.bySurname[n.Key()] {
				keep(found, l.match(i, name, risk.SanctionsNameOnly, nil, []string{"nature"}))
			}
		}
	}
	return sorted(found)
}

// matchName weighs an equal name with what else is known.
func (l *freezeList) matchName(i int, searched string, n supplier.Name, s supplier.Subject) ListMatch {
	e := l.entries[i]
	var agrees, contradicts []string
	if e.nature != natureCompany {
		contradicts = append(contradicts, "nature")
	}
	if city := supplier.Fold(s.City); city != "" && strings.Contains(e.addresses, " "+city+" ") {
		agrees = append(agrees, "city")
	}
	if len(e.countries) > 0 && s.Country != "" {
		if slices.Contains(e.countries, countryName(s.Country)) {
			agrees = append(agrees, "country")
		} else {
			contradicts = append(contradicts, "country")
		}
	}
	class := risk.SanctionsNameOnly
	if len(agrees) > 0 && len(contradicts) == 0 && len(n.Tokens) >= 2 && !n.Weak {
		class = risk.SanctionsStrong
	}
	return l.match(i, searched, class, agrees, contradicts)
}

var frenchRegions = display.Regions(language.French)

// countryName is the French name of an ISO country code, folded, as the list
// writes countries.
func countryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return ""
	}
	return supplier.Fold(frenchRegions.Name(region))
}

func (l *freezeList) match(i int, searched string, class risk.Sanctions, agrees, contradicts []string) ListMatch {
	e := l.entries[i]
	return ListMatch{
		Class: string(class), Searched: cleanName(searched), Entry: e.display, Nature: e.nature,
		Agrees: agrees, Contradicts: contradicts, LegalBasis: e.basis, RegisterEntry: e.id,
	}
}

// screenOfficer matches one officer: persons by surname, a shared first name
// and, for the graver class, month and year of birth; companies as a subject.
func (l *freezeList) screenOfficer(o rechercheOfficer) []ListMatch {
	found := map[int]ListMatch{}
	if o.Name != "" || o.SIREN != "" {
		for _, m := range l.screenSubject(supplier.Subject{LegalName: o.Name, SIREN: o.SIREN, Country: "FR"}) {
			class := risk.OfficersNameOnly
			if m.Class == string(risk.SanctionsIdentifier) {
				class = risk.OfficersNameAndBirth // as certain as a person's birth month, and more
			}
			m.Class = string(class)
			keep(found, m)
		}
		return sorted(found)
	}
	first := strings.Fields(supplier.Fold(unidecode.Unidecode(o.FirstNames)))
	for _, text := range spellings(o.LastName) {
		n := supplier.Normalize(text)
		if !matchable(n) {
			continue
		}
		for _, i := range l.bySurname[n.Key()] {
			e := l.entries[i]
			if len(e.firstNames) > 0 && !slices.ContainsFunc(e.firstNames, func(f string) bool { return slices.Contains(first, f) }) {
				continue
			}
			class, agrees, contradicts := e.birthAgrees(o.BirthMonth)
			m := l.match(i, o.FirstNames+" "+o.LastName, "", agrees, contradicts)
			m.Class = string(class)
			keep(found, m)
		}
	}
	return sorted(found)
}

// birthAgrees compares a birth month "1981-11" with the dates of an entry.
func (e listed) birthAgrees(month string) (class risk.Officers, agrees, contradicts []string) {
	year, m, ok := strings.Cut(month, "-")
	if !ok || len(e.births) == 0 {
		return risk.OfficersNameOnly, nil, nil
	}
	yearAgrees := false
	for _, b := range e.births {
		if b.year != atoi(year) {
			continue
		}
		yearAgrees = true
		if b.month != 0 && b.month == atoi(m) {
			return risk.OfficersNameAndBirth, []string{"birth_month"}, nil
		}
		if b.month == 0 {
			return risk.OfficersNameOnly, []string{"birth_year"}, nil
		}
	}
	if yearAgrees {
		return risk.OfficersNameOnly, []string{"birth_year"}, []string{"birth_month"}
	}
	return risk.OfficersNameOnly, nil, []string{"birth_year"}
}

// gravest orders the classes of both vocabularies.
var gravest = []string{
	string(risk.SanctionsNone), string(risk.SanctionsNameOnly), string(risk.SanctionsStrong), string(risk.OfficersNameAndBirth), string(risk.SanctionsIdentifier),
}

// keep holds the gravest match per entry.
func keep(found map[int]ListMatch, m ListMatch) {
	if old, ok := found[m.RegisterEntry]; !ok || slices.Index(gravest, m.Class) > slices.Index(gravest, old.Class) {
		found[m.RegisterEntry] = m
	}
}

func sorted(found map[int]ListMatch) []ListMatch {
	out := []ListMatch{}
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b ListMatch) int { return cmp.Compare(a.RegisterEntry, b.RegisterEntry) })
	return out
}

// screening is the answer of one screening against the list.
func screening(env Envelope, prefix, search string, matches []ListMatch) Answer[ListMatch] {
	a := Answer[ListMatch]{Envelope: env, Items: matches}
	a.Evidence = []Evidence{}
	a.cite(prefix+"-000", env.Query.link(), search, env.DataAsOf)
	for i := range a.Items {
		m := &a.Items[i]
		m.Evidence = a.cite(fmt.Sprintf("%s-%03d", prefix, i+1),
			"https://gels-avoirs.dgtresor.gouv.fr/Gels/RegistreDetail?idRegistre="+strconv.Itoa(m.RegisterEntry),
			supplier.Clean("Asset freezes, entry "+strconv.Itoa(m.RegisterEntry)+": "+m.Entry, supplier.MaxTitleLength), env.DataAsOf)
	}
	if len(a.Items) == 0 {
		a.Status = StatusNotFound
	}
	return a
}

// best is the gravest class among matches, "none" without any.
func best(matches []ListMatch) string {
	class := string(risk.SanctionsNone)
	for _, m := range matches {
		if slices.Index(gravest, m.Class) > slices.Index(gravest, class) {
			class = m.Class
		}
	}
	return class
}
