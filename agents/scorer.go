// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/redact"
)

// newScorer makes the agent that is plain code: it reads what the look-ups stashed
// in the Run and rates it. It calls no model.
func newScorer(src Sources) (agent.Agent, error) {
	return agent.New(agent.Config{
		Name:        RiskScorer,
		Description: "Rates the facts. No model.",
		Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) {
				if run := callbacks.RunOf(ctx); run != nil && run.Stopped() != nil {
					return
				}
				if err := Score(ctx, src, src.AsOf()); err != nil {
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

// Score gathers the stashed facts of the Run and rates them. With src it makes the
// look-ups that no researcher made, so that a model that never called its tool
// costs the report nothing; without src they stay "not asked".
func Score(ctx context.Context, src Sources, asOf time.Time) error {
	stashed := guards.Stashed(ctx)
	var completed []string
	if src != nil {
		for _, l := range lookups {
			if stashed[l.name] != nil {
				continue
			}
			res, err := masked(ctx, l.result(ctx, src, subjectOf(ctx)))
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
	result := risk.Score(facts.Risk(nil), asOf)
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
	r, err := redact.New(redact.Options{Language: callbacks.Lang(ctx)})
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
