// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/redact"
)

// scorer rates what the look-ups stashed in the Run. It calls no model.
type scorer struct {
	src       Sources
	model     *risk.Model
	purchases *int64
}

// agent makes the agent that is plain code.
func (s scorer) agent() (agent.Agent, error) {
	return agent.New(agent.Config{
		Name:        RiskScorer,
		Description: "Rates the facts. No model.",
		Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) {
				if run := callbacks.RunOf(ctx); run != nil && run.Stopped() != nil {
					return
				}
				if err := s.score(ctx, true); err != nil {
					yield(nil, err)
					return
				}
				ev := session.NewEvent(ctx, ctx.InvocationID())
				ev.Author, ev.Branch = RiskScorer, ctx.Branch()
				enc, err := json.Marshal(RecordOf(ctx).Risk)
				if err != nil {
					yield(nil, fmt.Errorf("agents: storing the score: %w", err))
					return
				}
				ev.Actions.StateDelta["risk"] = string(enc)
				yield(ev, nil)
			}
		},
	})
}

// score gathers the stashed facts of the Run and rates them. To complete means to make
// the look-ups that no researcher made, so that a model that never called its tool
// costs the report nothing; otherwise they stay "not asked".
func (s scorer) score(ctx context.Context, complete bool) error {
	stashed := guards.Records(ctx).Stashed()
	var completed []string
	if complete {
		for _, l := range lookups {
			if stashed[l.name] != nil {
				continue
			}
			res, err := masked(ctx, l.result(ctx, s.src, subjectOf(ctx)))
			if err != nil {
				return fmt.Errorf("agents: completing %s: %w", l.name, err)
			}
			stashed[l.name] = res
			completed = append(completed, l.name)
		}
	}
	facts, err := sources.FactsFromMaps(stashed["registry"], stashed["finances"], stashed["reputation"])
	if err != nil {
		return fmt.Errorf("agents: reading the look-ups: %w", err)
	}
	result := s.model.Score(facts.Risk(s.purchases), s.src.AsOf())
	recordKey.Of(ctx).do(func(r *record) {
		r.facts, r.risk = facts, &result
		for _, name := range completed {
			if !slices.Contains(r.completed, name) {
				r.completed = append(r.completed, name)
			}
		}
	})
	return nil
}

// masked does for a look-up made by code what the Redact guard does for a tool's.
func masked(ctx context.Context, res map[string]any) (map[string]any, error) {
	r, err := redact.New(redact.Options{Language: callbacks.RunOf(ctx).Lang()})
	if err != nil {
		return nil, err
	}
	v, _, err := r.Value(res)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, redact.ErrOpaque
	}
	return m, nil
}
