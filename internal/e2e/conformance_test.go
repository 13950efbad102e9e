// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

func vectors[T any](t *testing.T, name string) []T {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(read(t, filepath.Join("testdata", "conformance", name))))
	dec.DisallowUnknownFields()
	var all []T
	require.NoError(t, dec.Decode(&all))
	require.NotEmpty(t, all)
	return all
}

// conformanceRun plays root and returns the run and its events.
func conformanceRun(t *testing.T, root agent.Agent) (*callbacks.Run, []*session.Event) {
	t.Helper()
	r, err := runner.NewInMemory("conformance", root)
	require.NoError(t, err)
	ctx, run := callbacks.Start(t.Context())
	t.Cleanup(run.Close)
	var events []*session.Event
	for ev, err := range run.Events(r.Run(ctx, "u", "s", genai.NewContentFromText("question", genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			break
		}
		events = append(events, ev)
	}
	return run, events
}

type hookAnswer struct {
	Map       map[string]any
	Set       map[string]any
	Deny      string
	End       string
	Stop      string
	Error     string
	Panic     string
	Arguments bool
}

// give is the answer as a hook gives it; edit is what Set goes into.
func (a hookAnswer) give(given, edit map[string]any) (map[string]any, error) {
	for k, v := range a.Set {
		edit[k] = v
	}
	switch {
	case a.Map != nil:
		return a.Map, nil
	case a.Deny != "":
		return nil, callbacks.Deny("conformance", a.Deny)
	case a.End != "":
		return nil, callbacks.End("conformance", a.End)
	case a.Stop != "":
		return nil, callbacks.Stop("conformance", a.Stop)
	case a.Error != "":
		return nil, errors.New(a.Error)
	case a.Panic != "":
		panic(a.Panic)
	case a.Arguments:
		return given, nil
	}
	return nil, nil
}

func TestConformanceChain(t *testing.T) {
	for _, v := range vectors[struct {
		Name   string
		Guards []struct {
			Name       string
			BeforeTool *hookAnswer `json:"before_tool"`
			AfterTool  *hookAnswer `json:"after_tool"`
		}
		ToolError string `json:"tool_error"`
		Ran       []string
		Called    map[string]any
		Reads     map[string]any
		ReadsNot  string `json:"reads_not"`
		Status    callbacks.Status
		// Silent: the model has nothing to say after the call.
		Silent bool
	}](t, "chain.json") {
		t.Run(v.Name, func(t *testing.T) {
			var mu sync.Mutex
			var ran []string
			note := func(s string) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, s)
			}
			var gs []callbacks.Guard
			for _, g := range v.Guards {
				made := callbacks.Guard{Name: g.Name}
				if a := g.BeforeTool; a != nil {
					made.BeforeTool = func(_ agent.Context, _ tool.Tool, args map[string]any) (map[string]any, error) {
						note("before " + g.Name)
						return a.give(args, args)
					}
				}
				if a := g.AfterTool; a != nil {
					made.AfterTool = func(_ agent.Context, _ tool.Tool, args, result map[string]any, _ error) (map[string]any, error) {
						note("after " + g.Name)
						return a.give(args, result)
					}
				}
				gs = append(gs, made)
			}
			fake := callbackstest.Tool("lookup")
			if v.ToolError != "" {
				fake = callbackstest.ToolReturning("lookup", nil, errors.New(v.ToolError))
			}
			m := callbackstest.Script(callbackstest.Call("lookup", map[string]any{"q": "x"}), callbackstest.Say("answer"))
			a, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: "a", Model: m, Tools: []tool.Tool{fake}})
			require.NoError(t, err)
			run, events := conformanceRun(t, a)

			require.Equal(t, v.Ran, ran)
			if v.Called == nil {
				require.Empty(t, fake.Calls())
			} else {
				require.Equal(t, []map[string]any{v.Called}, fake.Calls())
			}
			var reads map[string]any
			said := ""
			for _, ev := range events {
				for _, p := range ev.Content.Parts {
					if p.FunctionResponse != nil {
						reads = p.FunctionResponse.Response
					}
					said += p.Text
				}
			}
			if v.ReadsNot != "" {
				require.NotContains(t, fmt.Sprint(reads), v.ReadsNot)
				require.NotContains(t, jsonText(t, reads), v.ReadsNot)
				require.NotEmpty(t, reads["error"])
			} else {
				require.Equal(t, v.Reads, reads)
			}
			require.Equal(t, v.Silent, !strings.Contains(said, "answer"))
			require.Equal(t, v.Status, run.Outcome().Status)
		})
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestConformanceBudget(t *testing.T) {
	for _, v := range vectors[struct {
		Name     string
		Calls    int
		Scope    string
		Parallel bool
		Landing  bool
		Agents   []struct {
			Name  string
			Wants int
		}
		Reached int
		Refused *int
		Status  callbacks.Status
	}](t, "budget.json") {
		t.Run(v.Name, func(t *testing.T) {
			o := guards.CallBudgetOptions{Calls: v.Calls}
			if v.Scope == "run" {
				o.Scope = guards.ScopeRun
			}
			rec := &callbackstest.Recorder{}
			budget := o.Guard() // one value is one account
			var subs []agent.Agent
			var models []*callbackstest.Model
			for _, a := range v.Agents {
				var turns []callbackstest.Turn
				for i := range a.Wants - 1 {
					turns = append(turns, callbackstest.Call("lookup", map[string]any{"page": i}))
				}
				m := callbackstest.Script(append(turns, callbackstest.Say("answer"))...)
				models = append(models, m)
				if v.Scope == "agent" {
					budget = o.Guard()
				}
				gs := []callbacks.Guard{budget, rec.Guard()}
				if v.Landing {
					gs = append(gs, guards.Landing())
				}
				sub, err := callbacks.New(gs...).NewAgent(llmagent.Config{Name: a.Name, Model: m, Tools: []tool.Tool{callbackstest.Tool("lookup")}})
				require.NoError(t, err)
				subs = append(subs, sub)
			}
			cfg := agent.Config{Name: "root", SubAgents: subs}
			root, err := sequentialagent.New(sequentialagent.Config{AgentConfig: cfg})
			if v.Parallel {
				root, err = parallelagent.New(parallelagent.Config{AgentConfig: cfg})
			}
			require.NoError(t, err)
			run, _ := conformanceRun(t, root)
			reached, refused := 0, 0
			for _, m := range models {
				reached += m.Calls()
			}
			for _, ev := range rec.Events(callbacks.StepModel) {
				if ev.Outcome == callbacks.OutcomeRefused {
					refused++
				}
			}
			require.Equal(t, v.Reached, reached)
			if v.Refused != nil {
				require.Equal(t, *v.Refused, refused)
			}
			require.Equal(t, v.Status, run.Outcome().Status)
		})
	}
}

