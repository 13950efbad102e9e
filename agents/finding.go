// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
)

type findingArgs struct {
	Summary    string   `json:"summary" jsonschema:"what was found, in a few sentences"`
	Evidence   []string `json:"evidence_ids" jsonschema:"ids of the evidence the summary rests on"`
	Gaps       []string `json:"gaps" jsonschema:"what could not be checked"`
	Confidence string   `json:"confidence" jsonschema:"high, medium or low"`
}

// newFindingTool makes the tool that ends a researcher's work. A finding that cites
// evidence its look-up did not return is sent back.
func newFindingTool(l lookup) (tool.Tool, error) {
	return functiontool.New(functiontool.Config{Name: ReportFinding, Description: "Reports what was found and ends the research."},
		func(ctx agent.Context, args findingArgs) (map[string]any, error) {
			known := evidenceIn(guards.Records(ctx).Stashed()[l.name])
			var unknown []string
			for _, id := range args.Evidence {
				if !known[id] {
					unknown = append(unknown, id)
				}
			}
			if len(unknown) > 0 {
				return nil, &safeError{text.Get(text.Parse(callbacks.RunOf(ctx).Lang()), text.UnknownEvidence, strings.Join(unknown[:min(3, len(unknown))], ", "))}
			}
			recordKey.Of(ctx).do(func(r *record) {
				r.findings[l.agent] = Finding{Agent: l.agent, Summary: args.Summary, Evidence: args.Evidence, Gaps: args.Gaps, Confidence: args.Confidence}
			})
			ctx.Actions().SkipSummarization = true
			return map[string]any{"status": "reported"}, nil
		})
}

// evidenceIn returns the evidence ids anywhere in a look-up's result.
func evidenceIn(result map[string]any) map[string]bool {
	ids := make(map[string]bool)
	list, _ := result["evidence_ids"].([]any)
	for _, id := range list {
		if s, ok := id.(string); ok {
			ids[s] = true
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if id, ok := v["id"].(string); ok && strings.HasPrefix(id, "E-") {
				ids[id] = true
			}
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(result)
	return ids
}
