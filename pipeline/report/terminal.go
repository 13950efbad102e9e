// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	minWidth = 40
	maxWidth = 100
)

// colours are the terminal's for each tone.
var colours = map[string]string{
	"low": "\x1b[1;32m", "medium": "\x1b[1;33m", "high": "\x1b[1;33m", "critical": "\x1b[1;31m", "stop": "\x1b[1;37;41m", "open": "\x1b[1;36m",
}

// Terminal is the answer for a terminal of width columns, at most 15 lines: who, why,
// what was not looked at, and the verdict last. colour marks the verdict and nothing else.
// full is where the whole report stands, "" where it was not written.
func (a Answer) Terminal(lang Lang, width int, colour bool, full string) string {
	t, width := texts{lang}, min(max(width, minWidth), maxWidth)
	var lines []string
	head := a.Name
	for _, s := range []string{a.Number, a.City, a.FictionalTag} {
		if s != "" {
			head += " · " + s
		}
	}
	lines = append(lines, wrapped("", head, width, 2)...)
	lines = append(lines, "")
	if len(a.Gaps) > 0 {
		lines = append(lines, wrapped("  !  ", strings.Join(a.Gaps, " "), width, 2)...)
	}
	for i, r := range a.Reasons {
		lines = append(lines, wrapped(fmt.Sprintf("  %d  ", i+1), strings.Join(append([]string{r.Text}, r.Evidence...), " "), width, 2)...)
	}
	lines = append(lines, wrapped("  ", t.say("not_checked")+t.say("colon")+strings.Join(a.NotChecked, "; "), width, 2)...)
	if full != "" {
		lines = append(lines, wrapped("  ", t.say("answer.at", "place", full), width, 1)...)
	} else {
		lines = append(lines, wrapped("  ", t.say("answer.full"), width, 2)...)
	}
	lines = append(lines, "", a.VerdictLine(colour))
	return strings.Join(lines, "\n") + "\n"
}

// VerdictLine is the verdict and what to do now.
func (a Answer) VerdictLine(colour bool) string {
	verdict := a.Verdict
	if colour {
		verdict = colours[a.Tone] + " " + verdict + " \x1b[0m"
	}
	return verdict + "  " + a.Next
}

// wrapped breaks s into at most most lines of width columns: the first begins with indent,
// the others below its text. What does not fit is cut and marked.
func wrapped(indent, s string, width, most int) []string {
	var lines []string
	room := width - utf8.RuneCountInString(indent)
	line, cut := "", false
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }) { // not at no-break spaces
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= room:
			line += " " + word
		case len(lines)+1 < most:
			lines, line = append(lines, line), word
		default:
			cut = true
		}
		if cut {
			break
		}
	}
	if r := []rune(line); len(r) > room || cut {
		line = string(r[:min(len(r), room-1)]) + "…"
	}
	lines = append(lines, line)
	for i := range lines {
		if i == 0 {
			lines[i] = indent + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", utf8.RuneCountInString(indent)) + lines[i]
		}
	}
	return lines
}
