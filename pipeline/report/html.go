// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed page.html.tmpl
var pageSource string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"text":  printable,
	"tenth": func(n int) float64 { return float64(n) / 10 },
	"add":   func(a, b float64) float64 { return a + b },
	"mul":   func(a int, b float64) float64 { return float64(a) * b },
	"sub":   func(a, b int) int { return a - b },
	"label": func(columns []string, i int) string { return columns[i] },
	"long":  hasLongWord,
}).Parse(pageSource))

// longWord is the length from which a word, an address or a hash for example, may be broken
// to fit a cell.
const longWord = 25

func hasLongWord(c cell) bool {
	return slices.ContainsFunc(c, func(x inline) bool {
		return slices.ContainsFunc(strings.Fields(x.Text), func(w string) bool { return utf8.RuneCountInString(w) >= longWord })
	})
}

// HTML writes the report as one page: no script, nothing fetched, styles for
// screen, phone and paper inside. A content security policy in the page forbids
// everything else, should a browser ever be asked.
func (r Report) HTML(lang Lang) []byte {
	t := texts{lang}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, map[string]any{
		"Lang": t.language(), "Title": t.say("title", "name", r.Subject.LegalName), "Blocks": compose(r, lang), "L": lang,
		"Rating": r.Risk.Rating, "AnswerStyle": AnswerStyle,
	}); err != nil {
		panic("report: the page template fits its blocks: " + err.Error()) // nothing else can fail in memory
	}
	return b.Bytes()
}
