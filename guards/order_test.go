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

// What counts or pays for calls stands inside what makes further ones.
func TestWhatCountsModelCallsStandsAfterWhatBringsThem(t *testing.T) {
	bring := map[string]callbacks.Guard{
		"finish": guards.Finish("lookup", nil), "reask": guards.Reask(), "retry": guards.Retry(), "route": guards.Route(&billing{}), "window": guards.Window(3),
	}
	count := map[string]callbacks.Guard{
		"spend":  guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: usd(t, "1")}, Prices: dear(t)}),
		"budget": guards.CallBudget(2), "rate": guards.RateLimitOptions{Calls: 1, Every: time.Minute, Models: true}.Guard(),
	}
	for brings, b := range bring {
		for counts, c := range count {
			require.NoError(t, callbacks.New(b, c).Err(), "%s, %s", brings, counts)
			require.ErrorIs(t, callbacks.New(c, b).Err(), callbacks.ErrOrder, "%s, %s", counts, brings)
		}
	}
}
