// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

func (c *composer) sanctions() {
	c.heading(2, "sanctions")
	c.checked("sanctions")
	f := c.r.Facts.Reputation
	if f != nil {
		c.matches(f.Sanctions.Items)
	}
	c.checked("officers")
	if f != nil {
		c.matches(f.Officers.Items)
		if f.List != nil {
			c.sentence("list", "entries", strconv.Itoa(f.List.Entries), "ignored", strconv.Itoa(f.List.Ignored))
		}
	}
	c.sentence("debarment")
}

func (c *composer) matches(items []sources.ListMatch) {
	facts := func(list []string) string {
		return join(list, func(s string) string { return c.say("fact." + s) })
	}
	var rows [][]cell
	for _, m := range items {
		rows = append(rows, []cell{
			plain(m.Searched), plain(m.Entry + " (" + m.Nature + ")"), plain(c.say("class." + m.Class)), plain(facts(m.Agrees)), plain(facts(m.Contradicts)),
			plain(m.LegalBasis), c.refs(m.Evidence), plain(""),
		})
	}
	c.tabular(c.columns("searched", "entry", "class", "agrees", "contradicts", "legal_basis", "evidence_column", "person_decides"), rows)
}

func (c *composer) news() {
	c.heading(2, "news")
	c.checked("news")
	f := c.r.Facts.Reputation
	if f == nil {
		return
	}
	var rows [][]cell
	for _, s := range f.News.Items {
		weight := strconv.Itoa(s.Gravity)
		if s.ToRead != "" {
			weight += " — " + c.say("to_read."+s.ToRead)
		}
		title := cleaned(s.Title)
		if s.URL != "" {
			title += " — " + s.URL // as Text: its host is a stranger's
		}
		rows = append(rows, []cell{plain(title), plain(c.date(s.Seen)), plain(strings.Join(s.Domains, ", ")), plain(weight), c.refs(s.Evidence)})
	}
	c.tabular(c.columns("story", "seen", "domains", "gravity", "evidence_column"), rows)
	if len(rows) > 0 {
		c.sentence("gravity.scale")
	}
	c.sentence("news.limits")
}

