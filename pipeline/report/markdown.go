// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"regexp"
	"strings"
)

// Markdown writes the report in GitHub's dialect. Evidence is cited as
// [E-BOD-001]; the definitions at the end make each citation a link where the
// source's page may be linked to.
func (r Report) Markdown(lang Lang) string {
	var b strings.Builder
	for _, x := range compose(r, lang) {
		switch x.Kind {
		case kindHeading:
			fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", x.Level), inlineMD(x.Text))
		case kindParagraph:
			fmt.Fprintf(&b, "%s\n\n", lineStart(inlineMD(x.Text)))
		case kindBanner:
			fmt.Fprintf(&b, "> **%s**\n\n", inlineMD(x.Text))
		case kindList:
			for _, item := range x.Items {
				fmt.Fprintf(&b, "- %s\n", lineStart(inlineMD(item)))
			}
			b.WriteByte('\n')
		case kindTable:
			tableMD(&b, x.Table)
		case kindChart:
			fmt.Fprintf(&b, "%s\n\n", lineStart(escapeMD(x.Chart.Caption)))
		case kindAnswer:
			answerMD(&b, *x.Answer)
		}
	}
	for _, e := range r.Evidence {
		if link := linkable(e.URL); link != "" {
			fmt.Fprintf(&b, "[%s]: <%s>\n", e.ID, strings.NewReplacer("<", "%3C", ">", "%3E").Replace(link))
		}
	}
	return b.String()
}

// answerMD is the verdict and its reasons; what was not checked stands in the summary.
func answerMD(b *strings.Builder, a Answer) {
	fmt.Fprintf(b, "**%s** — %s\n\n", escapeMD(a.Verdict), escapeMD(a.Next))
	for _, g := range a.Gaps {
		fmt.Fprintf(b, "> %s\n\n", inlineMD(plain(g)))
	}
	for i, r := range a.Reasons {
		fmt.Fprintf(b, "%d. %s", i+1, escapeMD(r.Text))
		for _, id := range r.Evidence {
			fmt.Fprintf(b, " [%s]", id)
		}
		b.WriteByte('\n')
	}
	if len(a.Reasons) > 0 {
		b.WriteByte('\n')
	}
}

func tableMD(b *strings.Builder, t *table) {
	row := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	var head, rule []string
	for _, c := range t.Columns {
		head, rule = append(head, escapeMD(c)), append(rule, "---")
	}
	row(head)
	row(rule)
	for _, cells := range append(t.Rows[:len(t.Rows):len(t.Rows)], foot(t)...) {
		var texts []string
		for _, c := range cells {
			texts = append(texts, inlineMD(c))
		}
		row(texts)
	}
	b.WriteByte('\n')
}

func foot(t *table) [][]cell {
	if t.Foot == nil {
		return nil
	}
	return [][]cell{t.Foot}
}

func inlineMD(text []inline) string {
	var b strings.Builder
	for i, x := range text {
		switch {
		case x.Ref != "":
			if i > 0 && text[i-1].Ref != "" {
				b.WriteByte(' ')
			}
			b.WriteString("[" + x.Ref + "]")
		case x.Link != "":
			fmt.Fprintf(&b, "[%s](<%s>)", escapeMD(x.Text), strings.NewReplacer("<", "%3C", ">", "%3E").Replace(x.Link))
		case x.Strong && strings.TrimSpace(x.Text) != "":
			b.WriteString("**" + escapeMD(x.Text) + "**")
		default:
			b.WriteString(escapeMD(x.Text))
		}
	}
	return b.String()
}

// markup is every character that can open markup in a line; "www." and "://"
// would become links by themselves.
var (
	markup   = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~!&$=^@]")
	autolink = regexp.MustCompile(`(?i)(www)\.|:(//)`)
)

func escapeMD(s string) string {
	s = markup.ReplaceAllString(printable(s), `\$0`)
	return autolink.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == ':' {
			return `\:` + m[1:]
		}
		return m[:3] + `\.`
	})
}

// startMark is what opens a list, a rule or a heading at the start of a line.
var startMark = regexp.MustCompile(`^(\s*)([-+]|[0-9]+[.)])`)

func lineStart(s string) string {
	return startMark.ReplaceAllStringFunc(s, func(m string) string { return m[:len(m)-1] + `\` + m[len(m)-1:] })
}
