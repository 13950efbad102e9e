// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/killswitch"
)

const (
	killUser    = "jean@example.org"
	killSession = "session-of-jean"
	killApp     = "shop"
)

var everything = killswitch.Selector{Scope: killswitch.ScopeAll}

// stopFile returns the path of a state in which nothing is stopped.
func stopFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stops.json")
	_, _, err := killswitch.Lift(t.Context(), killswitch.File(path), everything)
	require.NoError(t, err)
	return path
}

func put(t testing.TB, store killswitch.Store, scope killswitch.Scope, name, reason string) {
	t.Helper()
	_, err := killswitch.Put(t.Context(), store, killswitch.Stop{Selector: killswitch.Selector{Scope: scope, Name: name}, Reason: reason})
	require.NoError(t, err)
}

// shopRun plays a with the ids above, in a Run of its own unless run is given.
func shopRun(t *testing.T, a agent.Agent, run *callbacks.Run) {
	t.Helper()
	r, err := runner.New(runner.Config{AppName: killApp, Agent: a, SessionService: session.InMemoryService(), AutoCreateSession: true})
	require.NoError(t, err)
	for _, err := range run.Events(r.Run(run.Context(t.Context()), killUser, killSession, genai.NewContentFromText("q", genai.RoleUser), agent.RunConfig{})) {
		require.NoError(t, err)
	}
}

func newRun(t *testing.T) *callbacks.Run {
	t.Helper()
	_, run := callbacks.Start(t.Context())
	return run
}

// Each selector that names the Run stops it a second later; the same with another name does not.
func TestKillSwitchBySelector(t *testing.T) {
	names := map[killswitch.Scope]string{
		killswitch.ScopeAll: "", killswitch.ScopeRun: "", killswitch.ScopeSession: killSession,
		killswitch.ScopeUser: killUser, killswitch.ScopeAgent: "clerk", killswitch.ScopeApp: killApp,
	}
	for scope, name := range names {
		for _, other := range []bool{false, true} {
			if other && scope == killswitch.ScopeAll {
				continue
			}
			t.Run(string(scope), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store, run := killswitch.File(stopFile(t)), newRun(t)
					defer run.Close()
					name := name
					if scope == killswitch.ScopeRun {
						name = run.ID()
					}
					if other {
						name += "x"
					}
					work := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
						put(t, store, scope, name, "wrong prices, ask jean@example.org")
						time.Sleep(time.Second)
						return map[string]any{"result": "ok"}, nil
					})
					m := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
					rec := &callbackstest.Recorder{}
					a, err := callbacks.New(guards.KillSwitch(store), rec.Guard()).NewAgent(llmagent.Config{Name: "clerk", Model: m, Tools: []tool.Tool{work}})
					require.NoError(t, err)
					shopRun(t, a, run)
					got := run.Outcome()
					if other {
						require.Equal(t, callbacks.StatusDone, got.Status)
						return
					}
					require.Equal(t, codes.Killed, got.Code)
					require.Equal(t, "kill_switch", got.Guard)
					require.Equal(t, 1, m.Calls())
					require.Contains(t, got.Reason, "wrong prices, ask [email redacted]")
					require.Contains(t, got.Reason, time.Now().Add(-time.Second).UTC().Format(time.RFC3339))
					for _, personal := range []string{killUser, killSession} {
						require.NotContains(t, got.Reason, personal)
					}
					last := rec.Events(callbacks.StepModel)[1]
					require.True(t, last.Stop)
					require.Equal(t, codes.Killed, last.Code)
				})
			})
		}
	}
}

// A stop that names what the outermost agent works for reaches the agents it uses as tools.
func TestKillSwitchReachesAgentsUsedAsTools(t *testing.T) {
	for scope, name := range map[killswitch.Scope]string{
		killswitch.ScopeSession: killSession, killswitch.ScopeUser: killUser, killswitch.ScopeApp: killApp, killswitch.ScopeAgent: "clerk",
	} {
		t.Run(string(scope), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, run := killswitch.File(stopFile(t)), newRun(t)
				defer run.Close()
				kill := guards.KillSwitch(store)
				work := callbackstest.ToolFunc("lookup", func(agent.Context, map[string]any) (map[string]any, error) {
					put(t, store, scope, name, "")
					time.Sleep(time.Second)
					return map[string]any{"result": "ok"}, nil
				})
				inner := callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
				helper, err := callbacks.New(kill).NewAgent(llmagent.Config{Name: "helper", Model: inner, Tools: []tool.Tool{work}})
				require.NoError(t, err)
				outer := callbackstest.Script(callbackstest.Call("helper", map[string]any{"request": "x"}), callbackstest.Say("done"))
				clerk, err := callbacks.New(kill).NewAgent(llmagent.Config{Name: "clerk", Model: outer, Tools: []tool.Tool{agenttool.New(helper, nil)}})
				require.NoError(t, err)
				shopRun(t, clerk, run)
				require.Equal(t, codes.Killed, run.Outcome().Code)
				require.Equal(t, 1, inner.Calls())
				require.Equal(t, 1, outer.Calls())
			})
		})
	}
}

