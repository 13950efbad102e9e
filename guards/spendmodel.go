// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// paidModel lets one attempt pass for which the most it can cost is reserved.
type paidModel struct {
	model.LLM
	s *spend
}

// GenerateContent implements model.LLM.
func (m *paidModel) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		agentName := ""
		if s, ok := callbacks.CurrentStep(ctx); ok {
			agentName = s.Agent
		}
		ctx, id := withResponseID(ctx)
		c, err := m.s.admit(ctx, agentName, m.Name(), req)
		if err != nil {
			note(ctx, agentName, m.modelName(req), func(l *SpendLine) { l.Refused++ })
			yield(nil, m.s.refuse(ctx, err))
			return
		}
		// Whatever happens, the call is settled once: by its usage, by a documented
		// error, or, with no news, at what was reserved.
		c.tapped = id
		defer c.settle(ctx)
		for resp, err := range m.LLM.GenerateContent(ctx, c.req, stream) {
			c.saw(resp, err)
			if !yield(resp, err) {
				return
			}
		}
	}
}

func (m *paidModel) modelName(req *model.LLMRequest) string {
	if req.Model != "" {
		return req.Model
	}
	return m.Name()
}

// paidCall is one reserved attempt.
type paidCall struct {
	s     *spend
	agent string
	what  string
	key   ledger.Key
	quote prices.Quote
	req   *model.LLMRequest

	reserved ledger.Nano
	usage    *genai.GenerateContentResponseUsageMetadata
	served   string
	id       string
	tapped   *responseID
	failure  error
	finished bool
}

// admit reserves the worst case of a call and returns the request bounded to it.
func (s *spend) admit(ctx context.Context, agentName, name string, req *model.LLMRequest) (*paidCall, error) {
	if req.Model != "" {
		name = req.Model
	}
	now := s.o.Now()
	quote, err := s.o.Prices.Quote(prices.Query{Backend: s.o.Backend, Model: name}, now, now.Add(s.o.Lease))
	if err != nil {
		return nil, err
	}
	bound, method, err := s.bound(req, quote)
	if err != nil {
		return nil, err
	}
	account, err := s.open(ctx, agentName)
	if err != nil {
		return nil, err
	}
	c := &paidCall{s: s, agent: agentName, what: name, key: s.key(ctx, account), quote: quote}
	// Siblings may take money between the look and the reservation: look again, a few
	// times, before saying no.
	for range 4 {
		var b ledger.Balance
		if b, err = s.o.Ledger.Balance(ctx, account); err != nil {
			return nil, err
		}
		try := bound
		if try.Output, err = quote.AffordableOutput(bound, s.available(ctx, account, b).Pico()); err != nil {
			return nil, err
		}
		if try.Output < min(s.o.MinOutput, bound.Output) {
			// Ask for the least that would do, so that the ledger says what is missing.
			try.Output = min(s.o.MinOutput, bound.Output)
		}
		var worst prices.Pico
		if worst, err = quote.WorstCase(try); err != nil {
			return nil, err
		}
		c.reserved = ledger.NanoOf(worst)
		var res ledger.Reservation
		res, err = s.o.Ledger.Reserve(ctx, ledger.Request{
			Key: c.key, Amount: c.reserved, Lease: s.o.Lease,
			Estimate: ledger.Estimate{What: name, Quote: quote, Bound: try, Method: method, Proven: method == "bytes"},
		})
		if err == nil && res.Duplicate {
			return nil, fmt.Errorf("guards: Spend: the call %s was paid for before", c.key)
		}
		if err == nil {
			c.req = limited(req, try.Output)
			return c, nil
		}
		if s.approve(ctx, err) {
			continue
		}
		var denied *ledger.DeniedError
		if !errors.As(err, &denied) || denied.Available < ledger.Nano(0) || try.Output <= s.o.MinOutput {
			return nil, err
		}
	}
	return nil, err
}

// available is what every account up to the root leaves.
func (s *spend) available(ctx context.Context, account ledger.AccountID, b ledger.Balance) ledger.Nano {
	least := left(b)
	if b.Mode != ledger.Cap {
		return least
	}
	for id := account.Parent(); id != ""; id = id.Parent() {
		if up, err := s.o.Ledger.Balance(ctx, id); err == nil {
			least = min(least, left(up))
		}
	}
	return least
}

func left(b ledger.Balance) ledger.Nano {
	out := b.Available()
	if b.Limits.Soft > 0 {
		out = min(out, max(0, b.Limits.Soft-b.Used()))
	}
	return out
}

