// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// wrapModel lets one attempt pass for which the most it can cost is reserved.
func (s *spend) wrapModel(next model.LLM) model.LLM {
	return callbacks.AroundModel(next, func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			step, _ := callbacks.CurrentStep(ctx)
			at := step.Place()
			c := &paidCall{s: s, client: next, agent: at.Agent, what: cmp.Or(req.Model, next.Name()), stream: stream}
			ctx := context.WithValue(ctx, responseIDKey{}, &c.tapped)
			if err := c.admit(ctx, at, req); err != nil {
				refusal := s.refuse(ctx, at.Agent, err)
				note(ctx, c.agent, c.what, func(l *SpendLine) {
					l.Refused++
					l.Estimated += c.estimated
				})
				yield(nil, refusal)
				return
			}
			// Whatever happens, the call is settled once: by its usage, by a documented
			// error, or, with no news, at what was reserved. The last of the answer is handed
			// on when that is done: tools run before the consumer asks for more, and agents
			// among them need the money that is left over.
			defer c.settle(ctx)
			var last *model.LLMResponse
			var failure error
			for resp, err := range c.wire.generate(ctx, next, c.req, stream) {
				c.saw(resp, err)
				if (last != nil || failure != nil) && !yield(last, failure) {
					return
				}
				last, failure = resp, err
				if err == nil && resp != nil && resp.Partial {
					last = nil
					if !yield(resp, nil) {
						return
					}
				}
			}
			c.settle(ctx)
			if last != nil || failure != nil {
				yield(last, failure)
			}
		}
	})
}

// paidCall is one attempt.
type paidCall struct {
	s      *spend
	agent  string
	what   string
	stream bool
	client model.LLM
	key    ledger.Key
	quote  prices.Quote // what the call can be priced at
	asked  prices.Quote // the part of it for the service tier that was asked for
	// quoteOf gives the prices of a service tier at the time of the call.
	quoteOf func(service string) (prices.Quote, error)
	req     *model.LLMRequest

	estimated ledger.Nano // what the call as it was asked for can cost
	reserved  ledger.Nano // what is set aside for the call as it is made
	usage     *genai.GenerateContentResponseUsageMetadata
	traffic   genai.TrafficType
	served    string
	id        string
	tapped    responseID
	wire      wire
	failure   error
	answered  bool // something arrived
	wrote     bool // some of it is content
	outdated  bool // content arrived after the newest usage
	finished  bool // the last of it did
	settled   bool
}

// admit reserves the worst case of a call, with less output where not all of it is
// affordable, and bounds the request to it.
func (c *paidCall) admit(ctx context.Context, at callbacks.Place, req *model.LLMRequest) error {
	s := c.s
	now := s.o.Now()
	asked, err := checkOptions(optionsOf(c.client, req.Config))
	if err != nil {
		return &unboundedError{err}
	}
	c.quoteOf = func(service string) (prices.Quote, error) {
		return s.o.Prices.Quote(prices.Query{Backend: s.o.Backend, Model: c.what, Service: service}, now, now.Add(s.o.Lease))
	}
	if c.asked, c.quote, err = c.quotes(asked, req.Config); err != nil {
		return &unboundedError{err}
	}
	bound, method, err := s.bound(req, c.quote)
	if err != nil {
		return &unboundedError{err}
	}
	worst, err := c.quote.WorstCase(bound)
	if errors.Is(err, prices.ErrOverflow) || worst > ledger.MaxAmount.Pico() {
		// More than any account can hold: ask for what the largest could.
		if bound.Output, err = c.quote.AffordableOutput(bound, ledger.MaxAmount.Pico()); err == nil {
			worst, err = c.quote.WorstCase(bound)
		}
	}
	if err != nil {
		return &unboundedError{err}
	}
	c.estimated = ledger.NanoOf(worst)
	if c.key, err = s.open(ctx, at); err != nil {
		return err
	}
	return s.whileOthersSettle(ctx, func() error {
		asked := bound
		err := c.reserve(ctx, c.estimated, asked, method)
		// Siblings may take money between a look and a reservation: look again, a few
		// times, before saying no.
		for range 4 {
			var denied *ledger.DeniedError
			if err == nil || !errors.As(err, &denied) {
				break
			}
			var amount ledger.Nano
			var found error
			if amount, asked, found = c.affordable(ctx, bound); found != nil {
				return found
			}
			if err = c.reserve(ctx, amount, asked, method); err != nil && !s.approve(ctx, err) && asked.Output <= min(s.o.MinOutput, bound.Output) {
				break
			}
		}
		if err == nil {
			c.req = limited(req, asked.Output)
		}
		return err
	})
}

// affordable is the call with as much output as there is money for now. Where that is
// less than the least that would do it is the least, so that the ledger says what is
// missing.
func (c *paidCall) affordable(ctx context.Context, bound prices.Bound) (ledger.Nano, prices.Bound, error) {
	left, err := c.s.available(ctx, c.key.Account)
	if err != nil {
		return 0, bound, err
	}
	output, err := c.quote.AffordableOutput(bound, left.Pico())
	if err != nil {
		return 0, bound, &unboundedError{err}
	}
	bound.Output = max(output, min(c.s.o.MinOutput, bound.Output))
	worst, err := c.quote.WorstCase(bound)
	if err != nil {
		return 0, bound, &unboundedError{err}
	}
	return ledger.NanoOf(worst), bound, nil
}

func (c *paidCall) reserve(ctx context.Context, amount ledger.Nano, bound prices.Bound, method string) error {
	res, err := c.s.o.Ledger.Reserve(ctx, ledger.Request{
		Key: c.key, Amount: amount, Lease: c.s.o.Lease,
		Estimate: ledger.Estimate{What: c.what, Quote: c.quote, Bound: bound, Method: method, Proven: method == "bytes"},
	})
	if err == nil && res.Duplicate {
		return fmt.Errorf("guards: Spend: the call %s was paid for before", c.key)
	}
	c.reserved = amount
	return err
}

// limited is the request with its output bounded and one candidate asked for. The
// request itself is not changed.
func limited(req *model.LLMRequest, output int64) *model.LLMRequest {
	one := once(req)
	one.Config.MaxOutputTokens = int32(min(output, 1<<31-1)) //nolint:gosec // bounded
	one.Config.CandidateCount = 1
	// Not nil, which would have the client's own body merged into the request: see
	// checkOptions, which may not see the client.
	one.Config.HTTPOptions.ExtraBody = map[string]any{}
	return one
}
