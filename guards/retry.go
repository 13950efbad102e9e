// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"google.golang.org/adk/v2/agent"

	"github.com/gardefou/gardefou/callbacks"
)

// Defaults of [RetryOptions].
const (
	DefaultAttempts     = 3
	DefaultToolFailures = 3
	DefaultRetryDelay   = 500 * time.Millisecond
	DefaultMaxDelay     = 30 * time.Second
)

// RetryOptions are the options of [RetryWith].
type RetryOptions struct {
	// Attempts is how often a model is called for one step at most, the first call
	// included. Zero is 3; 1 never calls it again, and lets the guard work as a plugin.
	Attempts int
	// Delay is the wait before the second attempt; it doubles with each further one, and
	// up to half of it is left to chance. Zero is half a second.
	Delay time.Duration
	// MaxDelay is the longest wait. A provider that asks for a longer one is not called
	// again. Zero is 30 seconds.
	MaxDelay time.Duration
	// Transient says which errors of a model are worth another attempt. Nil is [Transient].
	// What was decided, a refusal say, is not asked about.
	Transient func(error) bool
	// ToolFailures is how often in a row a tool may fail for an agent before its calls are
	// refused. Zero is 3.
	ToolFailures int
}

// Retry calls a model again that failed in passing, and has an agent try a tool again
// that failed.
//
// A model call is made again where [Transient] says so and no chunk of its answer was
// handed out; Retry waits longer each time, or as long as the provider asks, and stops
// waiting with the context. Every attempt passes the guards after this one, which count
// and pay for each: put it before [CallBudget] and [Spend].
//
// A tool is not called again behind the model's back: it may have had its effect. The
// model reads that it failed and may be tried again, never why, and no argument; after
// some failures in a row the tool is refused to that agent. Errors that say themselves
// what a model may read keep their text.
//
// Refusals, rejected or pending approvals and budgets are never retried. It fails closed:
// the last error stands.
func Retry() callbacks.Guard { return RetryWith(RetryOptions{}) }

// RetryWith is [Retry] with options.
func RetryWith(o RetryOptions) callbacks.Guard {
	if err := errors.Join(
		notNegative("Retry", "Attempts", o.Attempts), notNegative("Retry", "Delay", o.Delay),
		notNegative("Retry", "MaxDelay", o.MaxDelay), notNegative("Retry", "ToolFailures", o.ToolFailures),
	); err != nil {
		return callbacks.Guard{Name: retryName, Err: err}
	}
	if o.Attempts == 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Delay == 0 {
		o.Delay = DefaultRetryDelay
	}
	if o.MaxDelay == 0 {
		o.MaxDelay = DefaultMaxDelay
	}
	if o.Transient == nil {
		o.Transient = Transient
	}
	if o.ToolFailures == 0 {
		o.ToolFailures = DefaultToolFailures
	}
	f := &toolFailures{most: o.ToolFailures, key: callbacks.NewKey(newFailures)}
	g := callbacks.Guard{
		Name: retryName,
		BeforeTool: func(ctx agent.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
			return nil, f.refuse(ctx, t.Name())
		},
		OnToolError: f.reflect,
		Observe:     f.observe,
		Info: func() callbacks.Info {
			return callbacks.Info{Limits: []string{
				fmt.Sprintf("%d attempts per model call", o.Attempts), fmt.Sprintf("%d failures of a tool in a row", o.ToolFailures),
			}}
		},
	}
	if o.Attempts > 1 {
		g.WrapModel = func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return &retriedModel{next, o} }
	}
	return g
}

type retriedModel struct {
	model.LLM
	o RetryOptions
}

// GenerateContent implements model.LLM.
func (m *retriedModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for n := 1; ; n++ {
			began, err := deliver(m.LLM.GenerateContent(ctx, req, stream), func(resp *model.LLMResponse) bool { return yield(resp, nil) })
			if err == nil {
				return
			}
			if began || n >= m.o.Attempts || decided(err) || ctx.Err() != nil || !m.o.Transient(err) || !m.wait(ctx, n, err) {
				yield(nil, err)
				return
			}
		}
	}
}

// deliver hands on what an attempt yields. It reports whether anything was handed on, and
// the attempt's error; nothing at all is [callbacks.ErrNoAnswer].
func deliver(answer iter.Seq2[*model.LLMResponse, error], give func(*model.LLMResponse) bool) (began bool, err error) {
	for resp, err := range answer {
		if err != nil {
			return began, err
		}
		began = true
		if !give(resp) {
			return began, nil
		}
	}
	if !began {
		return false, callbacks.ErrNoAnswer
	}
	return true, nil
}

// wait sleeps before attempt n+1. It reports whether that is to be made.
func (m *retriedModel) wait(ctx context.Context, n int, err error) bool {
	delay := min(m.o.MaxDelay, m.o.Delay<<min(n-1, 20))
	delay -= time.Duration(rand.Int64N(int64(delay)/2 + 1)) //nolint:gosec // spreads load, keeps no secret
	if asked := askedDelay(err); asked > delay {
		delay = asked
	}
	if delay > m.o.MaxDelay {
		return false
	}
	return sleep(ctx, delay) == nil
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
