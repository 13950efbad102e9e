// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards/ledger"
)

// wrapTool reserves a tool's price around each call; it is paid once, however much it streams.
func (s *spend) wrapTool(t tool.Tool) tool.Tool {
	price, priced := s.o.ToolPrices[t.Name()]
	if !priced {
		return t
	}
	return callbacks.AroundTool(t, func(ctx agent.Context, args map[string]any, next callbacks.ToolCall) (map[string]any, error) {
		var res map[string]any
		err := s.pay(ctx, callbacks.PlaceOf(ctx), t.Name(), price, func() error {
			var err error
			res, err = next(ctx, args)
			return err
		})
		return res, err
	})
}

// pay reserves most, runs f and charges most: what a tool really cost nobody reports.
func (s *spend) pay(ctx context.Context, at callbacks.Place, what string, most ledger.Nano, f func() error) error {
	key, err := s.open(ctx, at)
	if err != nil {
		return s.refuse(ctx, at.Agent, err)
	}
	reserve := func() error {
		_, err := s.o.Ledger.Reserve(ctx, ledger.Request{Key: key, Amount: most, Lease: s.o.Lease, Estimate: ledger.Estimate{What: what, Method: "declared"}})
		return err
	}
	err = s.whileOthersSettle(ctx, func() error {
		err := reserve()
		if s.approve(ctx, err) {
			err = reserve()
		}
		return err
	})
	if err != nil {
		refusal := s.refuse(ctx, at.Agent, err)
		note(ctx, at.Agent, what, func(l *SpendLine) {
			l.Refused++
			l.Estimated += most
		})
		return refusal
	}
	defer func() {
		ctx := withoutCancel(ctx)
		defer s.settled(ctx)
		// A commit that fails leaves the reservation, which stays charged.
		r, err := s.o.Ledger.Commit(ctx, key, ledger.Charge{})
		note(ctx, at.Agent, what, func(l *SpendLine) {
			l.Calls++
			l.Estimated += most
			l.Reserved += most
			l.Charged += most
		})
		s.target(ctx, r, err)
	}()
	return f()
}

// Do lets anything else that bills, an embedding or a search, draw on the account
// of ctx's Run: it reserves most, runs f and charges most. The options must be those of
// the guard that the Run's agents have. It returns the refusal where the money is not
// there, and f is not run.
func (o SpendOptions) Do(ctx context.Context, name string, most ledger.Nano, f func() error) error {
	s, err := newSpend(o)
	if err != nil {
		return err
	}
	run := callbacks.RunOf(ctx)
	if run == nil {
		return errors.New("guards: SpendOptions.Do: no Run: start one with callbacks.Start")
	}
	if name == "" || most < 0 {
		return fmt.Errorf("guards: SpendOptions.Do: %q for %s", name, most)
	}
	id := s.o.Account(run)
	s.o.Account = func(*callbacks.Run) ledger.AccountID { return id }
	return s.pay(ctx, callbacks.Place{}, name, most, f)
}
