// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gardefou/gardefou/callbacks/answer"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/counters"
	"github.com/gardefou/gardefou/guards/ledger"
)

func TestTransient(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":            {nil, false},
		"429":                {fmt.Errorf("wrapped: %w", genai.APIError{Code: 429}), true},
		"503":                {genai.APIError{Code: 503}, true},
		"400":                {genai.APIError{Code: 400}, false},
		"401":                {genai.APIError{Code: 401}, false},
		"OpenAI's 429":       {fmt.Errorf("wrapped: %w", &openai.Error{StatusCode: 429}), true},
		"OpenAI's 400":       {&openai.Error{StatusCode: 400}, false},
		"a time-out":         {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, true},
		"a deadline":         {&guards.DeadlineError{Limit: time.Second}, true},
		"a broken body":      {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true},
		"no answer":          {answer.ErrNone, true},
		"anything else":      {errDSN, false},
		"a cancelled run":    {context.Canceled, false},
		"a refusal":          {callbacks.Deny("x", "no").WithCause(genai.APIError{Code: 503}), false},
		"a failed agent":     {&callbacks.FailedError{Refusal: callbacks.Fail("x", "no")}, false},
		"a confirmation":     {fmt.Errorf("pay: %w", tool.ErrConfirmationRequired), false},
		"a rejection":        {fmt.Errorf("pay: %w", tool.ErrConfirmationRejected), false},
		"a spent budget":     {errors.Join(ledger.ErrBudgetExceeded, genai.APIError{Code: 503}), false},
		"counters are away":  {fmt.Errorf("%w: %w", counters.ErrUnavailable, io.ErrUnexpectedEOF), false},
		"a confused wrapper": {fmt.Errorf("%w, then %w", genai.APIError{Code: 500}, context.Canceled), false},
	} {
		require.Equal(t, tc.want, guards.Transient(tc.err), name)
	}
}

// The wait doubles, with chance, and is the provider's where that asks for more.
func TestRetryWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		faults      []fault
		o           guards.RetryOptions
		least, most time.Duration
		calls       int
		err         bool
	}{
		"twice":                   {[]fault{serverError, tooMany, well}, guards.RetryOptions{}, 750 * time.Millisecond, 1500 * time.Millisecond, 3, false},
		"as long as it is asked":  {[]fault{toldToWait, well}, guards.RetryOptions{}, 20 * time.Second, 20 * time.Second, 2, false},
		"just as long as allowed": {[]fault{toldToWait, well}, guards.RetryOptions{MaxDelay: 20 * time.Second}, 20 * time.Second, 20 * time.Second, 2, false},
		"not as long as that":     {[]fault{toldToWait, well}, guards.RetryOptions{MaxDelay: 10 * time.Second}, 0, 0, 1, true},
		"no longer than allowed":  {[]fault{serverError, serverError, serverError, well}, guards.RetryOptions{Attempts: 4, Delay: time.Second, MaxDelay: time.Second}, 1500 * time.Millisecond, 3 * time.Second, 4, false},
		"what the user says":      {[]fault{badRequest, well}, guards.RetryOptions{Transient: func(error) bool { return true }}, 250 * time.Millisecond, 500 * time.Millisecond, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &faultyModel{name: "own", faults: tc.faults}
				start := time.Now()
				out, l := faulty(t, m, tc.o.Guard())
				took := time.Since(start) - time.Hour
				require.GreaterOrEqual(t, took, tc.least)
				require.LessOrEqual(t, took, tc.most)
				require.Equal(t, tc.calls, m.calls)
				require.Equal(t, tc.err, out.err != nil)
				l.once(t, tc.calls)
			})
		})
	}
}

func TestRetryStopsWaitingWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &faultyModel{name: "own", faults: []fault{toldToWait, well}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r, err := runnerOf(newAgent(t, "a", m, nil, guards.Retry()))
		require.NoError(t, err)
		start := time.Now()
		for range r.Run(ctx, "u", "s", genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{}) {
		}
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, 1, m.calls)
	})
}

// A budget error behind the first attempt is the end of it.
func TestRetryEndsWithTheBudget(t *testing.T) {
	m := callbackstest.Script(callbackstest.Fail(genai.APIError{Code: 503})).Repeat()
	out := play(t, newAgent(t, "a", m, nil, guards.RetryOptions{Attempts: 50, Delay: time.Nanosecond}.Guard(), guards.CallBudget(4)))
	require.NoError(t, out.err)
	require.Equal(t, 4, m.Calls())
	require.Equal(t, []string{"[guard] Model call budget exceeded: agent ended."}, texts(out.events))
}

