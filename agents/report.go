// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"context"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
)

func (b *builder) writer() member {
	return member{
		cfg: b.config(Writer, "Writes the report.", text.InstructionWriter),
		guards: []callbacks.Guard{
			takesTurn(turnWriter),
			guards.IsolateFunc(func(ctx context.Context) (string, error) {
				rec := RecordOf(ctx)
				data := map[string]any{"sections": Sections(rec.Facts, text.Parse(callbacks.RunOf(ctx).Lang()))}
				if len(rec.Changes) > 0 {
					data["changes"], data["draft"] = rec.Changes, rec.Draft
				}
				return question(ctx, text.GoalWriter, data)
			}),
			b.agentBudget(),
		},
	}
}

// keepDraft keeps the writer's text in the Run. Refusals never come here: the chain
// runs no after_model hook on them.
func keepDraft() callbacks.Guard {
	return callbacks.Guard{
		Name: "keep_draft",
		AfterModel: func(ctx agent.Context, resp *model.LLMResponse, _ error) (*model.LLMResponse, error) {
			if ctx.AgentName() != Writer || resp.Partial || resp.Content == nil {
				return nil, nil
			}
			var sb strings.Builder
			for _, p := range resp.Content.Parts {
				if p != nil && !p.Thought {
					sb.WriteString(p.Text)
				}
			}
			if draft := strings.TrimSpace(sb.String()); draft != "" {
				recordKey.Of(ctx).do(func(r *record) {
					r.draft, r.approved, r.turn = draft, false, turnReviewer
					r.rounds++
				})
			}
			return nil, nil
		},
		Info: func() callbacks.Info { return callbacks.Info{OnlyJudges: true} },
	}
}

type noArgs struct{}

type changesArgs struct {
	Reasons []string `json:"reasons" jsonschema:"what must change, one reason a line"`
}

func (b *builder) reviewer() (member, error) {
	approve, err := functiontool.New(functiontool.Config{Name: ApproveReport, Description: "Approves the report as it is. This approves the report, not the supplier."},
		func(ctx agent.Context, _ noArgs) (map[string]any, error) {
			rec := RecordOf(ctx)
			lang := text.Parse(callbacks.RunOf(ctx).Lang())
			// What the model thinks of the draft comes on top of this check, never in
			// its place.
			if faults := CheckDraft(rec.Draft, rec.Facts, lang); len(faults) > 0 {
				sendBack(ctx, faults)
				return nil, &safeError{strings.Join(faults[:min(3, len(faults))], "; ")}
			}
			recordKey.Of(ctx).do(func(r *record) { r.approved, r.turn = true, turnNobody })
			ctx.Actions().Escalate = true
			ctx.Actions().SkipSummarization = true
			return map[string]any{"status": "approved"}, nil
		})
	if err != nil {
		return member{}, err
	}
	change, err := functiontool.New(functiontool.Config{Name: RequestChanges, Description: "Sends the report back to the writer."},
		func(ctx agent.Context, args changesArgs) (map[string]any, error) {
			sendBack(ctx, args.Reasons)
			ctx.Actions().SkipSummarization = true
			return map[string]any{"status": "sent back"}, nil
		})
	if err != nil {
		return member{}, err
	}
	return member{
		cfg:    b.config(Reviewer, "Reviews the report.", text.InstructionReviewer, approve, change),
		answer: []string{ApproveReport, RequestChanges},
		guards: []callbacks.Guard{
			takesTurn(turnReviewer),
			b.watch(guards.AllowTools(ApproveReport, RequestChanges)),
			guards.IsolateFunc(func(ctx context.Context) (string, error) {
				rec := RecordOf(ctx)
				return question(ctx, text.GoalReviewer, map[string]any{
					"sections": Sections(rec.Facts, text.Parse(callbacks.RunOf(ctx).Lang())), "draft": rec.Draft,
				})
			}),
			b.agentBudget(),
		},
	}, nil
}

// sendBack gives the writer another turn.
func sendBack(ctx context.Context, reasons []string) {
	recordKey.Of(ctx).do(func(r *record) { r.changes, r.turn = reasons, turnWriter })
}

// whoseTurn is which of the two works on the report next. A round in which money or a model
// failed hands the turn to nobody: the writer would be asked, and paid, for the same text
// again, or the reviewer for the same verdict.
type whoseTurn int

const (
	turnWriter whoseTurn = iota
	turnReviewer
	turnNobody
)

// takesTurn skips an agent whose turn it is not.
func takesTurn(mine whoseTurn) callbacks.Guard {
	return callbacks.Guard{
		Name: "turn",
		BeforeAgent: func(ctx agent.Context) (*genai.Content, error) {
			var skip *genai.Content
			recordKey.Of(ctx).do(func(r *record) {
				if r.turn != mine {
					skip = &genai.Content{Role: genai.RoleModel}
					return
				}
				r.turn = turnNobody
			})
			return skip, nil
		},
	}
}
