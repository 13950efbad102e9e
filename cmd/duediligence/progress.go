// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// A printer tells a person on stderr what happens. It is safe for concurrent use.
type printer struct {
	mu    sync.Mutex
	w     io.Writer
	quiet bool
	lang  text.Lang
	color bool
	// short says that the answer is all that stdout gets: what it says is not said before.
	short bool
	// live, on a terminal, takes the place of a line a step.
	live *display
	// notes are told once each, at the end.
	notes map[string]bool
	// unkept is the output folder in which the run could not be kept, which was told.
	unkept string
	// telemetryTold says that a collector was complained about.
	telemetryTold bool
}

func (p *printer) line(format string, args ...any) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *printer) source(c *sources.Client) {
	switch {
	case p.short && c.Mode() == sources.ModeSample: // the answer says so
	case c.Mode() == sources.ModeSample:
		p.line("%s", text.Get(p.lang, text.CmdSample))
	default:
		p.line("%s", text.Get(p.lang, text.CmdLive))
	}
	for _, o := range c.Overrides() {
		p.line("%s", text.Get(p.lang, text.SourceOverridden, o))
	}
}

func (p *printer) subject(s supplier.Subject) {
	if p.short { // the answer says so; until then the display does
		if p.live != nil {
			p.live.begin(text.Get(p.lang, text.CmdSubject, s.LegalName, s.SIREN, s.City))
		}
		return
	}
	p.line("%s", text.Get(p.lang, text.CmdSubject, s.LegalName, s.SIREN, s.City))
}

// step is a line for each agent and tool as it ends, and for each refusal.
func (p *printer) step(ev callbacks.Event) {
	if p.quiet {
		return
	}
	p.noteServed(ev)
	if p.live != nil {
		p.live.step(ev)
		return
	}
	if p.short && ev.Outcome == callbacks.OutcomeAllowed {
		return
	}
	var what string
	switch {
	case ev.Step == callbacks.StepTool:
		what = ev.Tool
	case ev.Step == callbacks.StepModel && ev.Outcome == callbacks.OutcomeAllowed:
		return
	default:
		what = string(ev.Step)
	}
	outcome := p.paint(ev)
	if ev.Reason != "" {
		outcome += ": " + ev.Reason
	}
	p.line("  %-22s %-18s %s (%d ms)", ev.Agent, what, outcome, ev.Duration.Round(time.Millisecond).Milliseconds())
}

// noteServed keeps a model version that was served in place of the one asked for.
func (p *printer) noteServed(ev callbacks.Event) {
	if ev.ServedModel == "" || strings.HasPrefix(ev.ServedModel, ev.Model) {
		return
	}
	p.later(text.Get(p.lang, text.CmdServed, ev.Model, ev.ServedModel))
}

// later keeps a note for the end, where it does not break into the display.
func (p *printer) later(note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notes == nil {
		p.notes = make(map[string]bool)
	}
	p.notes[note] = true
}

// paint colours what was not simply allowed, on a terminal only.
func (p *printer) paint(ev callbacks.Event) string {
	s := text.Get(p.lang, text.Key("outcome."+string(ev.Outcome)))
	if ev.Guard != "" {
		s += " [" + ev.Guard + "]"
	}
	if !p.color || ev.Outcome == callbacks.OutcomeAllowed {
		return s
	}
	return "\x1b[33m" + s + "\x1b[0m"
}

// summary says how the run ended and what it took; a short one says only what the answer
// below it does not.
func (p *printer) summary(o *pipeline.Outcome, dir, goOn string) {
	if p.live != nil && p.short {
		p.live.erase()
	}
	for _, s := range slices.Sorted(maps.Keys(p.notes)) {
		p.line("%s", s)
	}
	status := text.Get(p.lang, text.Key("run."+string(o.Result.Status)))
	if o.Result.Reason != "" {
		status += " (" + o.Result.Reason + ")"
	}
	finished := o.Result.Status == callbacks.StatusDone || o.Result.Status == callbacks.StatusLanded
	if !p.short {
		acted := make([]string, 0, len(o.Stats.Guards))
		for _, g := range slices.Sorted(maps.Keys(o.Stats.Guards)) {
			acted = append(acted, fmt.Sprintf("%s %d", g, o.Stats.Guards[g]))
		}
		if len(acted) == 0 {
			acted = []string{text.Get(p.lang, text.CmdNone)}
		}
		p.line("%s", text.Get(p.lang, text.CmdSummary, status, o.Stats.ModelCalls, o.Stats.ToolCalls, o.Stats.TokensIn, o.Stats.TokensOut, strings.Join(acted, ", ")))
	}
	p.spent(o)
	if !finished {
		p.resumePoint(o, goOn)
	}
	if dir != "" && !p.short { // the answer says where
		p.line("%s", text.Get(p.lang, text.CmdWritten, dir))
	}
}

// terminal returns w as a terminal, or nil.
func terminal(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// colours reports whether a terminal may be sent more than text (no-color.org).
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// widthOf returns the width of a terminal now, 80 where w is none.
func widthOf(w io.Writer) int {
	f := terminal(w)
	if f == nil {
		return 80
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns == 0 {
		return 80
	}
	return columns
}