// bound is the most a request can use: a token stands for at least a byte of UTF-8, so
// the request's JSON has no more tokens than bytes; declarations count twice, as
// providers rewrite them.
func (s *spend) bound(req *model.LLMRequest, quote prices.Quote) (prices.Bound, string, error) {
	b := prices.Bound{Output: s.o.MaxOutput, TextInput: true, TextOutput: true}
	if most := quote.MaxOutput(); most > 0 {
		b.Output = most
	}
	var system *genai.Content
	var tools []*genai.Tool
	if cfg := req.Config; cfg != nil {
		system, tools = cfg.SystemInstruction, cfg.Tools
		if cfg.MaxOutputTokens > 0 {
			b.Output = min(b.Output, int64(cfg.MaxOutputTokens))
		}
		if cfg.CachedContent != "" {
			return b, "", fmt.Errorf("%w: cached content has no size here", prices.ErrUnbounded)
		}
	}
	method := "bytes"
	unsized := hasMedia(req.Contents) || serverTools(tools)
	if unsized {
		if !s.o.AllowUnbounded {
			return b, "", fmt.Errorf("%w: files, media or tools on the provider's servers; see SpendOptions.AllowUnbounded", prices.ErrUnbounded)
		}
		method, b.TextInput = "context_window", false
	}
	size, err := bytesOf(req.Contents, system)
	if err != nil {
		return b, "", err
	}
	decls, err := bytesOf(tools)
	if err != nil {
		return b, "", err
	}
	b.Input = size + 2*decls + 64
	if window := quote.MaxInput(); window > 0 && (unsized || b.Input > window) {
		b.Input = window
	} else if unsized {
		return b, "", fmt.Errorf("%w: the price table has no context window for it", prices.ErrUnbounded)
	}
	return b, method, nil
}

func bytesOf(values ...any) (int64, error) {
	var n int64
	for _, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return 0, fmt.Errorf("guards: Spend: measuring a request: %w", err)
		}
		n += int64(len(raw))
	}
	return n, nil
}

func hasMedia(contents []*genai.Content) bool {
	for _, c := range contents {
		if c == nil {
			continue
		}
		for _, p := range c.Parts {
			if p != nil && (p.FileData != nil || p.InlineData != nil && !strings.HasPrefix(p.InlineData.MIMEType, "text/")) {
				return true
			}
		}
	}
	return false
}

// serverTools reports tools that the provider runs and bills by itself.
func serverTools(tools []*genai.Tool) bool {
	for _, t := range tools {
		if t != nil && (t.GoogleSearch != nil || t.GoogleSearchRetrieval != nil || t.GoogleMaps != nil || t.CodeExecution != nil ||
			t.URLContext != nil || t.FileSearch != nil || t.EnterpriseWebSearch != nil || t.Retrieval != nil || t.ComputerUse != nil) {
			return true
		}
	}
	return false
}

// limited is the request with its output bounded and one candidate asked for. The
// request itself is not changed.
func limited(req *model.LLMRequest, output int64) *model.LLMRequest {
	c := *req
	var cfg genai.GenerateContentConfig
	if req.Config != nil {
		cfg = *req.Config
	}
	cfg.MaxOutputTokens = int32(min(output, 1<<31-1)) //nolint:gosec // bounded
	cfg.CandidateCount = 1
	// One attempt: a client's own retries would be billed and not counted.
	var opts genai.HTTPOptions
	if cfg.HTTPOptions != nil {
		opts = *cfg.HTTPOptions
	}
	opts.RetryOptions = nil
	cfg.HTTPOptions = &opts
	c.Config = &cfg
	return &c
}

func (c *paidCall) saw(resp *model.LLMResponse, err error) {
	if err != nil {
		c.failure = err
		return
	}
	if resp == nil {
		return
	}
	if resp.UsageMetadata != nil {
		c.usage = resp.UsageMetadata // the newest: chunks repeat it
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
	ctx, cancel := settleContext(ctx)
	defer cancel()
	if detail, ok := c.unbilled(); ok {
		if err := c.s.o.Ledger.Release(ctx, c.key, ledger.Proof{Reason: ledger.ProviderUnbilled, Detail: detail}); err == nil {
			note(ctx, c.agent, c.what, func(l *SpendLine) { l.Calls++ })
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
		l.Reserved += c.reserved
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
	if err == nil && len(r.TargetsPassed) > 0 && s.o.OnTarget != nil {
		s.o.OnTarget(ctx, r)
	}
}

// unbilled reports an outcome that the backend documents as free.
//
// Gemini: "If your request fails with a 400 or 500 error, you won't be charged for the
// tokens used" (ai.google.dev/gemini-api/docs/billing). No other backend promises it in
// its documentation, so there errors stay charged.
func (c *paidCall) unbilled() (detail string, ok bool) {
	if c.failure == nil || c.usage != nil {
		return "", false
	}
	var api genai.APIError
	if c.s.o.Backend != "gemini" || !errors.As(c.failure, &api) || api.Code < 400 || api.Code > 599 {
		return "", false
	}
	return fmt.Sprintf("HTTP %d %s: requests that fail with 4xx or 5xx are not billed (Gemini API billing page)", api.Code, http.StatusText(api.Code)), true
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
	return prices.Usage{Input: in, Output: out, CacheRead: min(int64(u.CachedContentTokenCount), in), Reasoning: min(thoughts, out)}
}
