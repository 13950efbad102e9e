// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
)

// wrapModel takes slots for the attempts beyond the first, which guards that stand
// outside this one make (retries and fallbacks), and charges the tokens of each.
func (b *budget) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		s, ok := callbacks.CurrentStep(ctx)
		if !ok || !b.use(ctx, s.Place()) {
			if _, err := b.admit(ctx, s.Place(), false); err != nil {
				return func(yield func(*model.LLMResponse, error) bool) { yield(nil, err) }
			}
		}
		return func(yield func(*model.LLMResponse, error) bool) {
			var usage *genai.GenerateContentResponseUsageMetadata
			var answer *genai.Content
			failed := false
			// Also where the consumer goes away in mid-stream: what was read is charged.
			defer func() {
				if !failed || usage != nil {
					b.charge(ctx, usage, req, answer)
				}
			}()
			for resp, err := range new(wire).generate(ctx, next, once(req), stream) {
				failed = err != nil
				if resp != nil {
					if resp.UsageMetadata != nil {
						// Chunks report the sum so far; the last report is the whole.
						usage = resp.UsageMetadata
					}
					answer = resp.Content
				}
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

// use claims the slot that before took for this step's call.
func (b *budget) use(ctx context.Context, p callbacks.Place) bool {
	r, at := b.key.Of(ctx), b.at.At(ctx, p)
	r.mu.Lock()
	defer r.mu.Unlock()
	held := at.held
	at.held, at.wrapped = false, true
	return held
}

// charge adds the tokens of one call to the account.
func (b *budget) charge(ctx context.Context, u *genai.GenerateContentResponseUsageMetadata, req *model.LLMRequest, answer *genai.Content) {
	if b.Tokens == Unlimited {
		return
	}
	r := b.key.Of(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := usedTokens(u)
	if n == 0 {
		n = estimate(answer)
		if req != nil {
			n += estimate(req.Contents...)
		}
		r.estimated = r.estimated || n > 0
	}
	// Where the store fails now, it fails at the next call too, which is refused.
	_, _ = b.spent(withoutCancel(ctx), r, n)
}

// spent adds n tokens and returns the sum.
func (b *budget) spent(ctx context.Context, r *budgetRun, n int64) (int64, error) {
	if b.Tokens == Unlimited {
		return 0, nil
	}
	store, key, err := b.runCounters(ctx, r)
	if err != nil {
		return 0, err
	}
	return store.Add(ctx, key+"tokens", n)
}

// usedTokens is input, output, thinking and what tools the provider ran have used.
// Where a provider's total says more, the total counts.
func usedTokens(u *genai.GenerateContentResponseUsageMetadata) int64 {
	if u == nil {
		return 0
	}
	sum := int64(max(0, u.PromptTokenCount)) + int64(max(0, u.CandidatesTokenCount)) +
		int64(max(0, u.ThoughtsTokenCount)) + int64(max(0, u.ToolUsePromptTokenCount))
	return max(sum, int64(u.TotalTokenCount))
}

// estimate is a rough count for a model that reports none: four bytes a token.
func estimate(contents ...*genai.Content) int64 {
	var bytes int
	for _, c := range contents {
		if c == nil {
			continue
		}
		for _, p := range c.Parts {
			switch {
			case p == nil:
			case p.FunctionCall != nil:
				bytes += len(p.FunctionCall.Name) + encodedLen(p.FunctionCall.Args)
			case p.FunctionResponse != nil:
				bytes += len(p.FunctionResponse.Name) + encodedLen(p.FunctionResponse.Response)
			default:
				bytes += len(p.Text)
			}
		}
	}
	return int64(bytes+3) / 4
}

// encodedLen is 0 for what can't be sent.
func encodedLen(m map[string]any) int {
	enc, err := json.Marshal(m)
	if err != nil {
		return 0
	}
	return len(enc)
}

// told is the line that tells a model what is left.
func (b *budget) told(lang text.Lang, left whatIsLeft) string {
	parts := []string{text.Get(lang, text.LeftCalls, left.calls)}
	if b.Calls == Unlimited {
		parts = nil
	}
	if b.Tokens != Unlimited {
		parts = append(parts, text.Get(lang, text.LeftTokens, max(0, left.tokens)))
	}
	if b.Time != unlimitedTime {
		parts = append(parts, text.Get(lang, text.LeftTime, seconds(left.time)))
	}
	return text.Get(lang, text.LeftAfter, strings.Join(parts, ", "))
}

// seconds writes a duration as reasons have it: "90 s", "1.5 s".
func seconds(d time.Duration) string {
	return fmt.Sprintf("%.4g s", d.Round(100*time.Millisecond).Seconds())
}
