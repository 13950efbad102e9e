// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/answer"
)

// Defaults of [RetryOptions].
const (
	defaultAttempts     = 3
	defaultToolFailures = 3
	defaultRetryDelay   = 500 * time.Millisecond
	defaultMaxDelay     = 30 * time.Second
)

// RetryOptions are the options of [Retry].
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
// handed out, whether it failed with an error or with a response that is no answer
// ([answer.Check]); Retry waits longer each time, or as long as the provider asks, and stops
// waiting with the context. Every attempt passes the guards after this one, which count
// and pay for each: put it before [CallBudget] and [Spend].
//
// A tool is not called again behind the model's back: it may have had its effect. The
// model reads that it failed and may be tried again, never why, and no argument; after
// some failures in a row the tool is refused to that agent. Errors that say themselves
// what a model may read keep their text.
//
// Refusals, rejected or pending approvals and budgets are never retried. It fails closed:
// the last error, or the last response that is no answer, stands.
//
// Use it when a provider fails in passing; use [Route] where another model can take over.
func Retry() callbacks.Guard { return RetryOptions{}.Guard() }

// Guard returns the guard that [Retry] describes, with these options.
func (o RetryOptions) Guard() callbacks.Guard {
	if err := errors.Join(
		notNegative("Retry", "Attempts", o.Attempts), notNegative("Retry", "Delay", o.Delay),
		notNegative("Retry", "MaxDelay", o.MaxDelay), notNegative("Retry", "ToolFailures", o.ToolFailures),
	); err != nil {
		return callbacks.Guard{Name: retryName, Err: err}
	}
	if o.Attempts == 0 {
		o.Attempts = defaultAttempts
	}
	if o.Delay == 0 {
		o.Delay = defaultRetryDelay
	}
	if o.MaxDelay == 0 {
		o.MaxDelay = defaultMaxDelay
	}
	if o.Transient == nil {
		o.Transient = Transient
	}
	if o.ToolFailures == 0 {
		o.ToolFailures = defaultToolFailures
	}
	f := &toolFailures{most: o.ToolFailures, key: callbacks.NewPlaceKey(newFailures)}
	g := callbacks.Guard{
		Name: retryName,
		BeforeTool: func(ctx agent.Context, t tool.Tool, _ map[string]any) (map[string]any, error) {
			return nil, f.refuse(ctx, t.Name())
		},
		OnToolError: f.reflect,
		Observe:     f.observe,
		Info: func() callbacks.Info {
			return callbacks.Info{OnlyJudges: true, Limits: []string{
				fmt.Sprintf("%d attempts per model call", o.Attempts), fmt.Sprintf("%d failures of a tool in a row", o.ToolFailures),
			}}
		},
	}
	if o.Attempts > 1 {
		g.WrapModel = func(next model.LLM, _ func(model.LLM) model.LLM) model.LLM { return o.wrapModel(next) }
	}
	return g
}

func (o RetryOptions) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			for n := 1; ; n++ {
				began, err := deliver(next.GenerateContent(ctx, req, stream), func(resp *model.LLMResponse) bool { return yield(resp, nil) })
				if err == nil {
					return
				}
				if began || n >= o.Attempts || decided(err) || ctx.Err() != nil || !o.Transient(err) || !o.wait(ctx, n, err) {
					giveUp(err, yield)
					return
				}
			}
		}
	})
}

// A noAnswer is the error of an attempt that ended with a response that is no answer. It
// keeps what has not been handed on.
type noAnswer struct {
	error
	held []*model.LLMResponse
}

func (e *noAnswer) Unwrap() error { return e.error }

// deliver hands on what an attempt yields. It reports whether anything was handed on that
// a reader would miss, and the attempt's error: nothing at all is [answer.ErrNone],
// and a whole response that is no answer is what [answer.Check] says. Chunks that
// hold nothing wait for one that does, so that such a response can be thrown away.
func deliver(responses iter.Seq2[*model.LLMResponse, error], give func(*model.LLMResponse) bool) (began bool, err error) {
	var held []*model.LLMResponse
	for resp, err := range responses {
		if err != nil {
			return began, err
		}
		held = append(held, resp)
		if fault := answer.Check(resp); fault != nil {
			return began, &noAnswer{fault, held}
		}
		if resp != nil && resp.Partial && !began && empty(resp.Content) {
			continue
		}
		for _, resp := range held {
			began = true
			if !give(resp) {
				return began, nil
			}
		}
		held = nil
	}
	if !began {
		return false, &noAnswer{answer.ErrNone, held}
	}
	return true, nil
}

// empty reports whether a chunk holds nothing that its reader would miss.
func empty(c *genai.Content) bool {
	return c == nil || !slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p != nil && !reflect.ValueOf(*p).IsZero() })
}

// giveUp hands on how the last attempt ended: the response itself where it was no answer.
func giveUp(err error, yield func(*model.LLMResponse, error) bool) {
	var last *noAnswer
	if !errors.As(err, &last) || !slices.ContainsFunc(last.held, func(resp *model.LLMResponse) bool { return resp != nil && !resp.Partial }) {
		yield(nil, err)
		return
	}
	for _, resp := range last.held {
		if !yield(resp, nil) {
			return
		}
	}
}

// wait sleeps before attempt n+1. It reports whether that is to be made.
func (o RetryOptions) wait(ctx context.Context, n int, err error) bool {
	delay := min(o.MaxDelay, o.Delay<<min(n-1, 20))
	delay -= time.Duration(rand.Int64N(int64(delay)/2 + 1)) //nolint:gosec // spreads load, keeps no secret
	if asked := askedDelay(err); asked > delay {
		delay = asked
	}
	if delay > o.MaxDelay {
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
