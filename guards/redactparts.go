// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/gardefou/gardefou/redact"
)

// maskContent masks the text of a content the caller owns down to its parts. Text is one,
// and thoughts are one, whatever stands between their parts: ADK joins text over calls and
// thoughts where it makes an output of it. Where it may have been cut off, end is the
// redactor for that, otherwise r.
func maskContent(r, end *redact.Redactor, c *genai.Content) {
	if c == nil {
		return
	}
	var said, thought []*genai.Part
	for _, p := range c.Parts {
		switch {
		case !isText(p):
		case p.Thought:
			thought = append(thought, p)
		default:
			said = append(said, p)
		}
	}
	maskParts(r, end, said)
	maskParts(r, end, thought)
}

func isText(p *genai.Part) bool { return p != nil && p.Text != "" }

// span is a stretch of several parts' joined text, and the value in it to label.
type span struct {
	start, end, from, to int
	kind                 redact.Type
}

// maskParts masks text parts that follow each other: values that are cut over parts,
// which only the joined text shows, and values that stand whole in one part although
// the next begins right behind them, which only the part shows.
func maskParts(r, end *redact.Redactor, parts []*genai.Part) {
	switch len(parts) {
	case 0:
		return
	case 1:
		parts[0].Text = end.String(parts[0].Text)
		return
	}
	var sb strings.Builder
	for _, p := range parts {
		sb.WriteString(p.Text)
	}
	joined := sb.String()
	var spans []span
	add := func(found []redact.Finding, offset int) {
		for _, f := range found {
			s, e := f.Start+offset, f.End+offset
			spans = append(spans, span{s, e, s, e, f.Type})
		}
	}
	add(end.Find(joined), 0)
	at := 0
	for _, p := range parts {
		add(r.Find(p.Text), at)
		at += len(p.Text)
	}
	if len(spans) == 0 {
		return
	}
	replace(parts, joined, merged(spans), func(s span) string {
		value := joined[s.from:s.to]
		if label := end.String(value); label != value {
			return label
		}
		// What stands before it said what it is.
		return "[" + string(s.kind) + "]"
	})
}

// merged joins spans that overlap and keeps the longest value of each for its label.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.start >= last.end {
			out = append(out, s)
			continue
		}
		last.end = max(last.end, s.end)
		if s.to-s.from > last.to-last.from {
			last.from, last.to, last.kind = s.from, s.to, s.kind
		}
	}
	return out
}

// replace puts each span's label into the part where the span begins and takes the rest
// of it out of the parts behind.
func replace(parts []*genai.Part, joined string, spans []span, label func(span) string) {
	at := 0
	for _, p := range parts {
		end := at + len(p.Text)
		var sb strings.Builder
		for pos := at; pos < end; {
			i := slices.IndexFunc(spans, func(s span) bool { return s.end > pos })
			if i < 0 || spans[i].start >= end {
				sb.WriteString(joined[pos:end])
				break
			}
			s := spans[i]
			if s.start >= pos {
				sb.WriteString(joined[pos:s.start])
				sb.WriteString(label(s))
			}
			pos = min(s.end, end)
		}
		at = end
		p.Text = sb.String()
	}
}
