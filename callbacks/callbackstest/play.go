// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbackstest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
)

// Play runs an agent on one question, in a session and a Run of their own, and writes to
// w what the session then holds: a line for each call, result and text, and how the Run
// ended. It is for examples and first tries; a program ranges over [callbacks.Run.Events]
// itself. The error is the one that ended the run, or the writer's.
func Play(w io.Writer, a agent.Agent, question string) (callbacks.Result, error) {
	r, err := runner.NewInMemory("play", a)
	if err != nil {
		return callbacks.Result{}, fmt.Errorf("callbackstest: %w", err)
	}
	ctx, run := callbacks.Start(context.Background())
	defer run.Close()
	out := &failingWriter{w: w}
	for ev, err := range run.Events(r.Run(ctx, User, Session, genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			return run.Outcome(), err
		}
		script(out, ev)
	}
	fmt.Fprintf(out, "status: %s\n", run.Outcome().Status)
	return run.Outcome(), out.err
}

// script writes the parts of one event as a play's script has them.
func script(w io.Writer, ev *session.Event) {
	if ev.Content == nil || ev.Partial {
		return
	}
	for _, p := range ev.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			fmt.Fprintf(w, "%s calls %s %s\n", ev.Author, p.FunctionCall.Name, inLine(p.FunctionCall.Args))
		case p.FunctionResponse != nil:
			fmt.Fprintf(w, "%s returns %s\n", p.FunctionResponse.Name, inLine(p.FunctionResponse.Response))
		case p.Text != "":
			fmt.Fprintf(w, "%s says %q\n", ev.Author, p.Text)
		}
	}
}

// inLine is a value as JSON on one line.
func inLine(v map[string]any) string {
	if len(v) == 0 {
		return "{}"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// failingWriter keeps the first error of a writer, which then gets nothing more.
type failingWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (f *failingWriter) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.w.Write(p)
	f.err = err
	return n, err
}
