// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

// An error of a constructor names the field and says what it must be.
func TestOptionErrorsNameTheField(t *testing.T) {
	spend := func(o guards.SpendOptions) callbacks.Guard {
		o.Ledger = memory(t)
		return guards.Spend(o)
	}
	one := ledger.Limits{Hard: 1}
	for want, g := range map[string]callbacks.Guard{
		"Deadline limits nothing: set Agent, ModelCall or ToolCall":        guards.Deadline(0),
		"Deadline: ToolCall is -1s, it must not be negative":               guards.DeadlineOptions{Agent: 1, ToolCall: -time.Second}.Guard(),
		"RateLimit: Calls is 0, it must be more than zero":                 guards.RateLimit(0, time.Hour),
		"RateLimit: Every is 0s, it must be more than zero":                guards.RateLimit(1, 0),
		"RateLimit: Burst is -1, it must not be negative":                  guards.RateLimitOptions{Calls: 1, Every: 1, Burst: -1}.Guard(),
		"RateLimit: Per is 16, it must be PerAll, or":                      guards.RateLimitOptions{Calls: 1, Every: 1, Per: 16}.Guard(),
		"Retry: ToolFailures is -2, it must not be negative":               guards.RetryOptions{ToolFailures: -2}.Guard(),
		"Loop: Repeats is 1, it must be at least 2":                        guards.LoopOptions{Repeats: 1}.Guard(),
		"Loop: Window is 2, it must be at least Repeats, which is 3":       guards.LoopOptions{Window: 2}.Guard(),
		"Window: Tokens is -1, it must not be negative":                    guards.WindowOptions{Tokens: -1}.Guard(),
		"Window limits nothing: set Turns or Tokens":                       guards.WindowOptions{}.Guard(),
		"Route: FirstChunk is -1s, it must not be negative":                guards.RouteOptions{Cheap: &billing{}, FirstChunk: -time.Second}.Guard(),
		"Spend: Limits.Hard is $0, set the most that may be spent":         spend(guards.SpendOptions{}),
		"Spend: MinOutput is -1, it must not be negative":                  spend(guards.SpendOptions{Limits: one, MinOutput: -1}),
		`Spend: Limits of slice "a".Hard is $0, set the most that may`:     spend(guards.SpendOptions{Limits: one, Slices: []guards.Slice{{Name: "a"}}}),
		"CallBudget(0) would refuse every call; leave Calls of CallBudget": guards.CallBudget(0),
	} {
		require.ErrorContains(t, g.Err, "guards: "+want)
		require.NotContains(t, g.Err.Error(), "check")
	}
}