// What waits when a stop is made has no effect afterwards: it is asked again after every wait.
func TestKillSwitchIsAskedAfterEveryWait(t *testing.T) {
	for _, inTool := range []bool{false, true} {
		for scope, name := range map[killswitch.Scope]string{killswitch.ScopeAll: "", killswitch.ScopeSession: killSession, killswitch.ScopeAgent: "clerk"} {
			synctest.Test(t, func(t *testing.T) {
				store, run := killswitch.File(stopFile(t)), newRun(t)
				defer run.Close()
				wait := func() {
					put(t, store, scope, name, "")
					time.Sleep(time.Second)
				}
				slow := callbacks.Guard{Name: "slow"}
				if inTool {
					slow.BeforeTool = func(agent.Context, tool.Tool, map[string]any) (map[string]any, error) { wait(); return nil, nil }
				} else {
					slow.BeforeModel = func(agent.Context, *model.LLMRequest) (*model.LLMResponse, error) { wait(); return nil, nil }
				}
				work, m := callbackstest.Tool("lookup"), callbackstest.Script(callbackstest.Call("lookup", nil), callbackstest.Say("done"))
				a, err := callbacks.New(guards.KillSwitch(store), slow).NewAgent(llmagent.Config{Name: "clerk", Model: m, Tools: []tool.Tool{work}})
				require.NoError(t, err)
				shopRun(t, a, run)
				require.Equal(t, codes.Killed, run.Outcome().Code)
				require.Empty(t, work.Calls())
				require.Equal(t, map[bool]int{false: 0, true: 1}[inTool], m.Calls())
			})
		}
	}
}

// What is lifted is for later Runs, and so is what ends by itself.
func TestKillSwitchALiftIsForLaterRuns(t *testing.T) {
	for _, byItself := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := killswitch.File(stopFile(t))
			kill := guards.KillSwitch(store)
			step := func(run *callbacks.Run) error {
				_, err := kill.BeforeTool(callbackstest.ContextFrom(run.Context(t.Context()), t), callbackstest.Tool("lookup"), nil)
				return err
			}
			stop := killswitch.Stop{Selector: everything}
			if byItself {
				stop.Until = time.Now().Add(time.Minute)
			}
			_, err := killswitch.Put(t.Context(), store, stop)
			require.NoError(t, err)
			a, err := callbacks.New(kill).NewAgent(llmagent.Config{Name: "clerk", Model: callbackstest.Script(callbackstest.Say("done")).Repeat()})
			require.NoError(t, err)
			first, second := newRun(t), newRun(t)
			defer first.Close()
			defer second.Close()
			shopRun(t, a, first)
			require.Equal(t, codes.Killed, first.Outcome().Code)
			require.ErrorIs(t, step(second), callbacks.ErrStopped)

			if byItself {
				time.Sleep(time.Minute)
			} else {
				_, _, err = killswitch.Lift(t.Context(), store, everything)
				require.NoError(t, err)
				time.Sleep(time.Second)
			}
			shopRun(t, a, first)
			require.Equal(t, codes.Killed, first.Outcome().Code, "a stopped Run stays stopped")
			require.NoError(t, step(second), "one that took no step meanwhile goes on")
		})
	}
}

// While the state can't be read its last reading holds, up to its greatest age.
func TestKillSwitchAge(t *testing.T) {
	for name, tc := range map[string]struct {
		maxAge time.Duration
		lose   func(path string) error
		cause  error
	}{
		"removed":      {0, os.Remove, killswitch.ErrNoState},
		"half written": {0, func(path string) error { return os.Truncate(path, 40) }, killswitch.ErrForeign},
		"emptied":      {0, func(path string) error { return os.Truncate(path, 0) }, killswitch.ErrForeign},
		"foreign":      {time.Minute, func(path string) error { return os.WriteFile(path, []byte("{}\n"), 0o600) }, killswitch.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := stopFile(t)
				kill := guards.KillSwitchOptions{State: killswitch.File(path), MaxAge: tc.maxAge}.Guard()
				age := tc.maxAge
				if age == 0 {
					age = 5 * time.Second
				}
				ctx, run := callbacks.StartOptions{Lang: "fr"}.Start(t.Context())
				defer run.Close()
				step := func() error {
					_, err := kill.BeforeModel(callbackstest.ContextFrom(ctx, t), nil)
					return err
				}
				require.NoError(t, step())
				time.Sleep(time.Minute)
				require.NoError(t, step(), "it is read while a Run is open")
				require.NoError(t, tc.lose(path))
				time.Sleep(age - 300*time.Millisecond)
				require.NoError(t, step())
				time.Sleep(time.Second)
				err := step()
				require.ErrorIs(t, err, callbacks.ErrStopped)
				require.ErrorIs(t, err, tc.cause)
				var r *callbacks.Refusal
				require.ErrorAs(t, err, &r)
				require.Equal(t, codes.KillSwitchFailed, r.Code)
				require.Regexp(t, `^L'état de l'arrêt d'urgence date de [0-9.]+ s`, r.Text)

				// A Run that begins now has no reading at all, or the old one.
				_, err = guards.KillSwitch(killswitch.File(path)).BeforeModel(callbackstest.ContextFrom(ctx, t), nil)
				require.ErrorIs(t, err, tc.cause)
			})
		})
	}
}

