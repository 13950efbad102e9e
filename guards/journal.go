// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal/line"
	"github.com/gardefou/gardefou/redact"
)

// JournalOptions are the options of [Journal].
type JournalOptions struct {
	// Writer gets one whole line a Write. Required. The journal does not close it.
	Writer io.Writer
	// AttemptOf names what the Runs are attempts of, where one that was stopped is resumed by
	// another: they then count as one. Empty means that each Run is on its own.
	AttemptOf string
	// Redactor masks arguments, reasons and errors. Nil masks e-mail addresses and
	// IBANs with English labels, whatever the language of the Run.
	Redactor *redact.Redactor
	// OnError is called when a line can't be written: with the error of Writer, or a
	// [callbacks.PanicError] where Writer, Redactor or Now panics. It is called by several
	// goroutines at once; a panic in it is dropped. Nil drops the line: a journal that must
	// not be lost needs this.
	OnError func(error)
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

// Journal writes one JSON line, a [line.Line], for each step of a Run, UTF-8 not escaped,
// keys as below and frozen:
//
//	kind     every line has: kind, ts (RFC 3339, UTC), run
//	run      the first line of a Run: attempt_of
//	model    invocation, agent, model, served, attempts, tokens_in, tokens_out, tokens_thinking,
//	         tokens_cached, charged, landed, outcome, guard, code, reason, cause, ms
//	tool     invocation, agent, tool, call_id, args, charged, error, outcome, guard,
//	         code, reason, cause, ms
//	approval agent, tool, call_id, decision, by, asked, answered, always: what a person decided
//	         about a tool call, before its tool line
//	prefix   agent, call, part, tool, at, before, after: a prompt that changed, before its
//	         model line
//	refusal  invocation, agent, step, tool, guard, code, reason, cause, outcome, stop
//	spend    agent, what, calls, refused, estimated, reserved, charged, overrun (in USD, as
//	         strings), tokens_in, tokens_out, tokens_cached;
//	         one for each agent and model or paid tool, before the last line
//	end      the last line of a Run: status, agent, guard, code, reason, model_calls,
//	         tool_calls, refusals
//
// Of args and always, what JSON has no form for is written as a string: "NaN", "+Inf".
//
// charged, in a model or tool line, is what was charged to the agent since its last such line,
// in USD, as a string: what a Run cost that was killed before its spend lines.
//
// tokens_out leaves thinking out where the provider reports it apart. A step that
// was refused has a refusal line, after its model or tool line where it has one: a
// refused model call that never reached the model has none.
//
// Lines are written whole, one at a time, by any number of agents at once. With a
// journal.Writer or journal.File of package guards/journal every line carries the hash
// of the line before, and what was changed later is found. The journal fails open: what
// goes wrong with a line, a panic of the writer included, is reported to OnError, and the
// run goes on. It waits for the writer: a writer that blocks holds the run up.
//
// Use it on every agent; for figures that a monitoring system collects use package telemetry
// beside it.
func Journal(w io.Writer) callbacks.Guard { return JournalOptions{Writer: w}.Guard() }

// Guard returns the guard that [Journal] describes, with these options.
func (o JournalOptions) Guard() callbacks.Guard {
	g := callbacks.Guard{Name: "journal"}
	if o.Writer == nil {
		g.Err = errors.New("guards: Journal without a writer")
		return g
	}
	if o.Redactor == nil {
		o.Redactor = redactEN
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	j := &journal{o: o}
	j.run = callbacks.NewKey(func() *journalRun { return &journalRun{} })
	g.Observe, g.ObserveMonitored = j.observe, j.observe
	g.Info = func() callbacks.Info { return callbacks.Info{Fails: "open"} }
	return g
}

type journal struct {
	o   JournalOptions
	mu  sync.Mutex
	run *callbacks.Key[*journalRun]
}

// journalRun is what the journal counts for the end line of one Run.
type journalRun struct {
	begin                           sync.Once
	mu                              sync.Mutex
	modelCalls, toolCalls, refusals int
	// others is how many lines of other guards were written.
	others int
	// told is what the lines so far say was charged, by agent.
	told map[string]line.Amount
}

func (j *journal) observe(ctx context.Context, ev callbacks.Event) {
	defer j.reportPanic()
	run := callbacks.RunOf(ctx)
	state := j.run.In(run)
	if run != nil {
		state.begin.Do(func() {
			run.OnClose(func() { j.end(run, state) })
			l := j.begin(line.KindRun, run)
			l.AttemptOf = j.o.AttemptOf
			j.write(l)
		})
	}
	refused := isRefused(ev.Outcome)
	state.count(ev, refused)
	switch ev.Step {
	case callbacks.StepModel:
		j.others(run, state)
		if ev.Attempt > 0 || !refused {
			j.write(j.modelLine(run, ev, state.charged(run, ev.Agent)))
		}
	case callbacks.StepTool:
		j.others(run, state)
		if ev.Outcome != callbacks.OutcomeWouldRefuse {
			j.write(j.toolLine(run, ev, state.charged(run, ev.Agent)))
		}
	}
	if refused || ev.Step == callbacks.StepAgent && ev.Outcome != callbacks.OutcomeAllowed {
		l := j.eventLine(line.KindRefusal, run, ev)
		l.Step, l.Stop = string(ev.Step), ev.Stop
		j.write(l)
	}
}

// others writes what other guards left since it was last called.
func (j *journal) others(run *callbacks.Run, s *journalRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lineBy := range journalledKey.In(run).since(s.others) {
		s.others++
		j.write(lineBy(j, run))
	}
}

// charged returns what was charged to an agent and no line has told yet.
func (s *journalRun) charged(run *callbacks.Run, agentName string) line.Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := journalledKey.In(run).charged(agentName)
	more := all - s.told[agentName]
	if more != 0 {
		if s.told == nil {
			s.told = make(map[string]line.Amount)
		}
		s.told[agentName] = all
	}
	return more
}

func isRefused(o callbacks.Outcome) bool {
	return o == callbacks.OutcomeRefused || o == callbacks.OutcomePanicked || o == callbacks.OutcomeWouldRefuse
}

func (s *journalRun) count(ev callbacks.Event, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev.Step {
	case callbacks.StepModel:
		s.modelCalls += ev.Attempt
	case callbacks.StepTool:
		if ev.Outcome != callbacks.OutcomeWouldRefuse {
			s.toolCalls++
		}
	}
	if refused {
		s.refusals++
	}
}

func (s *journalRun) counts() (modelCalls, toolCalls, refusals int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.modelCalls, s.toolCalls, s.refusals
}

// begin returns a line of a Run with what every line has. run may be nil.
func (j *journal) begin(kind string, run *callbacks.Run) line.Line {
	l := line.Line{Kind: kind, TS: j.o.Now().UTC()}
	if run != nil {
		l.Run = run.ID()
	}
	return l
}

// eventLine returns a line with what the lines of events have, of which its kind leaves some out.
func (j *journal) eventLine(kind string, run *callbacks.Run, ev callbacks.Event) line.Line {
	l := j.begin(kind, run)
	l.Invocation, l.Agent, l.Outcome, l.MS = ev.Invocation, ev.Agent, string(ev.Outcome), ev.Duration.Milliseconds()
	l.Tool, l.CallID = j.mask(ev.Tool), j.mask(ev.CallID)
	l.Guard, l.Code, l.Reason, l.Cause = ev.Guard, string(ev.Code), j.mask(ev.Reason), j.cause(ev.Err)
	return l
}

func (j *journal) modelLine(run *callbacks.Run, ev callbacks.Event, charged line.Amount) line.Line {
	l := j.eventLine(line.KindModel, run, ev)
	l.Model, l.Served, l.Attempts, l.Landed, l.Charged = ev.Model, ev.ServedModel, ev.Attempt, ev.Landed, charged
	if u := ev.Usage; u != nil {
		l.In, l.Out = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount)
		l.Thinking, l.Cached = int64(u.ThoughtsTokenCount), int64(u.CachedContentTokenCount)
	}
	return l
}

