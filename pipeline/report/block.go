// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// A written report is a list of blocks; Markdown and HTML write the same ones.
type block struct {
	Kind   blockKind
	Text   []inline   // heading, paragraph, banner
	Level  int        // heading: 1 to 3
	Anchor string     // heading
	Items  [][]inline // list
	Table  *table
	Chart  *chart
	Answer *Answer
}

type blockKind string

const (
	kindHeading   blockKind = "heading"
	kindParagraph blockKind = "paragraph"
	kindBanner    blockKind = "banner"
	kindList      blockKind = "list"
	kindTable     blockKind = "table"
	kindChart     blockKind = "chart"
	kindAnswer    blockKind = "answer"
)

// inline is a piece of text, a link, or a citation of evidence.
type inline struct {
	Text   string
	Link   string // an address that may be clicked
	Ref    string // an evidence id
	Anchor string // the evidence id that this text is the place of
	Strong bool
}

type cell []inline

type table struct {
	Columns []string
	Rows    [][]cell
	Foot    []cell // a last row of totals; nil for none
}

// chart is the score on its scale and the points of each factor.
type chart struct {
	Title, Caption string
	Low, High      int // interval, tenths
	Score          int // tenths; -1 for none
	Bands          []chartBand
	Factors        []chartFactor
}

type chartBand struct {
	From, To int // tenths
	Class    string
	Label    string
}

type chartFactor struct {
	Label  string
	Points int // -1 for missing
}

func plain(s string) cell  { return cell{{Text: s}} }
func strong(s string) cell { return cell{{Text: s, Strong: true}} }

// linkHosts are the hosts whose pages a report may link To: those of the
// sources, official addresses only.
var linkHosts = []string{
	"annuaire-entreprises.data.gouv.fr", "recherche-entreprises.api.gouv.fr", "bodacc-datadila.opendatasoft.com", "www.bodacc.fr",
	"data.economie.gouv.fr", "gels-avoirs.dgtresor.gouv.fr", "api.gdeltproject.org", "api.gleif.org", "search.gleif.org", "ec.europa.eu",
}

// linkable returns s when it may be clicked, "" when it is only text.
func linkable(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" || !slices.Contains(linkHosts, u.Hostname()) {
		return ""
	}
	return u.String()
}

// composer writes the blocks of one report in one language.
type composer struct {
	texts
	r      Report
	known  map[string]bool // evidence ids
	blocks []block
}

// compose returns the blocks of the report in the order a reader expects them.
func compose(r Report, lang Lang) []block {
	c := &composer{texts: texts{lang}, r: r, known: map[string]bool{}}
	for _, e := range r.Evidence {
		c.known[e.ID] = true
	}
	c.head()
	c.summary()
	c.checks()
	c.identity()
	c.status()
	c.finances()
	c.ownership()
	c.sanctions()
	c.news()
	c.contradictions()
	c.factors()
	c.changes()
	c.documents()
	c.narrative()
	c.gaps()
	c.signOff()
	c.limits()
	c.evidence()
	return c.blocks
}

func (c *composer) heading(level int, key string, pairs ...string) {
	anchor := ""
	if level > 1 {
		anchor = strings.ReplaceAll(key, ".", "-")
	}
	c.blocks = append(c.blocks, block{Kind: kindHeading, Level: level, Anchor: anchor, Text: plain(c.say(key, pairs...))})
}

func (c *composer) para(text ...inline) {
	c.blocks = append(c.blocks, block{Kind: kindParagraph, Text: text})
}

func (c *composer) sentence(key string, pairs ...string) { c.para(inline{Text: c.say(key, pairs...)}) }

func (c *composer) banner(text string) {
	c.blocks = append(c.blocks, block{Kind: kindBanner, Text: plain(text)})
}

func (c *composer) list(items [][]inline) {
	if len(items) > 0 {
		c.blocks = append(c.blocks, block{Kind: kindList, Items: items})
	}
}

func (c *composer) tabular(columns []string, rows [][]cell) {
	if len(rows) > 0 {
		c.blocks = append(c.blocks, block{Kind: kindTable, Table: &table{Columns: columns, Rows: rows}})
	}
}

func (c *composer) columns(keys ...string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = c.say(k)
	}
	return out
}

// refs cites evidence; ids that the report does not hold are left out.
func (c *composer) refs(ids ...string) []inline {
	var out []inline
	for _, id := range ids {
		if c.known[id] {
			out = append(out, inline{Ref: id})
		}
	}
	return out
}

// outcome is the standing sentence of a check.
func (c *composer) outcome(k Check) string {
	key := "outcome." + string(k.Outcome)
	if k.Outcome == OutcomeNotAsked && k.Source == "" { // no researcher, and no code, came to it
		key += ".not_reached"
	}
	if k.Code == sources.FailNoSource || k.Code == sources.FailUnsearchable {
		key += "." + k.Code
	}
	return upperFirst(c.say(key, "source", c.say("source."+k.Source), "date", c.date(k.On)))
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// checked writes the outcome of a check with what it rests on.
func (c *composer) checked(id string) {
	for _, k := range c.r.Checks {
		if k.ID != id {
			continue
		}
		text := cell{{Text: c.say("check."+id) + " — " + c.outcome(k)}}
		if k.Partial {
			text = append(text, inline{Text: " " + c.say("partial", "source", c.say("source."+k.Source))})
		}
		if len(k.Evidence) > 0 {
			text = append(append(text, inline{Text: " "}), c.refs(k.Evidence[0])...)
		}
		c.para(text...)
	}
}

// printable drops what no reader sees and what a terminal or a bidirectional
// layout would obey; line breaks become blanks. It keeps the no-break spaces
// that belong to figures.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
}

// cleaned is text from a source, cut for a table.
func cleaned(s string) string { return supplier.Clean(s, supplier.MaxTitleLength) }
