// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "strings"

// Ending says how a stream ended.
type Ending uint8

const (
	// Complete is the end of a text that is all there.
	Complete Ending = iota
	// CutOff is the end of a text that breaks off: a token limit, a cancelled
	// call, an error. What may be the beginning of a value at its end is
	// redacted like one.
	CutOff
)

// maxHold is the most that the built-in types hold back: a local part and what
// may precede its @ (76), an encoded @ (8), a domain (255), the character that
// ends it (4) and the two that make it a clone URL. An IBAN needs less: 34
// characters, separators of 160 + 18 bytes, 72 of a local part before it.
const maxHold = 352

// MaxHold is the most bytes that a stream holds back, whatever its input. With
// patterns it is a line, so it grows by [Options].MaxLine.
func (r *Redactor) MaxHold() int {
	if len(r.patterns) > 0 {
		return maxHold + r.maxLine
	}
	return maxHold
}

// Stream redacts a text that arrives in pieces. However the text is cut, the
// pieces it returns make up the text that [Redactor.String] returns for the
// whole, and none holds a part of a value. (A pattern that is stopped by its time
// limit may be stopped in one run and not in the other.)
//
// It is not safe for concurrent use.
type Stream struct {
	r      *Redactor
	report func(Finding)

	buf     strings.Builder // the last bytes of the text; emptied now and then
	base    int             // the offset of buf in the text
	done    int             // all before is written or replaced
	next    int             // the first anchor not judged
	line    int             // the start of the line patterns haven't seen
	waiting []Finding       // found, not written; like all offsets relative to base
	long    *Finding        // the line being swallowed, its end not known yet

	counts Counts
	err    error
	closed bool
}

// Stream returns a stream at its beginning.
func (r *Redactor) Stream() *Stream { return r.StreamFunc(nil) }

// StreamFunc is like [Redactor.Stream]; report, unless nil, is called with each
// finding in order as soon as it is replaced, before Write or Close returns.
func (r *Redactor) StreamFunc(report func(Finding)) *Stream {
	return &Stream{r: r, report: report}
}

// Write takes the next piece and returns what of the text can be said now. It
// returns nothing after the stream was closed or blocked.
func (s *Stream) Write(chunk string) string {
	if s.closed || s.err != nil {
		return ""
	}
	s.buf.WriteString(chunk)
	return s.advance(more)
}

// Close returns the rest. Closing again returns nothing.
func (s *Stream) Close(e Ending) string {
	if s.closed || s.err != nil {
		return ""
	}
	s.closed = true
	if e == CutOff {
		return s.advance(cutOff)
	}
	return s.advance(whole)
}

// Counts is the number of values replaced so far, per type. The caller may keep
// it.
func (s *Stream) Counts() Counts { return Counts(nil).Add(s.counts) }

// Err is nil or, after a value of a type whose strategy is [Block], a
// [*BlockedError]. What came before that value may have been returned already.
func (s *Stream) Err() error { return s.err }

// Held is the number of bytes held back now, at most [Redactor.MaxHold].
func (s *Stream) Held() int { return max(0, s.buf.Len()-s.done) }

func (s *Stream) advance(end ending) string {
	text := s.buf.String()
	known := len(s.waiting)
	var hold int
	s.waiting, s.next, hold = s.r.scan(s.waiting, text, s.next, end)
	if len(s.r.patterns) > 0 {
		s.lines(text, end)
		hold = min(hold, s.line)
	}
	if len(s.waiting) > known {
		sortFindings(s.waiting)
	}
	out := s.emit(text, hold)
	s.compact(text, hold)
	return out
}

// lines runs the patterns over the lines completed since the last call.
func (s *Stream) lines(text string, end ending) {
	if s.long != nil {
		n := strings.IndexByte(text[s.line:], '\n')
		if n < 0 {
			s.line = len(text)
		} else {
			s.line += n
		}
		s.done = max(s.done, s.line)
		if n < 0 && end == more {
			return
		}
		s.long.End = s.base + s.line
		if s.report != nil {
			s.report(*s.long)
		}
		s.long = nil
	}
	s.waiting, s.line = s.r.scanLines(s.waiting, text, s.line, end != more)
	if len(text)-s.line > s.r.maxLine {
		f := s.r.failed(s.r.patterns[0].name, s.line, len(text), ErrLineTooLong)
		s.waiting = append(s.waiting, f)
		f.Start += s.base
		s.long = &f
		s.line = len(text)
	}
}

// emit returns the text up to hold, with the findings that start before it
// replaced.
func (s *Stream) emit(text string, hold int) string {
	var out strings.Builder
	n := 0
	for ; n < len(s.waiting) && s.waiting[n].Start < hold; n++ {
		f := s.waiting[n]
		if f.Start = max(f.Start, s.done); f.Start >= f.End {
			continue
		}
		out.WriteString(text[s.done:f.Start])
		s.count(f.Type)
		if s.r.strategies[f.Type] == Block {
			s.err = &BlockedError{Counts: s.counts}
			s.waiting = nil
			return ""
		}
		out.WriteString(s.r.replacement(f, text[f.Start:f.End]))
		s.done = f.End
		s.tell(f)
	}
	s.waiting = append(s.waiting[:0], s.waiting[n:]...)
	if s.done >= hold {
		return out.String()
	}
	rest := text[s.done:hold]
	s.done = hold
	if out.Len() == 0 {
		return rest
	}
	out.WriteString(rest)
	return out.String()
}

func (s *Stream) count(t Type) {
	if s.counts == nil {
		s.counts = make(Counts, 2)
	}
	s.counts[t]++
}

// tell reports a finding, unless it is the line being swallowed.
func (s *Stream) tell(f Finding) {
	f.Start += s.base
	f.End += s.base
	if s.report != nil && (s.long == nil || f.Err == nil || f.Start != s.long.Start) {
		s.report(f)
	}
}

// compact forgets what is neither needed as context nor still to be written.
func (s *Stream) compact(text string, hold int) {
	const slack = 4 << 10
	keep := min(s.done, s.next, hold) - maxContext
	if len(s.r.patterns) > 0 {
		keep = min(keep, s.line)
	}
	if keep < slack || keep < len(text)/2 {
		return
	}
	s.buf.Reset() // leaves text, and what was returned of it, as it is
	s.buf.WriteString(text[keep:])
	s.base += keep
	s.done -= keep
	s.next -= keep
	s.line -= keep
	for i := range s.waiting {
		s.waiting[i].Start -= keep
		s.waiting[i].End -= keep
	}
}
