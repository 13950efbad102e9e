// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/codes"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/pipeline/supplier"
	"github.com/gardefou/gardefou/redact"
)

// maxCause is how much of an error people are shown; the journal has all of it.
const maxCause = 300

// tellFailed gives the Run the status of the first agent that failed or got no answer from
// its model: the report then lacks what that agent was there for.
func tellFailed(ctx context.Context) error {
	var failed []guards.Gap
	failed = append(failed, guards.Records(ctx).Gaps()...)
	failed = append(failed, unanswered(ctx)...)
	if len(failed) == 0 {
		return nil
	}
	first := failed[0]
	var by *callbacks.FailedError
	if errors.As(first.Err, &by) { // a guard's decision has a status of its own
		callbacks.RunOf(ctx).MarkShort(first.Agent, by.Refusal)
		return nil
	}
	r, err := redact.New(redact.Options{Language: callbacks.RunOf(ctx).Lang()})
	if err != nil {
		return err
	}
	reason := first.Agent
	if first.Err != nil {
		reason += ": " + r.String(first.Err.Error())
	}
	callbacks.RunOf(ctx).MarkShort(first.Agent, callbacks.End(codes.Code(callbacks.StatusFailed), "the agent failed").WithDetail(supplier.Clean(reason, maxCause)).WithCause(first.Err))
	return nil
}
