// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

func (c *paidCall) saw(resp *model.LLMResponse, err error) {
	if err != nil {
		c.failure = err
		return
	}
	if resp == nil {
		return
	}
	c.answered = true
	if u := resp.UsageMetadata; u != nil && u.PromptTokenCount+u.CandidatesTokenCount+u.TotalTokenCount > 0 {
		c.usage = u // the newest: chunks repeat it, and some name only the kind of traffic
	}
	if resp.ModelVersion != "" {
		c.served = resp.ModelVersion
	}
	if id, ok := resp.CustomMetadata["openai_response_id"].(string); ok {
		c.id = id
	}
	c.finished = c.finished || !resp.Partial
}

// settle ends the reservation, once, also where the consumer went away or a panic is
// on its way up.
func (c *paidCall) settle(ctx context.Context) {
	if c.settled {
		return
	}
	c.settled = true
	ctx = withoutCancel(ctx)
	defer c.s.settled(ctx)
	if proof, ok := c.unbilled(); ok {
		if err := c.s.o.Ledger.Release(ctx, c.key, proof); err == nil {
			note(ctx, c.agent, c.what, func(l *SpendLine) {
				l.Calls++
				l.Estimated += c.estimated
			})
			return
		}
	}
	charge := ledger.Charge{ResponseID: cmp.Or(c.id, c.tapped.get()), Model: c.served}
	if c.usage != nil && c.finished && c.failure == nil {
		usage := usageOf(c.s.o.Backend, c.usage)
		if cost, err := c.quote.Cost(usage); err == nil {
			charge.Source, charge.Actual, charge.Usage = ledger.SourceProvider, ledger.NanoOf(cost), usage
		}
	}
	r, err := c.s.o.Ledger.Commit(ctx, c.key, charge)
	note(ctx, c.agent, c.what, func(l *SpendLine) {
		l.Calls++
		l.Estimated += c.estimated
		l.Reserved += c.reserved
		l.TokensIn += charge.Usage.Input
		l.TokensCached += charge.Usage.CacheRead
		if err != nil {
			// Not settled: the lease ends and the reservation stays charged.
			l.Charged += c.reserved
			return
		}
		l.Charged += r.Charged
		l.Overrun += r.Overrun
	})
	c.s.target(ctx, r, err)
}

func (s *spend) target(ctx context.Context, r ledger.Receipt, err error) {
	if err != nil || len(r.TargetsPassed) == 0 {
		return
	}
	targetPassedKey.Of(ctx).Store(true)
	if s.o.OnTarget != nil {
		s.o.OnTarget(ctx, r)
	}
}

// targetPassedKey says whether a Run draws on an account that is past its target.
var targetPassedKey = callbacks.NewKey(func() *atomic.Bool { return &atomic.Bool{} })

// unbilledBy says which error statuses a backend documents as free, and where: from and
// to, both included. What is not here is charged:
//
//   - OpenAI promises it for 429 of its flex tier alone, which Spend doesn't ask for; for
//     any other failed request its documentation says nothing.
//   - Anthropic promises it for items of a batch and for refusals before any output; for
//     429, 529 and 5xx of a message its documentation says nothing.
//   - Azure OpenAI documents the opposite: 400 by a content filter and 408 are billed.
var unbilledBy = map[string]struct {
	from, to int
	source   string
}{
	"gemini":    {400, 599, "requests that fail with a 400 or 500 error are not charged: ai.google.dev/gemini-api/docs/billing"},
	"vertex_ai": {400, 599, "only requests that return 200 are charged: cloud.google.com/vertex-ai/generative-ai/pricing"},
}

// unbilled reports an outcome that is known to cost nothing: the request never left, or
// the backend answered it, before anything else, with a status it documents as free. An
// error after a first piece of the answer came with a status of 200, and is charged.
func (c *paidCall) unbilled() (ledger.Proof, bool) {
	if c.failure == nil || c.answered {
		return ledger.Proof{}, false
	}
	var dial *net.OpError
	if errors.As(c.failure, &dial) && dial.Op == "dial" {
		return ledger.Proof{Reason: ledger.NotDispatched}, true
	}
	var api genai.APIError
	rule, ok := unbilledBy[c.s.o.Backend]
	if !ok || !errors.As(c.failure, &api) || api.Code < rule.from || api.Code > rule.to {
		return ledger.Proof{}, false
	}
	return ledger.Proof{Reason: ledger.ProviderUnbilled, Detail: fmt.Sprintf("HTTP %d %s: %s", api.Code, http.StatusText(api.Code), rule.source)}, true
}

// usageOf reads usage as each backend means it. Gemini reports thoughts beside
// candidates and tool-use tokens beside the prompt; ADK's OpenAI adapter reports
// reasoning inside candidates.
func usageOf(backend string, u *genai.GenerateContentResponseUsageMetadata) prices.Usage {
	in := int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount)
	thoughts := int64(u.ThoughtsTokenCount)
	out := int64(u.CandidatesTokenCount)
	if backend == "gemini" || backend == "vertex_ai" {
		out += thoughts
	}
	// Where the total says more, the total is right.
	out = max(out, int64(u.TotalTokenCount)-in)
	reasoning := min(thoughts, out)
	var images int64
	for _, d := range u.CandidatesTokensDetails {
		if d != nil && d.Modality == genai.MediaModalityImage {
			images += int64(d.TokenCount)
		}
	}
	return prices.Usage{
		Input: in, Output: out, CacheRead: min(int64(u.CachedContentTokenCount), in),
		Reasoning: reasoning, ImageOutput: min(images, out-reasoning),
	}
}
