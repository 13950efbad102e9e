// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/internal/text"
)

const (
	killSwitchName = "kill_switch"

	defaultStateAge = 5 * time.Second
	shortestAge     = time.Second
)

// KillSwitchOptions are the options of [KillSwitch].
type KillSwitchOptions struct {
	// State is where people stop agents, from any process: killswitch.File or a store of package
	// rediskillswitch. Required.
	State killswitch.Store
	// MaxAge is how old the last reading of State may be. Zero is 5 s; less than 1 s is an error.
	MaxAge time.Duration
}

// KillSwitch lets people stop agents from another process: a Run, a session, a user, an agent, an app
// or everything, with the command gardefou or package killswitch. The Run is stopped with
// [codes.Killed], in every process within a second, and stays stopped: what is lifted again is for later Runs.
//
// A stop of an agent stops every Run that the agent has taken a step in, as far as the guard is attached there; one
// of a session, a user or an app also stops the agents that are used as tools in it.
//
// It is asked before each agent, model call and tool, and again directly before each effect: an
// attempt or a call that waited meanwhile does not begin.
//
// State is read four times a second in the background, by one goroutine for each guard value, until the
// last Run of it is closed; where nothing calls callbacks.Start, until no step was taken for two seconds. A step uses
// the last reading. Only the first step after a rest waits for one.
//
// It fails closed: where the last reading is older than 5 seconds (MaxAge) or there is none, because the
// file was removed or is not whole, or Redis is gone, the Run is stopped with [codes.KillSwitchFailed].
//
// Use it when somebody must be able to end agents that already run.
func KillSwitch(state killswitch.Store) callbacks.Guard {
	return KillSwitchOptions{State: state}.Guard()
}

func (o KillSwitchOptions) check() error {
	switch {
	case o.State == nil:
		return errors.New("guards: KillSwitch: State is nil")
	case o.MaxAge != 0 && o.MaxAge < shortestAge:
		return fmt.Errorf("guards: KillSwitch: MaxAge is %v, it must be at least %v", o.MaxAge, shortestAge)
	}
	return nil
}

// Guard returns the guard that [KillSwitch] describes, with these options.
func (o KillSwitchOptions) Guard() callbacks.Guard {
	g := callbacks.Guard{Name: killSwitchName}
	if g.Err = o.check(); g.Err != nil {
		return g
	}
	if o.MaxAge == 0 {
		o.MaxAge = defaultStateAge
	}
	k := &killSwitch{
		maxAge: o.MaxAge, watch: &stateWatch{store: o.State, patience: o.MaxAge},
		subjects: callbacks.NewKey(func() *subject { return &subject{agents: map[string]bool{}} }),
	}
	g.Info = func() callbacks.Info {
		return callbacks.Info{Limits: []string{"stops of people, from a state at most " + seconds(o.MaxAge) + " old"}}
	}
	g.BeforeAgent = func(ctx agent.Context) (*genai.Content, error) { return nil, k.ask(ctx) }
	g.BeforeModel = func(ctx agent.Context, _ *model.LLMRequest) (*model.LLMResponse, error) {
		return nil, k.ask(ctx)
	}
	g.BeforeTool = func(ctx agent.Context, _ tool.Tool, _ map[string]any) (map[string]any, error) {
		return nil, k.ask(ctx)
	}
	// After every wait: the hooks above keep a stopped Run from asking a person or taking a budget.
	g.Gate = func(ctx context.Context, _ callbacks.Step) error {
		adk, _ := ctx.(agent.Context) // a model's is none: who calls it is known from the hooks
		return k.askIn(ctx, adk)
	}
	return g
}

type killSwitch struct {
	maxAge   time.Duration
	watch    *stateWatch
	subjects *callbacks.Key[*subject]
}

// ask returns the refusal of a step that somebody stopped, or that may have been.
func (k *killSwitch) ask(ctx agent.Context) error { return k.askIn(contextOf(ctx), ctx) }

func (k *killSwitch) askIn(plain context.Context, ctx agent.Context) error {
	if plain == nil {
		plain = context.Background()
	}
	run := callbacks.RunOf(plain)
	s := k.subjects.In(run)
	if run == nil {
		k.watch.hold()
		defer k.watch.release()
	}
	s.hold.Do(func() {
		if isStarted(plain) {
			k.watch.hold()
			run.OnClose(k.watch.release)
		}
	})
	asked := s.selectors(ctx, run)
	last, err := k.watch.latest(plain)
	now, lang := time.Now(), langOf(plain)
	if last == nil || now.Sub(last.began) > k.maxAge {
		return k.unknown(lang, last, now, err)
	}
	for _, sel := range asked {
		for _, stop := range last.stops[sel] {
			if stop.InForce(now) {
				return callbacks.Stop(codes.Killed, killedText(lang, stop)).By(killSwitchName)
			}
		}
	}
	return nil
}

func (k *killSwitch) unknown(lang text.Lang, last *stateReading, now time.Time, err error) error {
	said := text.Get(lang, text.KillSwitchUnread)
	if last != nil {
		said = text.Get(lang, text.KillSwitchOld, seconds(now.Sub(last.began)), seconds(k.maxAge))
	}
	return callbacks.Stop(codes.KillSwitchFailed, said).WithStatus(callbacks.StatusFailed).WithCause(err).By(killSwitchName)
}

// killedText names a stop without the ids of sessions and users, which are personal data.
func killedText(lang text.Lang, stop killswitch.Stop) string {
	what := text.Get(lang, text.Key("guards.killed."+string(stop.Scope)))
	switch stop.Scope {
	case killswitch.ScopeRun, killswitch.ScopeAgent, killswitch.ScopeApp:
		what += " " + strconv.Quote(stop.Name)
	case killswitch.ScopeAll, killswitch.ScopeSession, killswitch.ScopeUser:
	}
	reason := redactEN.String(stop.Reason)
	if reason == "" {
		reason = text.Get(lang, text.KilledNoReason)
	}
	return text.Get(lang, text.Killed, what, stop.Since.UTC().Format(time.RFC3339), reason)
}

// isStarted reports whether ctx carries a Run of callbacks.Start, which its caller closes.
func isStarted(ctx context.Context) bool {
	return callbacks.RunOf(struct{ context.Context }{ctx}) != nil
}

// A subject is what a Run can be stopped by.
type subject struct {
	hold sync.Once

	mu sync.Mutex
	// outermost are the session, user and app of the first step, which agents used as tools
	// have others of.
	outermost []killswitch.Selector
	agents    map[string]bool
}

// selectors notes who takes a step in run and returns all that it can be stopped by.
func (s *subject) selectors(ctx agent.Context, run *callbacks.Run) []killswitch.Selector {
	all := []killswitch.Selector{{Scope: killswitch.ScopeAll}}
	if run != nil {
		all = append(all, killswitch.Selector{Scope: killswitch.ScopeRun, Name: run.ID()})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx != nil {
		here := []killswitch.Selector{
			{Scope: killswitch.ScopeSession, Name: ctx.SessionID()},
			{Scope: killswitch.ScopeUser, Name: ctx.UserID()},
			{Scope: killswitch.ScopeApp, Name: ctx.AppName()},
		}
		if s.outermost == nil {
			s.outermost = here
		}
		s.agents[ctx.AgentName()] = true
		all = append(all, here...)
	}
	all = append(all, s.outermost...)
	for name := range s.agents {
		all = append(all, killswitch.Selector{Scope: killswitch.ScopeAgent, Name: name})
	}
	return all
}