type ledgerStep struct {
	Open, Reserve, Commit, Release, Adjust, Close, Balance ledger.AccountID

	Mode            ledger.Mode
	Call, Approval  string
	Amount          ledger.Nano
	Hard, Soft      ledger.Nano
	Unknown         bool
	Proof           ledger.ProofReason
	Used, Committed *ledger.Nano
	Overrun         *ledger.Nano
	Error           string
}

func (s ledgerStep) do(ctx context.Context, t *testing.T, l ledger.Ledger) error {
	t.Helper()
	key := func(id ledger.AccountID) ledger.Key { return ledger.Key{Account: id, Call: s.Call, Attempt: 1} }
	limits := ledger.Limits{Hard: s.Hard, Soft: s.Soft}
	var err error
	switch {
	case s.Open != "":
		_, err = l.Open(ctx, ledger.Opening{Account: s.Open, Mode: s.Mode, Limits: limits})
	case s.Reserve != "":
		_, err = l.Reserve(ctx, ledger.Request{Key: key(s.Reserve), Amount: s.Amount})
	case s.Commit != "":
		c := ledger.Charge{Source: ledger.SourceProvider, Actual: s.Amount}
		if s.Unknown {
			c = ledger.Charge{}
		}
		_, err = l.Commit(ctx, key(s.Commit), c)
	case s.Release != "":
		err = l.Release(ctx, key(s.Release), ledger.Proof{Reason: s.Proof})
	case s.Adjust != "":
		_, err = l.Adjust(ctx, ledger.Adjustment{Account: s.Adjust, Approval: s.Approval, Limits: limits})
	case s.Close != "":
		_, err = l.Close(ctx, s.Close)
	case s.Balance != "":
		b, err := l.Balance(ctx, s.Balance)
		require.NoError(t, err)
		for _, want := range []struct {
			what string
			want *ledger.Nano
			got  ledger.Nano
		}{{"used", s.Used, b.Used()}, {"committed", s.Committed, b.Committed}, {"overrun", s.Overrun, b.Overrun}} {
			if want.want != nil {
				require.Equal(t, *want.want, want.got, want.what)
			}
		}
	default:
		t.Fatalf("a step that does nothing: %+v", s)
	}
	return err
}

func TestConformanceLedger(t *testing.T) {
	for _, v := range vectors[struct {
		Name  string
		Steps []ledgerStep
	}](t, "ledger.json") {
		memory, err := ledger.NewMemory(ledger.MemoryOptions{})
		require.NoError(t, err)
		file, err := ledger.OpenFile(filepath.Join(t.TempDir(), "ledger"), ledger.FileOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, file.CloseFile()) })
		for name, l := range map[string]ledger.Ledger{"memory": memory, "file": file} {
			t.Run(v.Name+"/"+name, func(t *testing.T) {
				for i, s := range v.Steps {
					err := s.do(t.Context(), t, l)
					if s.Error == "" {
						require.NoError(t, err, "step %d", i)
						continue
					}
					require.ErrorContains(t, err, s.Error, "step %d", i)
				}
			})
		}
	}
}
