// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// A display shows the agents side by side on a terminal, a line each, drawn anew
// after every step. It is safe for concurrent use.
type display struct {
	w        io.Writer
	lang     text.Lang
	width    func() int
	perAgent int // model calls allowed
	perRun   int

	mu    sync.Mutex
	title string
	rows  []*row
	calls int
	drawn int
}

type row struct {
	agent         string
	calls, tokens int
	last          string
	guards        []string
	bad           bool
}

func newDisplay(w io.Writer, lang text.Lang, width func() int, perAgent, perRun int) *display {
	d := &display{w: w, lang: lang, width: width, perAgent: perAgent, perRun: perRun}
	for _, name := range []string{
		agents.RegistryResearcher, agents.FinanceResearcher, agents.ReputationResearcher, agents.Writer, agents.Reviewer,
	} {
		d.rows = append(d.rows, &row{agent: name, last: "…"})
	}
	return d
}

// begin shows a title above the agents, before the first of them works.
func (d *display) begin(title string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.title = title
	d.draw()
}

// step takes in one event and draws.
func (d *display) step(ev callbacks.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.row(ev.Agent)
	r.calls += ev.Attempt
	d.calls += ev.Attempt
	if u := ev.Usage; u != nil {
		r.tokens += int(u.PromptTokenCount + u.CandidatesTokenCount + u.ThoughtsTokenCount)
	}
	what := string(ev.Step)
	if ev.Tool != "" {
		what = ev.Tool
	}
	r.last = what + " " + text.Get(d.lang, text.Key("outcome."+string(ev.Outcome)))
	if ev.Reason != "" {
		r.last += ": " + ev.Reason
	}
	r.bad = r.bad || ev.Outcome != callbacks.OutcomeAllowed
	if ev.Guard != "" {
		r.guards = append(r.guards, ev.Guard)
	}
	d.draw()
}

// erase takes the display off the terminal.
func (d *display) erase() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drawn > 0 {
		fmt.Fprintf(d.w, "\x1b[%dA\r\x1b[J", d.drawn)
	}
	d.drawn = 0
}

// pause holds the display still while a question stands beneath it.
func (d *display) pause(ask func() bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drawn = 0
	return ask()
}

func (d *display) row(agent string) *row {
	for _, r := range d.rows {
		if r.agent == agent {
			return r
		}
	}
	r := &row{agent: agent}
	d.rows = append(d.rows, r)
	return r
}

func (d *display) draw() {
	var sb strings.Builder
	if d.drawn > 0 {
		fmt.Fprintf(&sb, "\x1b[%dA", d.drawn)
	}
	width := d.width()
	if d.title != "" {
		sb.WriteString("\r\x1b[2K" + fit(d.title, width) + "\n")
	}
	for _, r := range d.rows {
		line := fmt.Sprintf("  %-22s %2d/%-2d %7d tok  %s", r.agent, r.calls, d.perAgent, r.tokens, r.last)
		if len(r.guards) > 0 {
			line += " [" + strings.Join(r.guards, " ") + "]"
		}
		line = fit(line, width)
		if r.bad {
			line = "\x1b[33m" + line + "\x1b[0m"
		}
		sb.WriteString("\r\x1b[2K" + line + "\n")
	}
	sb.WriteString("\r\x1b[2K" + fit(fmt.Sprintf("  %-22s %2d/%d", "", d.calls, d.perRun), width) + "\n")
	d.drawn = strings.Count(sb.String(), "\n")
	fmt.Fprint(d.w, sb.String())
}

// fit cuts a line to the terminal, so that drawing anew covers what was drawn.
func fit(line string, width int) string {
	r := []rune(line)
	if width > 1 && len(r) >= width {
		return string(r[:width-1])
	}
	return line
}
