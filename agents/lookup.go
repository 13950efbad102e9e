// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Sources is where look-ups get their facts; *sources.Client is one.
type Sources interface {
	Registry(context.Context, supplier.Subject) sources.RegistryFacts
	Finances(context.Context, supplier.Subject) sources.FinanceFacts
	Reputation(context.Context, supplier.Subject) sources.ReputationFacts
	// AsOf is the day the facts are judged at.
	AsOf() time.Time
}

var _ Sources = (*sources.Client)(nil)

// A lookup is one of the three questions that can be asked about a subject.
type lookup struct {
	name        string // that the data is stashed under
	agent       string
	tool        string
	description string
	goal        text.Key
	fetch       func(context.Context, Sources, supplier.Subject) (map[string]any, sources.Facts)
	section     func(sources.Facts, text.Lang) Section
}

var lookups = []lookup{
	{
		name: "registry", agent: RegistryResearcher, tool: LookupRegistry,
		description: "Looks a supplier up in the company registry and the official gazette: identity, officers, court procedures.",
		goal:        text.GoalRegistry,
		fetch: func(ctx context.Context, s Sources, sub supplier.Subject) (map[string]any, sources.Facts) {
			f := s.Registry(ctx, sub)
			return f.Map(), sources.Facts{Registry: &f}
		},
		section: registrySection,
	},
	{
		name: "finances", agent: FinanceResearcher, tool: LookupFinances,
		description: "Looks up a supplier's public accounts.",
		goal:        text.GoalFinances,
		fetch: func(ctx context.Context, s Sources, sub supplier.Subject) (map[string]any, sources.Facts) {
			f := s.Finances(ctx, sub)
			return f.Map(), sources.Facts{Finances: &f}
		},
		section: financeSection,
	},
	{
		name: "reputation", agent: ReputationResearcher, tool: LookupReputation,
		description: "Screens a supplier against asset-freeze lists and searches the press.",
		goal:        text.GoalReputation,
		fetch: func(ctx context.Context, s Sources, sub supplier.Subject) (map[string]any, sources.Facts) {
			f := s.Reputation(ctx, sub)
			return f.Map(), sources.Facts{Reputation: &f}
		},
		section: reputationSection,
	},
}

// result is what a look-up tool returns: the facts, and a summary of them that is
// made by code, so that a finding can be reported without inventing anything.
func (l lookup) result(ctx context.Context, src Sources, sub supplier.Subject) map[string]any {
	res, facts := l.fetch(ctx, src, sub)
	section := l.section(facts, text.Parse(callbacks.RunOf(ctx).Lang()))
	res["summary"] = section.Summary()
	res["evidence_ids"] = toAny(section.Evidence())
	res["gaps"] = toAny(section.Gaps)
	res["confidence"] = confidence(facts.Envelopes())
	return res
}

func confidence(envelopes []sources.Envelope) string {
	read := 0
	for _, e := range envelopes {
		if e.Status.Read() || e.Status == sources.StatusNotApplicable {
			read++
		}
	}
	switch {
	case read == len(envelopes):
		return "high"
	case read > 0:
		return "medium"
	default:
		return "low"
	}
}

func toAny(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

type lookupArgs struct {
	Supplier string `json:"supplier" jsonschema:"the supplier's name exactly as given in the question"`
}

// newLookupTool makes the tool. The subject comes from the Run: no
// argument can redirect the look-up. That one which names somebody else is refused is
// the scope guard's part.
func newLookupTool(l lookup, src Sources) (tool.Tool, error) {
	return functiontool.New(functiontool.Config{Name: l.tool, Description: l.description},
		func(ctx agent.Context, _ lookupArgs) (map[string]any, error) {
			sub := subjectOf(ctx)
			res := l.result(ctx, src, sub)
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("looking up %s: %w", l.name, err)
			}
			return res, nil
		})
}

// supplierNames are what a researcher may call the supplier of its run.
func supplierNames(ctx context.Context) ([]string, error) {
	sub := subjectOf(ctx)
	names := []string{supplierArg(sub)}
	if sub.SIREN != "" {
		names = append(names, sub.SIREN)
	}
	return names, nil
}

// sameSupplier reports whether what a model wrote means the name or number assigned.
func sameSupplier(given, assigned string) bool {
	if id, err := supplier.ParseIdentifier(given); err == nil && id.SIREN != "" {
		return id.SIREN == assigned
	}
	return supplier.Normalize(given).Equal(supplier.Normalize(assigned)) || supplier.Clean(given, 0) == assigned
}

// safeError is an error whose whole text a model may read.
type safeError struct{ text string }

func (e *safeError) Error() string     { return e.text }
func (e *safeError) ModelText() string { return e.text }
