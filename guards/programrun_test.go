// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/journal"
)

// What a caller waits for a program, and what a deaf call may add to it.
const (
	callerWaits = 10 * time.Minute
	deafMayAdd  = 5 * time.Minute
)

// An outing is one run of a program and what it left.
type outing struct {
	*world
	refused         error // at construction
	events, stored  []event
	state           map[string]any
	err             error
	cancelled, left bool // by the caller
	took            time.Duration
	end             callbacks.Result
}

// playProgram runs a program in time of its own, and says which laws it broke. A program
// whose guards are in the wrong order is refused.
func playProgram(t *testing.T, spec programSpec) (broken []violation, refused error) {
	t.Helper()
	watch := time.AfterFunc(programHangs, func() {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "program %d hangs: %s\n\n%s\n", spec.Seed, spec, stacks[:runtime.Stack(stacks, true)])
		os.Exit(2)
	})
	defer watch.Stop()
	defer func() {
		if p := recover(); p != nil {
			broken = append(broken, violation{"stuck", fmt.Sprint(p)})
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		o := &outing{world: newWorld(spec)}
		o.play(t)
		if refused = o.refused; refused == nil {
			broken = o.judge(t)
		}
	})
	return broken, refused
}

// programHangs is how long a program may take of the real time; it takes milliseconds.
const programHangs = 20 * time.Second

func (o *outing) play(t *testing.T) {
	t.Helper()
	root, p, err := o.agents()
	if err != nil {
		o.refused = err
		return
	}
	cfg := runnerConfig(root, p)
	r, err := runner.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mode := agent.RunConfig{StreamingMode: agent.StreamingModeNone}
	if o.spec.Stream {
		mode.StreamingMode = agent.StreamingModeSSE
	}
	parent, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ctx, stop := context.WithTimeout(parent, callerWaits)
	defer stop()
	start := func(ctx context.Context) iter.Seq2[event, error] {
		return r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), mode)
	}
	if o.spec.Launched {
		o.follow(start(ctx), cancel)
	} else {
		runCtx, run := callbacks.Start(ctx)
		o.run = run
		if o.spec.Stop.From == "outside" {
			go func() {
				time.Sleep(time.Duration(o.spec.Stop.At)*time.Millisecond + 500*time.Microsecond)
				o.stop(run)
			}()
		}
		o.follow(run.Events(start(runCtx)), cancel)
	}
	o.took = time.Since(o.begin)
	time.Sleep(time.Hour) // what was abandoned comes back
	synctest.Wait()
	o.finish(t, cfg.SessionService)
}

func (o *outing) follow(events iter.Seq2[event, error], cancel context.CancelCauseFunc) {
	n := 0
	for ev, err := range events {
		if err != nil {
			o.err = errors.Join(o.err, err)
		} else {
			o.events = append(o.events, ev)
		}
		if n++; n != o.spec.Cut.At {
			continue
		}
		switch o.spec.Cut.Do {
		case "break":
			o.left = true
			return
		case "cancel":
			o.cancelled = true
			cancel(nil)
		case "cause":
			o.cancelled = true
			cancel(errors.New("the caller has had enough"))
		}
	}
}

func (o *outing) finish(t *testing.T, sessions session.Service) {
	t.Helper()
	if o.run == nil { // nothing was observed
		_, o.run = callbacks.Start(t.Context())
	}
	o.end = o.run.Outcome()
	o.run.Close()
	if o.journal != nil {
		o.journal.close()
	}
	got, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "test", UserID: "u", SessionID: "s"})
	if err != nil {
		return // it broke before the session was made
	}
	for ev := range got.Session.Events().All() {
		o.stored = append(o.stored, ev)
	}
	o.state = maps.Collect(got.Session.State().All())
}

// A programJournal is the writer of a program's journal: sound, one that panics at some
// writes, or one that fails at some.
type programJournal struct {
	mu    sync.Mutex
	sound bool
	bad   string
	n     int
	lines bytes.Buffer
	*journal.Writer
}

func newProgramJournal(n int) *programJournal {
	j := &programJournal{bad: map[int]string{5: "panics", 6: "fails"}[n]}
	j.sound = j.bad == ""
	j.Writer = journal.NewWriter(&j.lines)
	return j
}

// Write implements io.Writer.
func (j *programJournal) Write(line []byte) (int, error) {
	j.mu.Lock()
	j.n++
	bad := j.n%3 == 0
	j.mu.Unlock()
	switch {
	case bad && j.bad == "panics":
		panic("the writer breaks")
	case bad && j.bad == "fails":
		return 0, errors.New("the disk is full")
	}
	return j.Writer.Write(line)
}

func (j *programJournal) close() {
	if err := j.Close(); err != nil {
		j.sound = false
	}
}
