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
	if c.Mode() == sources.ModeSample {
		p.line("%s", text.Get(p.lang, text.CmdSample))
	} else {
		p.line("%s", text.Get(p.lang, text.CmdLive))
	}
	for _, o := range c.Overrides() {
		p.line("%s", text.Get(p.lang, text.SourceOverridden, o))
	}
}

func (p *printer) subject(s supplier.Subject) {
	p.line("%s", text.Get(p.lang, text.CmdSubject, s.LegalName, s.SIREN, s.City))
}

// step is a line for each agent and tool as it ends, and for each refusal.
func (p *printer) step(ev callbacks.Event) {
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

func (p *printer) summary(o *pipeline.Outcome, dir string) {
	acted := make([]string, 0, len(o.Stats.Guards))
	for _, g := range slices.Sorted(maps.Keys(o.Stats.Guards)) {
		acted = append(acted, fmt.Sprintf("%s %d", g, o.Stats.Guards[g]))
	}
	if len(acted) == 0 {
		acted = []string{text.Get(p.lang, text.CmdNone)}
	}
	status := text.Get(p.lang, text.Key("run."+string(o.Result.Status)))
	if o.Result.Reason != "" {
		status += " (" + o.Result.Reason + ")"
	}
	p.line("%s", text.Get(p.lang, text.CmdSummary, status, o.Stats.ModelCalls, o.Stats.ToolCalls, o.Stats.TokensIn, o.Stats.TokensOut, strings.Join(acted, ", ")))
	if dir != "" {
		p.line("%s", text.Get(p.lang, text.CmdWritten, dir))
	}
}

// isTerminal reports whether w is a character device and colours are wanted.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
