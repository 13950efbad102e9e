// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/guards/ledger"
)

// ErrAddsNothing means that a raise is of no money.
var ErrAddsNothing = errors.New("keptrun: the raise adds nothing")

// A TooLittleError says that a run would have less than it has used.
type TooLittleError struct{ Limit, Used ledger.Nano }

// Error implements error.
func (e *TooLittleError) Error() string {
	return fmt.Sprintf("keptrun: a limit of %s, and %s is used", e.Limit, e.Used)
}

// Raised are the limits of an account once raise is applied: an amount of USD in all, or how
// much more with a + before it. Soft limit and target stay as far as the limit allows. The
// error matches [ErrAddsNothing], is a [*TooLittleError], or says that raise is no amount.
func Raised(b ledger.Balance, raise string) (ledger.Limits, error) {
	amount, more := strings.CutPrefix(raise, "+")
	hard, err := ledger.ParseUSD(amount)
	if err != nil {
		return b.Limits, err
	}
	if hard <= 0 {
		return b.Limits, ErrAddsNothing
	}
	if more {
		hard += b.Limits.Hard
	}
	if used := b.Spent + b.Held; hard < used {
		return b.Limits, &TooLittleError{hard, used}
	}
	return ledger.Limits{Hard: hard, Soft: min(b.Limits.Soft, hard), Target: min(b.Limits.Target, hard)}, nil
}

// RaiseFor is how much the limit hard of a run must rise, in whole cents, for each of its
// parts to get missing in one raise: a slice gets its share of any raise only, and so does
// what remains beside it.
func RaiseFor(hard, missing ledger.Nano) ledger.Nano {
	raise := missing
	for {
		least := leastGain(hard, raise)
		if least >= missing {
			return roundUp(raise)
		}
		raise += missing - least
	}
}

// leastGain is what the part of a run gets that gets least of a raise.
func leastGain(hard, raise ledger.Nano) ledger.Nano {
	least, rest := raise, raise
	before := agents.Slices(hard)
	for i, s := range agents.Slices(hard + raise) {
		gain := s.Limits.Hard
		if i < len(before) {
			gain -= before[i].Limits.Hard
		}
		least, rest = min(least, gain), rest-gain
	}
	return min(least, rest)
}

// roundUp is an amount in whole cents, at least one.
func roundUp(n ledger.Nano) ledger.Nano {
	const cent = 10_000_000
	return max(1, (n+cent-1)/cent) * cent
}