func (c *composer) contradictions() {
	c.heading(2, "contradictions")
	var items [][]inline
	for _, x := range c.r.Contradictions {
		item := plain(c.say("contradiction." + x.Code))
		for i, id := range x.Evidence {
			item = append(item, inline{Text: " "})
			item = append(item, c.refs(id)...)
			if i < len(x.Dates) && x.Dates[i] != "" {
				item = append(item, inline{Text: " (" + c.date(x.Dates[i]) + ")"})
			}
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		c.sentence("contradictions.none")
	}
	c.list(items)
}

// ruleText says which rule gave a factor its points, or why it has none.
func (c *composer) ruleText(f risk.Factor) string {
	if f.Points == nil {
		return c.say("missing", "why", c.say("reason."+string(f.Missing)))
	}
	value := c.decimal(f.Value)
	if f.Value == f.Rule {
		return c.say("choice." + f.Rule)
	}
	if f.Unit != "" && f.ID != risk.I4Media {
		value += "\u00a0" + c.say("unit."+f.Unit)
	}
	for _, kind := range []string{"below", "up to", "from", "over"} {
		if n, ok := strings.CutPrefix(f.Rule, kind+" "); ok {
			return value + " (" + c.say("band."+kind, "n", n) + ")"
		}
	}
	if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil && f.ID == risk.F4Result {
		value = c.money(n)
	}
	return c.say("choice."+f.Rule) + " (" + value + ")"
}

// factors is the table from which anyone can add the score up again.
func (c *composer) factors() {
	c.heading(2, "factors")
	t := &table{Columns: c.columns("family", "factor", "rule", "weight", "points", "product", "evidence_column")}
	known, sum := 0, 0
	for _, fam := range c.r.Risk.Families {
		for _, f := range fam.Factors {
			weight := fam.Weight * f.Weight
			row := []cell{plain(c.say("family." + fam.ID)), plain(c.say("factor." + f.ID)), plain(c.ruleText(f)), plain(strconv.Itoa(weight)), plain("—"), plain("—"), c.refs(f.Evidence...)}
			if f.Points != nil {
				row[4], row[5] = plain(strconv.Itoa(*f.Points)), plain(strconv.Itoa(weight**f.Points))
				known += weight
				sum += weight * *f.Points
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Foot = []cell{strong(c.say("total")), plain(""), plain(""), plain(strconv.Itoa(known)), plain(""), plain(strconv.Itoa(sum)), nil}
	c.blocks = append(c.blocks, block{Kind: kindTable, Table: t})
	if c.r.Risk.Base == nil {
		c.sentence("base.none")
		return
	}
	c.sentence("base", "sum", strconv.Itoa(sum), "known", strconv.Itoa(known), "base", c.tenths(c.r.Risk.Base), "coverage", c.tenths(&c.r.Risk.Coverage))
}

func (c *composer) changes() {
	if c.r.Changes == nil {
		return
	}
	before := c.r.AsOf
	var rows [][]cell
	for _, x := range c.r.Changes {
		if x.ID == "as_of" {
			before = x.Before
			continue
		}
		rows = append(rows, []cell{plain(c.say("watch." + x.ID)), plain(c.orNothing(x.Before)), plain(c.orNothing(x.After))})
	}
	c.heading(2, "changes", "date", c.date(before))
	if len(rows) == 0 {
		c.sentence("changes.none")
	}
	c.tabular(c.columns("field", "before", "after"), rows)
}

func (c *composer) orNothing(s string) string {
	if s == "" {
		return c.say("nothing")
	}
	return c.date(s)
}

func (c *composer) documents() {
	c.heading(2, "documents")
	var rows [][]cell
	for _, d := range c.r.Documents {
		age, renew := "", ""
		if d.MaxMonths > 0 {
			age = c.say("months", "n", strconv.Itoa(d.MaxMonths))
		}
		if d.RenewBy != "" {
			renew = c.date(d.RenewBy)
		}
		when := c.say("when." + d.When)
		if d.Triggered {
			when = c.say("when.yes", "when", when)
		}
		rows = append(rows, []cell{plain(c.say("doc." + d.ID)), plain(d.Basis), plain(age), plain(renew), plain(when), plain("")})
	}
	c.tabular(c.columns("document", "basis", "max_age", "renew_by", "applies", "received"), rows)
}

// maxParagraph cuts a paragraph of prose.
const maxParagraph = 4000

func (c *composer) narrative() {
	n := c.r.Narrative
	if n == nil {
		return
	}
	c.heading(2, "narrative")
	switch {
	case n.Template:
		c.sentence("narrative.template")
	case n.Drafted:
		c.sentence("narrative.drafted")
	}
	for _, s := range n.Sections {
		c.blocks = append(c.blocks, block{Kind: kindHeading, Level: 3, Text: plain(cleaned(s.Title))})
		for _, p := range s.Paragraphs {
			c.para(append(plain(supplier.Clean(p.Text, maxParagraph)), c.spaced(p.Evidence)...)...)
		}
	}
}

func (c *composer) gaps() {
	if len(c.r.Gaps) == 0 {
		return
	}
	c.heading(2, "gaps")
	var items [][]inline
	for _, g := range c.r.Gaps {
		items = append(items, plain(cleaned(g)))
	}
	c.list(items)
}

func (c *composer) signOff() {
	c.heading(2, "signoff")
	c.sentence("signoff.text")
	c.tabular(c.columns("signoff.decision", "signoff.by", "signoff.date", "signoff.next"), [][]cell{{plain(""), plain(""), plain(""), plain(c.date(c.r.SignOff.NextReview))}})
}

func (c *composer) limits() {
	c.heading(2, "limits")
	var items [][]inline
	for _, k := range []string{"limits.1", "limits.2", "limits.3", "limits.4"} {
		items = append(items, plain(c.say(k)))
	}
	c.list(items)
}

// label says what a piece of evidence is in the report's language. The JSON has it in
// English; the names and titles in it stay as they are.
func (c *composer) label(e EvidenceLine) string {
	family, number, _ := strings.Cut(strings.TrimPrefix(e.ID, "E-"), "-")
	head, rest, _ := strings.Cut(e.Label, ": ")
	key := "label." + family
	if number == "000" {
		key += ".search"
	}
	if _, ok := catalogue[c.language()][key]; !ok {
		return cleaned(e.Label)
	}
	number = head[strings.LastIndexByte(head, ' ')+1:] // of a notice or of a list entry
	return cleaned(c.say(
		key, "what", rest, "number", number, "name", c.r.Subject.LegalName, "siren", c.siren(c.r.Subject.SIREN), "date", c.date(e.Date),
		"year", e.Date[:min(4, len(e.Date))], "vat", rest[strings.LastIndexByte(rest, ' ')+1:],
	))
}

// evidence lists every piece with what it takes to find it again.
func (c *composer) evidence() {
	c.heading(2, "evidence")
	c.sentence("evidence.ids")
	var rows [][]cell
	for _, e := range c.r.Evidence {
		what := cell{{Text: c.label(e), Link: linkable(e.URL)}}
		version := ""
		if e.ListVersion != nil {
			version = " — " + c.say("list_version", "version", *e.ListVersion)
		}
		retrieved := ""
		if !e.RetrievedAt.IsZero() {
			retrieved = e.RetrievedAt.Format("2006-01-02 15:04:05Z")
		}
		query := cleaned(e.Query.URL)
		if len(e.Query.Params) > 0 {
			query += "?" + e.Query.Params.Encode()
		}
		rows = append(rows, []cell{
			{{Text: e.ID, Strong: true, Anchor: e.ID}}, what, plain(c.date(e.Date)), plain(retrieved), plain(query), plain(e.Licence + version), plain(e.SHA256),
		})
	}
	c.tabular(c.columns("evidence.id", "evidence.what", "evidence.date", "evidence.retrieved", "evidence.query", "evidence.licence", "evidence.hash"), rows)
}
