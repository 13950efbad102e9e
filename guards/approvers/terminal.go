// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package approvers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
)

// Terminal asks the person who sits at in and out, one question at a time, and names them
// by. It shows the arguments with everything escaped that could move the cursor or hide
// text. An answer is yes, no or always; anything else is asked again, three times at most
// in all, and is a no then; the end of in is an error. A line typed after its question timed out answers nothing.
//
// Where in does not end, a read on it may be left waiting when the last question is over.
func Terminal(in io.Reader, out io.Writer, by string) guards.Approver {
	return &terminal{in: bufio.NewReader(in), out: out, by: by, turn: make(chan struct{}, 1), lines: make(chan line, 1)}
}

// chances is how often a question is asked.
const chances = 3

type terminal struct {
	in  *bufio.Reader
	out io.Writer
	by  string
	// turn is held by the question that is shown.
	turn chan struct{}

	mu      sync.Mutex
	reading bool
	lines   chan line
}

type line struct {
	text string
	err  error
}

// Ask implements guards.Approver.
func (t *terminal) Ask(ctx context.Context, q guards.Question) (guards.Answer, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return guards.Answer{}, ctx.Err()
	}
	lang := text.Parse(q.Lang)
	if err := t.show(lang, q); err != nil {
		return guards.Answer{}, fmt.Errorf("approvers: asking: %w", err)
	}
	stale := t.begin()
	for chance := range chances {
		var got line
		select {
		case got = <-t.lines:
		case <-ctx.Done():
			fmt.Fprintf(t.out, "\n%s\n", text.Get(lang, text.AskLate))
			return guards.Answer{}, ctx.Err()
		}
		if got.err != nil {
			return guards.Answer{}, fmt.Errorf("approvers: reading an answer: %w", got.err)
		}
		again := text.AskAgain
		if stale {
			again, stale = text.AskStale, false
		} else if a, ok := read(lang, q, got.text); ok {
			a.By = t.by
			return a, nil
		}
		if chance < chances-1 {
			fmt.Fprintf(t.out, "%s\n%s", text.Get(lang, again), text.Get(lang, text.AskPrompt))
			t.begin()
		}
	}
	return q.Answer(false, t.by), nil
}

// begin reads a line in the background; it reports whether one was being read already,
// for a question that is over.
func (t *terminal) begin() (stale bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reading || len(t.lines) > 0 {
		return true
	}
	t.reading = true
	go func() {
		s, err := t.in.ReadString('\n')
		if s != "" {
			err = nil
		}
		t.mu.Lock()
		t.reading = false
		t.lines <- line{s, err}
		t.mu.Unlock()
	}()
	return false
}

func read(lang text.Lang, q guards.Question, s string) (a guards.Answer, ok bool) {
	word := strings.ToLower(strings.TrimSpace(s))
	is := func(key text.Key) bool { return slices.Contains(strings.Fields(text.Get(lang, key)), word) }
	switch {
	case is(text.AskYes):
		return q.Answer(true, ""), true
	case is(text.AskNo):
		return q.Answer(false, ""), true
	case is(text.AskAll):
		a = q.Answer(true, "")
		a.Always = true
		return a, true
	default:
		return a, false
	}
}

func (t *terminal) show(lang text.Lang, q guards.Question) error {
	var sb strings.Builder
	fmt.Fprintf(&sb, "\n%s\n%s", text.Get(lang, text.AskCall, visible(q.Agent), visible(q.Tool)), arguments(q.Args))
	if len(q.Always) == 0 {
		fmt.Fprintf(&sb, "%s\n", text.Get(lang, text.AskAny))
	} else {
		fmt.Fprintf(&sb, "%s\n", text.Get(lang, text.AskAlways, strings.Join(slices.Sorted(maps.Keys(q.Always)), ", ")))
	}
	sb.WriteString(text.Get(lang, text.AskPrompt))
	_, err := io.WriteString(t.out, sb.String())
	return err
}

// arguments are shown whole: nobody can approve what was cut off.
func arguments(args map[string]any) string {
	var sb strings.Builder
	for _, name := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&sb, "  %s: %s\n", visible(name), visible(encode(args[name])))
	}
	return sb.String()
}

func encode(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// visible escapes what a terminal would obey or not show: controls, and the characters
// that change the direction of text.
func visible(s string) string {
	var sb strings.Builder
	for _, r := range s {
		if unicode.IsGraphic(r) {
			sb.WriteRune(r)
		} else {
			fmt.Fprintf(&sb, `\u%04x`, r)
		}
	}
	return sb.String()
}