func TestRetryMatrix(t *testing.T) {
	const (
		failed    = "lookup failed; check the arguments and call it again, or do without it"
		exhausted = "refused: lookup failed too often in a row; go on without it"
	)
	for name, tc := range map[string]struct {
		fails []bool
		reads []string
	}{
		"mended":         {[]bool{true, true, false}, []string{failed, failed, ""}},
		"exhausted":      {[]bool{true, true, true, true}, []string{failed, failed, failed, exhausted}},
		"not in a row":   {[]bool{true, true, false, true, true, false}, []string{failed, failed, "", failed, failed, ""}},
		"nothing failed": {[]bool{false}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			callbackstest.Matrix{
				Guards:  func() []callbacks.Guard { return []callbacks.Guard{guards.RetryOptions{Attempts: 1}.Guard()} },
				Refused: func(callbackstest.Cell) bool { return false },
				Tools: func() []tool.Tool {
					n := 0
					return []tool.Tool{callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
						n++
						if tc.fails[n-1] {
							return nil, errDSN
						}
						return map[string]any{"result": "ok"}, nil
					})}
				},
				Model: func() *callbackstest.Model {
					var turns []callbackstest.Turn
					for range tc.fails {
						turns = append(turns, callbackstest.Call("lookup", map[string]any{"password": "hunter2"}))
					}
					return callbackstest.Script(append(turns, callbackstest.Say("ok"))...)
				},
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					for i, want := range tc.reads {
						turn := tr.Model.Requests()[i+1].Contents
						got := turn[len(turn)-1].Parts[0].FunctionResponse.Response
						if want == "" {
							require.Equal(t, map[string]any{"result": "ok"}, got)
						} else {
							require.Equal(t, map[string]any{"error": want}, got, "no cause, no argument")
						}
					}
					for _, ev := range tr.Told {
						if ev.Step == callbacks.StepTool && ev.Code == codes.ToolFailed {
							require.ErrorIs(t, ev.Err, errDSN, "the cause is for the journal")
						}
					}
				},
			}.Run(t)
		})
	}
	t.Run("a model", func(t *testing.T) {
		callbackstest.Matrix{
			Guards: func() []callbacks.Guard {
				return []callbacks.Guard{guards.RetryOptions{Delay: time.Nanosecond}.Guard()}
			},
			Refused: func(c callbackstest.Cell) bool { return c.Form == callbackstest.FormPlugin },
			Model: func() *callbackstest.Model {
				return callbackstest.Script(callbackstest.Fail(genai.APIError{Code: 503}), callbackstest.Call("lookup", nil), callbackstest.Fail(genai.APIError{Code: 429}), callbackstest.Stream("an", "swer"))
			},
			Check: func(t *testing.T, tr *callbackstest.Trial) {
				require.NoError(t, tr.Err)
				require.Equal(t, 4, tr.Model.Calls())
				for _, ev := range tr.Told {
					if ev.Step == callbacks.StepModel {
						require.Equal(t, 2, ev.Attempt)
					}
				}
			},
		}.Run(t)
	})
}

// What guards and people decided about a tool is no failure of the tool, and what it says
// itself is left as it is.
func TestRetryLeavesDecisionsAlone(t *testing.T) {
	needs := &genai.FunctionDeclaration{Name: "lookup", Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"page"}}}
	for name, tc := range map[string]struct {
		tool *callbackstest.FakeTool
		gs   []callbacks.Guard
		want string
	}{
		"a refusal":          {callbackstest.Tool("lookup"), []callbacks.Guard{guards.AllowTools("other")}, "tool not allowed: lookup"},
		"a business error":   {callbackstest.ToolReturning("lookup", nil, guards.Business(errors.New("no such page"))), nil, "no such page"},
		"a missing argument": {callbackstest.ToolReturning("lookup", nil, errDSN).Declared(needs), nil, "missing argument: page"},
	} {
		t.Run(name, func(t *testing.T) {
			res := func() map[string]any {
				gs := append([]callbacks.Guard{guards.RetryOptions{Attempts: 1}.Guard()}, tc.gs...)
				for i, g := range gs {
					if info := g.Info; info != nil {
						gs[i].Info = func() callbacks.Info { i := info(); i.Tools = nil; return i }
					}
				}
				out := play(t, newAgent(t, "a", callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("ok")), []tool.Tool{tc.tool}, gs...))
				require.NoError(t, out.err)
				return responses(out.events)[0]
			}()
			require.Equal(t, map[string]any{"error": tc.want}, res)
		})
	}
	t.Run("a loop of failures is still a loop", func(t *testing.T) {
		rec := &callbackstest.Recorder{}
		fake := callbackstest.ToolReturning("lookup", nil, errDSN)
		out := play(t, newAgent(t, "a", endless(), []tool.Tool{fake}, guards.RetryOptions{Attempts: 1, ToolFailures: 10}.Guard(), guards.Loop(), rec.Guard()))
		require.NoError(t, out.err)
		require.Equal(t, []codes.Code{codes.RepeatedCall, codes.LoopDetected}, codesOf(rec.Events())[len(codesOf(rec.Events()))-2:])
	})
}

func TestRetryNonsense(t *testing.T) {
	for name, o := range map[string]guards.RetryOptions{
		"attempts": {Attempts: -1}, "delay": {Delay: -1}, "longest delay": {MaxDelay: -1}, "failures": {ToolFailures: -1},
	} {
		require.Error(t, callbacks.New(o.Guard()).Err(), name)
	}
	require.ErrorIs(t, callbacks.New(guards.CallBudget(3), guards.Retry()).Err(), callbacks.ErrOrder, "retries must be counted")
}

func ExampleRetry() {
	flaky := callbackstest.Script(
		callbackstest.Fail(genai.APIError{Code: 503}), callbackstest.Call("lookup", nil),
		callbackstest.Fail(genai.APIError{Code: 429}), callbackstest.Say("answer"),
	)
	chain := callbacks.New(guards.RetryOptions{Delay: time.Millisecond}.Guard(), guards.CallBudget(6))
	ask(chain.NewAgent(llmagent.Config{Name: "researcher", Model: flaky, Tools: []tool.Tool{callbackstest.ToolReturning("lookup", nil, errors.New("connection refused"))}}))
	fmt.Println("model calls:", flaky.Calls())
	// Output:
	// calls: lookup
	// reads: map[error:lookup failed; check the arguments and call it again, or do without it]
	// model: answer
	// model calls: 4
}
