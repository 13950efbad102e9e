// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"slices"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// A Statement is one sentence made by code from facts, with the evidence it rests
// on. A sentence that says what was not checked rests on none.
type Statement struct {
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// A Section is one part of a report: its statements, and what could not be checked.
type Section struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Statements []Statement `json:"statements"`
	Gaps       []string    `json:"gaps"`
}

// Summary joins the statements.
func (s Section) Summary() string {
	parts := make([]string, 0, len(s.Statements))
	for _, st := range s.Statements {
		parts = append(parts, st.Text)
	}
	return strings.Join(parts, " ")
}

// Evidence returns the ids that the statements rest on, each once, in order.
func (s Section) Evidence() []string {
	var ids []string
	for _, st := range s.Statements {
		for _, id := range st.Evidence {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Sections returns the sections of a report on facts, always the same ones in the
// same order. A part that was not looked up says so.
func Sections(f sources.Facts, lang text.Lang) []Section {
	return []Section{identitySection(f, lang), proceduresSection(f, lang), financeSection(f, lang), reputationSection(f, lang)}
}

type sectionWriter struct {
	lang text.Lang
	s    Section
}

func newSection(id string, title text.Key, lang text.Lang) *sectionWriter {
	return &sectionWriter{lang: lang, s: Section{ID: id, Title: text.Get(lang, title), Statements: []Statement{}, Gaps: []string{}}}
}

func (w *sectionWriter) say(evidence []string, key text.Key, args ...any) {
	ids := []string{}
	for _, id := range evidence {
		if id != "" {
			ids = append(ids, id)
		}
	}
	w.s.Statements = append(w.s.Statements, Statement{text.Get(w.lang, key, plain(args)...), ids})
}

// plain are arguments of a sentence that no reader of a draft takes for its marks: a name
// may look like a citation, and like a title where it begins a line.
func plain(args []any) []any {
	out := slices.Clone(args)
	for i, a := range out {
		if s, ok := a.(string); ok {
			out[i] = strings.TrimLeft(citation.ReplaceAllString(s, "($1)"), "# ")
		}
	}
	return out
}

// unread says why a source gave nothing, in the words that are never mixed up:
// nothing found, not available, not applicable, not asked. It reports whether the
// source holds something.
func (w *sectionWriter) unread(e sources.Envelope, what text.Key) bool {
	source, topic, day := sourceName(w.lang, e.Source), text.Get(w.lang, what), text.Date(w.lang, e.RetrievedAt.Format("2006-01-02"))
	var ids []string
	if len(e.Evidence) > 0 {
		ids = []string{e.Evidence[0].ID}
	}
	switch e.Status {
	case sources.StatusOK:
		return true
	case sources.StatusNotFound:
		w.say(ids, text.NothingFound, topic, source, day)
	case sources.StatusNotApplicable:
		w.say(nil, text.NotApplicable, topic)
	case sources.StatusNotAsked, "":
		w.gap(text.NotAsked, topic)
	case sources.StatusInvalid:
		w.gap(text.InvalidAnswer, source, topic, day)
	default:
		w.gap(text.Unavailable, source, topic, day)
	}
	return false
}

func (w *sectionWriter) gap(key text.Key, args ...any) {
	sentence := text.Get(w.lang, key, args...)
	w.s.Gaps = append(w.s.Gaps, sentence)
	w.s.Statements = append(w.s.Statements, Statement{sentence, []string{}})
}

func sourceName(lang text.Lang, source string) string {
	return text.Get(lang, text.Key("source."+source))
}

func registrySection(f sources.Facts, lang text.Lang) Section {
	a, b := identitySection(f, lang), proceduresSection(f, lang)
	a.Statements = append(a.Statements, b.Statements...)
	a.Gaps = append(a.Gaps, b.Gaps...)
	return a
}

func identitySection(f sources.Facts, lang text.Lang) Section {
	w := newSection("identity", text.TitleIdentity, lang)
	if f.Registry == nil {
		w.gap(text.NotAsked, text.Get(lang, text.TopicIdentity))
		return w.s
	}
	if !w.unread(f.Registry.Company.Envelope, text.TopicIdentity) || len(f.Registry.Company.Items) == 0 {
		return w.s
	}
	c := f.Registry.Company.Items[0]
	ev := []string{c.Evidence}
	state := text.StateCeased
	if c.Active {
		state = text.StateActive
	}
	w.say(ev, text.SayIdentity, c.LegalName, c.SIREN, text.Get(lang, state))
	if c.Created != "" {
		w.say(ev, text.SayCreated, text.Date(lang, c.Created))
	}
	if c.Closed != "" {
		w.say(ev, text.SayClosed, text.Date(lang, c.Closed))
	}
	if c.Address != "" {
		w.say(ev, text.SayAddress, c.Address)
	}
	if c.Activity != "" {
		w.say(ev, text.SayActivity, c.Activity)
	}
	if c.Headcount != "" && c.Headcount != "none_or_unknown" {
		w.say(ev, text.SayHeadcount, c.Headcount, c.HeadcountYear)
	}
	if len(c.TradeNames) > 0 {
		w.say(ev, text.SayTradeNames, strings.Join(c.TradeNames, ", "))
	}
	if len(c.VAT) > 0 {
		w.say(ev, text.SayVAT, strings.Join(c.VAT, ", "))
	}
	names := make([]string, 0, len(c.Officers))
	for _, o := range c.Officers {
		n := o.Name
		if o.Role != "" {
			n += " (" + o.Role + ")"
		}
		names = append(names, n)
	}
	if len(names) > 0 {
		w.say(ev, text.SayOfficers, strings.Join(names, ", "))
	} else {
		w.say(ev, text.SayNoOfficers)
	}
	if c.Active && c.OpenEstablishments != nil && *c.OpenEstablishments == 0 {
		w.say(ev, text.SayDormant)
	}
	if c.Masked {
		w.say(ev, text.SayMasked)
	}
	return w.s
}

func proceduresSection(f sources.Facts, lang text.Lang) Section {
	w := newSection("procedures", text.TitleProcedures, lang)
	if f.Registry == nil {
		w.gap(text.NotAsked, text.Get(lang, text.TopicProcedures))
		return w.s
	}
	r := f.Registry
	if w.unread(r.Procedures.Envelope, text.TopicProcedures) {
		since := text.Date(lang, r.Insolvency.Since)
		if since == "" {
			since = text.Get(lang, text.UnknownDate)
		}
		w.say(r.Insolvency.Evidence, text.SayInsolvency, text.Get(lang, text.Key("insolvency."+string(r.Insolvency.State))), since)
		if r.Insolvency.Unclear {
			w.say(r.Insolvency.Evidence, text.SayUnclearNotice)
		}
	}
	if w.unread(r.Changes.Envelope, text.TopicChanges) && r.RecentChanges != nil {
		var ids []string
		for _, e := range r.Changes.Evidence {
			ids = append(ids, e.ID)
		}
		w.say(ids, text.SayChanges, len(r.Changes.Items), *r.RecentChanges)
	}
	for _, c := range r.Contradictions {
		w.say(c.Evidence, text.Key("contradiction."+c.Code))
	}
	return w.s
}

func financeSection(f sources.Facts, lang text.Lang) Section {
	w := newSection("finances", text.TitleFinances, lang)
	if f.Finances == nil {
		w.gap(text.NotAsked, text.Get(lang, text.TopicFinances))
		return w.s
	}
	if w.unread(f.Finances.Accounts.Envelope, text.TopicAccounts) {
		for _, a := range lastAccounts(f.Finances.Accounts.Items, 3) {
			w.account(a)
		}
	}
	if w.unread(f.Finances.Figures.Envelope, text.TopicFigures) {
		for _, fig := range f.Finances.Figures.Items {
			w.say([]string{fig.Evidence}, text.SayFigures, fig.Year, text.Money(lang, fig.Turnover), text.Money(lang, fig.NetResult))
		}
	}
	if w.unread(f.Finances.Deposits.Envelope, text.TopicDeposits) {
		last := ""
		var id string
		for _, n := range f.Finances.Deposits.Items {
			if n.Published > last {
				last, id = n.Published, n.Evidence
			}
		}
		w.say([]string{id}, text.SayDeposits, len(f.Finances.Deposits.Items), text.Date(lang, last))
	}
	return w.s
}

// lastAccounts returns the n latest accounts, latest first.
func lastAccounts(items []sources.Account, n int) []sources.Account {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b sources.Account) int { return strings.Compare(b.YearEnd, a.YearEnd) })
	return sorted[:min(n, len(sorted))]
}

func (w *sectionWriter) account(a sources.Account) {
	w.say([]string{a.Evidence}, text.SayAccounts, text.Date(w.lang, a.YearEnd), text.Money(w.lang, a.Turnover), text.Money(w.lang, a.NetResult),
		text.Figure(w.lang, a.EquityRatio, " %"), text.Figure(w.lang, a.LiquidityRatio, " %"), text.Figure(w.lang, a.SupplierDays, text.Get(w.lang, text.UnitDays)))
}

func reputationSection(f sources.Facts, lang text.Lang) Section {
	w := newSection("reputation", text.TitleReputation, lang)
	if f.Reputation == nil {
		w.gap(text.NotAsked, text.Get(lang, text.TopicReputation))
		return w.s
	}
	r := f.Reputation
	for _, l := range []struct {
		answer sources.Answer[sources.ListMatch]
		topic  text.Key
	}{{r.Sanctions, text.TopicSanctions}, {r.Officers, text.TopicSanctionsOfficers}} {
		if !w.unread(l.answer.Envelope, l.topic) {
			continue
		}
		for _, m := range l.answer.Items {
			w.say([]string{m.Evidence}, text.SayListMatch, m.Searched, m.Entry, text.Get(lang, text.Key("match."+m.Class)))
		}
		if len(l.answer.Items) == 0 {
			w.say(firstID(l.answer.Envelope), text.NothingFound, text.Get(lang, l.topic), sourceName(lang, l.answer.Source), text.Date(lang, l.answer.DataAsOf))
		}
	}
	if w.unread(r.News.Envelope, text.TopicNews) {
		for _, s := range r.News.Items {
			if s.Gravity > 0 || s.ToRead != "" {
				w.say([]string{s.Evidence}, text.SayStory, s.Title, text.Date(lang, s.Seen), strings.Join(s.Domains, ", "))
			}
		}
		w.say(firstID(r.News.Envelope), text.SayStories, len(r.News.Items))
	}
	return w.s
}

func firstID(e sources.Envelope) []string {
	if len(e.Evidence) == 0 {
		return nil
	}
	return []string{e.Evidence[0].ID}
}
