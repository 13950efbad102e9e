// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
	wrote := hasContent(resp.Content)
	c.wrote = c.wrote || wrote
	u := resp.UsageMetadata
	if u != nil && u.TrafficType != "" {
		c.traffic = u.TrafficType // some chunks name only this
	}
	switch {
	case u != nil && u.PromptTokenCount+u.CandidatesTokenCount+u.TotalTokenCount > 0:
		// The newest: chunks report the sum so far. The last response of a stream, the
		// whole answer, repeats what the chunks reported.
		c.outdated = c.outdated && !resp.Partial && sameCounts(c.usage, u)
		c.usage = u
	case wrote && resp.Partial:
		c.outdated = c.usage != nil
	}
	if resp.ModelVersion != "" {
		c.served = resp.ModelVersion
	}
	if id, ok := resp.CustomMetadata["openai_response_id"].(string); ok {
		c.id = id
	}
	c.finished = c.finished || !resp.Partial
}

// used is the whole of what the call used, as far as it was reported: nil where the answer
// was cut off, or more of it came than the report knows of.
func (c *paidCall) used() *prices.Usage {
	if c.usage == nil || !c.finished || c.failure != nil || c.outdated {
		return nil
	}
	usage := usageOf(c.s.o.Backend, c.usage)
	if c.wrote && usage.Output == 0 {
		return nil
	}
	return &usage
}

func hasContent(c *genai.Content) bool {
	return c != nil && slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p != nil && !reflect.ValueOf(*p).IsZero() })
}

func sameCounts(a, b *genai.GenerateContentResponseUsageMetadata) bool {
	return a.PromptTokenCount == b.PromptTokenCount && a.CandidatesTokenCount == b.CandidatesTokenCount &&
		a.ThoughtsTokenCount == b.ThoughtsTokenCount && a.TotalTokenCount == b.TotalTokenCount
}

// settle ends the reservation, once, also where the consumer went away or a panic is
// on its way up.
func (c *paidCall) settle(ctx context.Context) {
	if c.settled {
		return
	}
	c.settled = true
	proof, unbilled := c.unbilled(ctx)
	ctx = withoutCancel(ctx)
	defer c.s.settled(ctx)
	if unbilled {
		if err := c.s.o.Ledger.Release(ctx, c.key, proof); err == nil {
			note(ctx, c.agent, c.what, func(l *SpendLine) {
				l.Calls++
				l.Estimated += c.estimated
			})
			return
		}
	}
	charge := ledger.Charge{ResponseID: cmp.Or(c.id, c.tapped.get()), Model: c.served}
	if usage := c.used(); usage != nil {
		quote, err := c.servedAt()
		var cost prices.Pico
		if err == nil {
			cost, err = quote.Cost(*usage)
		}
		if err == nil {
			charge.Source, charge.Actual, charge.Usage = ledger.SourceProvider, ledger.NanoOf(cost), *usage
		}
	}
	r, err := c.s.o.Ledger.Commit(ctx, c.key, charge)
	note(ctx, c.agent, c.what, func(l *SpendLine) {
		l.Calls++
		l.Estimated += c.estimated
		l.Reserved += c.reserved
		l.TokensIn += charge.Usage.Input
		l.TokensOut += charge.Usage.Output
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

// unbilledBy says which backends document error statuses as free, and where. What is not
// here is charged:
//
//   - OpenAI promises it for 429 of its flex tier alone, which Spend doesn't ask for; for
//     any other failed request its documentation says nothing.
//   - Anthropic promises it for items of a batch and for refusals before any output; for
//     429, 529 and 5xx of a message its documentation says nothing.
//   - Azure OpenAI documents the opposite: 400 by a content filter and 408 are billed.
var unbilledBy = map[string]string{
	"gemini":    "requests that fail with a 400 or 500 error are not charged: ai.google.dev/gemini-api/docs/billing",
	"vertex_ai": "only requests that return 200 are charged: cloud.google.com/vertex-ai/generative-ai/pricing",
}

// refusedStatus are the statuses with which a backend turns a request away, failedStatus
// those with which it breaks down, where it says so itself. After any other, a time-out or
// a gateway's, the model may have worked.
var (
	refusedStatus = []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests, 529,
	}
	failedStatus = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}
)

// unbilled reports an outcome that is known to cost nothing: this very request never left,
// or the backend answered it with a status that it documents as free. Where the call's
// context is done the error may be that of another call: net/http returns the cause of the
// cancellation, which in a group of agents is what the first of them failed with.
func (c *paidCall) unbilled(ctx context.Context) (ledger.Proof, bool) {
	if c.failure == nil || c.answered || ctx.Err() != nil {
		return ledger.Proof{}, false
	}
	if c.wire.neverLeft() {
		return ledger.Proof{Reason: ledger.NotDispatched}, true
	}
	source, ok := unbilledBy[c.s.o.Backend]
	var api genai.APIError
	if !ok || !errors.As(c.failure, &api) {
		return ledger.Proof{}, false
	}
	status := c.tapped.httpStatus()
	if status == 0 {
		if c.stream { // the error may stand inside an answer with the status 200
			return ledger.Proof{}, false
		}
		status = api.Code
	}
	// Without a body that it can read the client puts the status line where the backend
	// has a name for it.
	itself := !strings.HasPrefix(api.Status, strconv.Itoa(status))
	free := slices.Contains(refusedStatus, status) || itself && slices.Contains(failedStatus, status)
	if !free {
		return ledger.Proof{}, false
	}
	return ledger.Proof{Reason: ledger.ProviderUnbilled, Detail: fmt.Sprintf("HTTP %d %s: %s", status, http.StatusText(status), source)}, true
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
