// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
)

// saying is a tool that says itself whether it writes.
type saying struct {
	*callbackstest.FakeTool
	writes bool
}

func (s saying) Writes() bool { return s.writes }

func (s saying) ProcessRequest(_ agent.Context, req *model.LLMRequest) error {
	return toolutils.PackTool(req, s)
}

func TestCheckpointMatrix(t *testing.T) {
	full := errors.New("disk full at /var/lib/secret")
	for name, tc := range map[string]struct {
		tool  func() tool.Tool
		names []string
		err   error
		panic bool
		taken int
		reads string
	}{
		"by name":          {func() tool.Tool { return callbackstest.Tool("lookup") }, []string{"lookup"}, nil, false, 1, ""},
		"by the tool":      {func() tool.Tool { return saying{callbackstest.Tool("lookup"), true} }, nil, nil, false, 1, ""},
		"a reading tool":   {func() tool.Tool { return saying{callbackstest.Tool("lookup"), false} }, nil, nil, false, 0, ""},
		"not named":        {func() tool.Tool { return callbackstest.Tool("lookup") }, nil, nil, false, 0, ""},
		"a streaming tool": {func() tool.Tool { return callbackstest.StreamingTool("lookup", "ok") }, []string{"lookup"}, nil, false, 1, ""},
		"that fails":       {func() tool.Tool { return callbackstest.Tool("lookup") }, []string{"lookup"}, full, false, 1, "refused: no restore point could be taken before lookup"},
		"stream that fails": {
			func() tool.Tool { return callbackstest.StreamingTool("lookup", "ok") },
			[]string{"lookup"},
			full, false, 1,
			"refused: no restore point could be taken before lookup",
		},
		"that panics": {func() tool.Tool { return callbackstest.Tool("lookup") }, []string{"lookup"}, nil, true, 1, "tool failed: lookup"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var taken []callbacks.Step
			callbackstest.Matrix{
				Guards: func() []callbacks.Guard {
					taken = nil
					return []callbacks.Guard{guards.Checkpoint(func(_ context.Context, s callbacks.Step) error {
						mu.Lock()
						defer mu.Unlock()
						taken = append(taken, s)
						if tc.panic {
							panic("no disk")
						}
						return tc.err
					}, tc.names...)}
				},
				Tools: func() []tool.Tool { return []tool.Tool{tc.tool()} },
				Check: func(t *testing.T, tr *callbackstest.Trial) {
					require.NoError(t, tr.Err)
					if tr.Form == callbackstest.FormPlugin && tr.Topology == callbackstest.TopologyAgentTool && tc.names == nil {
						return // the agent stands behind a chain of its own
					}
					require.Len(t, taken, tc.taken)
					ran := len(tr.Tools[0].(interface{ Calls() []map[string]any }).Calls())
					turn := tr.Model.Requests()[1].Contents
					res := turn[len(turn)-1].Parts[0].FunctionResponse.Response
					if tc.reads == "" {
						require.Equal(t, map[string]any{"result": "ok"}, res)
						require.Equal(t, 1, ran)
					} else {
						require.Equal(t, map[string]any{"error": tc.reads}, res)
						require.Zero(t, ran)
					}
					if tc.err != nil {
						var ev callbacks.Event
						for _, e := range tr.Told {
							if e.Step == callbacks.StepTool {
								ev = e
							}
						}
						require.Equal(t, codes.CheckpointFailed, ev.Code)
						require.Equal(t, "checkpoint", ev.Guard)
						require.ErrorIs(t, ev.Err, full)
					}
					if tc.taken == 1 {
						require.Equal(t, "guarded", taken[0].Agent)
						require.Equal(t, "lookup", taken[0].Tool)
						require.NotEmpty(t, taken[0].CallID)
						require.Equal(t, map[string]any{"supplier": "Acme"}, taken[0].Args)
					}
				},
			}.Run(t)
		})
	}
}

// A call that a person rejects takes no restore point, and the order that would is refused.
func TestCheckpointStandsAfterConfirm(t *testing.T) {
	taken := 0
	point := guards.Checkpoint(func(context.Context, callbacks.Step) error { taken++; return nil }, "pay")
	confirm := guards.Confirm(approvers.NewScript(approvers.No, approvers.Yes), "pay")
	m := callbackstest.Script(payTo("Acme", 1), payTo("Acme", 2), callbackstest.Say("done"))
	require.NoError(t, play(t, newAgent(t, "a", m, []tool.Tool{callbackstest.Tool("pay")}, confirm, point)).err)
	require.Equal(t, 1, taken)
	require.ErrorIs(t, callbacks.New(point, confirm).Err(), callbacks.ErrOrder)
}

func TestCheckpointNonsense(t *testing.T) {
	take := func(context.Context, callbacks.Step) error { return nil }
	require.Error(t, callbacks.New(guards.Checkpoint(nil, "pay")).Err())
	require.Error(t, callbacks.New(guards.Checkpoint(take, "")).Err())
	_, err := callbacks.New(guards.Checkpoint(take, "pya")).NewAgent(llmagent.Config{Name: "a", Tools: []tool.Tool{callbackstest.Tool("pay")}})
	require.ErrorIs(t, err, callbacks.ErrNoSuchTool)
}

// A folder is copied before a tool writes into it, and put back afterwards.
func ExampleCheckpoint() {
	work, err := os.MkdirTemp("", "work")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(work)
	saved := work + ".saved"
	defer os.RemoveAll(saved)
	report := filepath.Join(work, "report.txt")
	_ = os.WriteFile(report, []byte("what was there"), 0o600)

	write := callbackstest.ToolFunc("write_report", func(agent.Context, map[string]any) (map[string]any, error) {
		return map[string]any{"result": "written"}, os.WriteFile(report, []byte("nonsense"), 0o600)
	})
	chain := callbacks.New(guards.Checkpoint(func(context.Context, callbacks.Step) error {
		return os.CopyFS(saved, os.DirFS(work))
	}, "write_report"))
	ask(chain.NewAgent(llmagent.Config{
		Name: "writer", Tools: []tool.Tool{write},
		Model: callbackstest.Script(callbackstest.Call("write_report", nil), callbackstest.Say("done")),
	}))
	show := func() {
		text, _ := os.ReadFile(report)
		fmt.Println("the report says:", string(text))
	}
	show()
	_ = os.RemoveAll(work)
	_ = os.Rename(saved, work)
	show()
	// Output:
	// calls: write_report
	// reads: map[result:written]
	// model: done
	// the report says: nonsense
	// the report says: what was there
}