// A store that went back to an older state lost stops: it is no state.
func TestKillSwitchAStateThatWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := stopFile(t)
		store := killswitch.File(path)
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		put(t, store, killswitch.ScopeAgent, "other", "")
		kill, ctx := guards.KillSwitch(store), callbackstest.Context(t)
		step := func() error {
			_, err := kill.BeforeModel(ctx, nil)
			return err
		}
		require.NoError(t, step())
		require.NoError(t, os.WriteFile(path, old, 0o600))
		time.Sleep(6 * time.Second)
		require.ErrorContains(t, step(), "kill switch")
		put(t, store, killswitch.ScopeAgent, "other", "")
		time.Sleep(time.Second)
		require.NoError(t, step())
	})
}

// countedStore counts readings of a store.
type countedStore struct {
	killswitch.Store
	loads atomic.Int64
}

func (c *countedStore) Load(ctx context.Context) ([]byte, error) {
	c.loads.Add(1)
	return c.Store.Load(ctx)
}

// The state is read while a Run is open and no longer, however many Runs there are; where nothing
// opens a Run, until no step was taken for a while. A bubble that ends has no goroutine left.
func TestKillSwitchReadsWhileARunIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countedStore{Store: killswitch.File(stopFile(t))}
		kill := guards.KillSwitch(store)
		step := func(ctx context.Context) {
			_, err := kill.BeforeModel(callbackstest.ContextFrom(ctx, t), nil)
			require.NoError(t, err)
		}
		require.Zero(t, store.loads.Load(), "nothing is read before a step")
		var runs []*callbacks.Run
		for range 10 {
			ctx, run := callbacks.Start(t.Context())
			runs = append(runs, run)
			step(ctx)
			step(ctx)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		require.EqualValues(t, 40, store.loads.Load())
		for _, run := range runs {
			run.Close()
		}
		time.Sleep(time.Hour)
		require.LessOrEqual(t, store.loads.Load(), int64(41))

		before := store.loads.Load()
		for range 4 {
			step(t.Context()) // a Run of the invocation, which nothing closes
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		require.InDelta(t, before+20, store.loads.Load(), 3)
		step(t.Context())
		time.Sleep(time.Hour)
	})
}

// brokenStore panics or does not answer.
type brokenStore struct {
	killswitch.Store
	answer chan struct{}
}

func (b brokenStore) Load(context.Context) ([]byte, error) {
	<-b.answer
	panic("no answer")
}

// A store that hangs, heeding no context, or panics costs the first step its greatest age at most.
func TestKillSwitchABrokenStore(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := brokenStore{answer: make(chan struct{})}
			if !hangs {
				close(store.answer)
			}
			start, ctx := time.Now(), callbackstest.Context(t)
			_, err := guards.KillSwitch(store).BeforeModel(ctx, nil)
			require.ErrorIs(t, err, callbacks.ErrStopped)
			if hangs {
				require.Equal(t, 5*time.Second, time.Since(start))
				close(store.answer)
			} else {
				require.Zero(t, time.Since(start))
				require.ErrorContains(t, errors.Unwrap(err), "panicked")
			}
		})
	}
}

// Many Runs ask one guard while people stop and allow.
func TestKillSwitchInParallel(t *testing.T) {
	path := stopFile(t)
	store := killswitch.File(path)
	kill := guards.KillSwitch(store)
	var refused atomic.Int64
	var wg sync.WaitGroup
	for range 30 {
		ctx, run := callbacks.Start(t.Context())
		wg.Go(func() {
			defer run.Close()
			adk := callbackstest.ContextFrom(ctx, t)
			for {
				if _, err := kill.BeforeTool(adk, callbackstest.Tool("lookup"), nil); err != nil {
					refused.Add(1)
					return
				}
			}
		})
	}
	put(t, store, killswitch.ScopeAgent, "other", "")
	put(t, store, killswitch.ScopeAgent, callbackstest.AgentName, "")
	wg.Wait()
	require.EqualValues(t, 30, refused.Load())
}

func TestKillSwitchNonsense(t *testing.T) {
	require.Error(t, guards.KillSwitch(nil).Err)
	for _, age := range []time.Duration{-1, time.Millisecond} {
		require.Error(t, guards.KillSwitchOptions{State: killswitch.File("x"), MaxAge: age}.Guard().Err)
	}
	kill := guards.KillSwitch(killswitch.File(stopFile(t)))
	_, err := kill.BeforeModel(nil, nil)
	require.NoError(t, err, "a hook without a context belongs to no Run")
	require.Contains(t, strings.Join(kill.Info().Limits, ""), "5 s")
}
