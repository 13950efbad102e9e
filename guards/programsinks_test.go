// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/line"
)

func (o *outing) masked(*testing.T) error {
	if !o.has("redact", func(g programGuard) bool { return g.Comb == "" }) {
		return nil
	}
	sinks := map[string]any{"event": o.events, "stored event": o.stored, "state": o.state}
	if o.journal != nil {
		sinks["journal"] = o.journal.lines.String()
	}
	for i, ev := range o.seen {
		sinks[fmt.Sprintf("observed %s %d", ev.Step, i)] = []any{ev.Args, ev.Result, ev.Response, ev.Tool, ev.CallID}
	}
	streamed := make(map[string]string)
	for _, ev := range o.events {
		if ev.Partial && ev.Content != nil {
			for _, p := range ev.Content.Parts {
				streamed[ev.Author] += p.Text
			}
		}
	}
	sinks["stream"] = streamed
	for name, sink := range sinks {
		if err := noSecretIn(name, sink); err != nil {
			return err
		}
	}
	return nil
}

func (o *outing) reasons(*testing.T) error {
	if !o.has("redact", func(g programGuard) bool { return g.Comb == "" }) {
		return nil
	}
	for i, ev := range o.seen {
		if err := noSecretIn(fmt.Sprintf("observed %s %d", ev.Step, i), ev.Reason); err != nil {
			return err
		}
	}
	return nil
}

func noSecretIn(name string, sink any) error {
	var all bytes.Buffer
	enc := json.NewEncoder(&all)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(sink); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, secret := range []string{"kervalec.example", "3000 6000", "7890 189"} {
		if at := strings.Index(all.String(), secret); at >= 0 {
			return fmt.Errorf("%s: …%s", name, all.String()[max(0, at-200):at+len(secret)])
		}
	}
	return nil
}

func (o *outing) inTime(*testing.T) error {
	if o.took > callerWaits+deafMayAdd {
		return fmt.Errorf("it took %v", o.took)
	}
	return nil
}

func (o *outing) journalled(*testing.T) error {
	if !o.has("journal", func(g programGuard) bool { return g.Comb == "" }) || !o.journal.sound {
		return nil
	}
	if report, err := journal.Verify(bytes.NewReader(o.journal.lines.Bytes()), journal.VerifyOptions{}); err != nil || !report.OK() {
		return errors.Join(err, fmt.Errorf("faults: %v", report.Faults))
	}
	lines := make(map[string]int)
	var last line.Line
	for l, err := range journal.Entries(bytes.NewReader(o.journal.lines.Bytes())) {
		if err != nil {
			return err
		}
		lines[l.Kind]++
		if l.Kind == line.KindEnd {
			last = l
		}
	}
	var models, tools, attempts int
	for _, ev := range o.seen {
		refused := ev.Outcome == callbacks.OutcomeRefused || ev.Outcome == callbacks.OutcomePanicked
		switch {
		case ev.Step == callbacks.StepModel && (ev.Attempt > 0 || !refused):
			models++
		case ev.Step == callbacks.StepTool:
			tools++
		}
		attempts += ev.Attempt
	}
	got, want := []int{lines[line.KindModel], lines[line.KindTool]}, []int{models, tools}
	if len(o.seen) > 0 {
		got, want = append(got, lines[line.KindEnd], last.ModelCalls, last.ToolCalls), append(want, 1, attempts, tools)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("lines of models, tools and the end, and the counts at the end are %v, want %v", got, want)
	}
	return nil
}

// told are the calls that observers were told of, of models and of instrumented tools.
func (o *outing) told() (models, tools int) {
	for _, ev := range o.seen {
		models += ev.Attempt
		agentTool := ev.Tool == "helper" && o.spec.Helper != nil && ev.Agent == agentNameOf(0)
		if ev.Called && !agentTool {
			tools++
		}
	}
	return models, tools
}

// observed is exact but where a call that waits beside its context, in Deadline and Route, is
// cut off in the very moment in which it begins.
func (o *outing) observed(*testing.T) error {
	models, tools := o.told()
	m, n := o.count(programGuard{}, ofModel), o.count(programGuard{}, ofTool)
	if o.cutOff() && (o.has("deadline", nil) || o.has("route", nil)) && models < m {
		m = models
	}
	if models != m || tools < n {
		return fmt.Errorf("observers heard of %d calls of models and %d of tools, made were %d and %d", models, tools, m, n)
	}
	return nil
}

func (o *outing) called(*testing.T) error {
	if _, tools := o.told(); tools > o.count(programGuard{}, ofTool) {
		return fmt.Errorf("observers heard of %d calls of tools, made were %d", tools, o.count(programGuard{}, ofTool))
	}
	return nil
}