func (j *journal) toolLine(run *callbacks.Run, ev callbacks.Event, charged line.Amount) line.Line {
	args, ok := j.maskedJSON(ev.Args)
	if !ok {
		args = json.RawMessage("{}")
	}
	l := j.eventLine(line.KindTool, run, ev)
	l.Args, l.Charged, l.Error = args, charged, ev.Result != nil && !succeeded(ev.Result, nil)
	return l
}

func (j *journal) end(run *callbacks.Run, s *journalRun) {
	defer j.reportPanic()
	out, l := run.Outcome(), j.begin(line.KindEnd, run)
	l.Status, l.Agent, l.Guard, l.Code, l.Reason = string(out.Status), out.Agent, out.Guard, string(out.Code), j.mask(out.Reason)
	l.ModelCalls, l.ToolCalls, l.Refusals = s.counts()
	j.others(run, s)
	for _, last := range journalledKey.In(run).ending(j, run) {
		j.write(last)
	}
	j.write(l)
}

func (j *journal) mask(s string) string { return j.o.Redactor.String(s) }

func (j *journal) cause(err error) string {
	if err == nil {
		return ""
	}
	return j.mask(err.Error())
}

func (j *journal) write(l line.Line) {
	data, err := l.Encode()
	if err == nil {
		err = j.put(data)
	}
	if err != nil {
		j.report(err)
	}
}

// put writes one line. The writer may panic: the next line must find the lock free.
func (j *journal) put(data []byte) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	_, err = j.o.Writer.Write(data)
	return err
}

// reportPanic, deferred, reports what panicked in the making of lines.
func (j *journal) reportPanic() {
	if p := recover(); p != nil {
		j.report(panicError(p))
	}
}

func (j *journal) report(err error) {
	if j.o.OnError == nil {
		return
	}
	defer func() { _ = recover() }()
	j.o.OnError(err)
}

func panicError(p any) error { return &callbacks.PanicError{Panic: p, Stack: debug.Stack()} }
