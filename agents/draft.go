// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"regexp"
	"slices"
	"strings"
)

// citation is how a draft cites evidence: [E-REG-001].
var citation = regexp.MustCompile(`\[(E-[A-Z]+-\d{3,})\]`)

// A DraftSection is one section of a writer's text.
type DraftSection struct {
	Title      string
	Paragraphs []string
}

// ParseDraft splits a draft at its "## title" lines. Text before the first title
// is dropped: a report has none.
func ParseDraft(draft string) []DraftSection {
	var out []DraftSection
	var para []string
	flush := func() {
		if len(out) > 0 && len(para) > 0 {
			s := &out[len(out)-1]
			s.Paragraphs = append(s.Paragraphs, strings.Join(para, " "))
		}
		para = nil
	}
	for line := range strings.Lines(draft) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			flush()
			out = append(out, DraftSection{Title: strings.TrimSpace(line[3:])})
		case line == "":
			flush()
		default:
			para = append(para, line)
		}
	}
	flush()
	return out
}

// Citations returns the evidence ids cited in a paragraph, each once, in order.
func Citations(paragraph string) []string {
	ids := []string{}
	for _, m := range citation.FindAllStringSubmatch(paragraph, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// StripCitations returns a paragraph without its citations.
func StripCitations(paragraph string) string {
	return strings.Join(strings.Fields(citation.ReplaceAllString(paragraph, " ")), " ")
}
