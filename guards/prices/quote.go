// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Quote is the price a call was given, kept with its reservation so that no later table
// re-prices the past. The zero value prices nothing. Its rows must not be changed.
type Quote struct {
	// Table and SHA256 identify the table.
	Table  string `json:"table,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Rows are those in effect during the call. When a price changes meanwhile there are
	// two, and the dearest counts.
	Rows []Row `json:"rows,omitempty"`
}

// Free reports whether every row is declared free.
func (q Quote) Free() bool {
	return len(q.Rows) > 0 && !slices.ContainsFunc(q.Rows, func(r Row) bool { return !r.Free })
}

// MaxInput and MaxOutput are the model's limits in tokens, 0 where the table has none.
func (q Quote) MaxInput() int64 { return q.most(func(r *Row) int64 { return r.MaxInput }) }

// MaxOutput is the most tokens the model writes, 0 where the table doesn't say.
func (q Quote) MaxOutput() int64 { return q.most(func(r *Row) int64 { return r.MaxOutput }) }

// ImagesCostMore reports whether a token of an image in the output can cost more than one
// of text, in any row or tier, or costs what the table has in a unit that isn't applied.
func (q Quote) ImagesCostMore() bool {
	return slices.ContainsFunc(q.Rows, func(r Row) bool {
		if r.Free {
			return false
		}
		return r.Rates.filled().imagesCostMore() ||
			slices.ContainsFunc(r.Tiers, func(t Tier) bool { return t.over(r.Rates).imagesCostMore() }) ||
			slices.ContainsFunc(r.Unapplied, func(field string) bool { return strings.HasPrefix(field, "output_cost_per_image") })
	})
}

func (r Rates) imagesCostMore() bool { return r.ImageOutput > r.Output }

func (q Quote) most(limit func(*Row) int64) int64 {
	var m int64
	for i := range q.Rows {
		n := limit(&q.Rows[i])
		if n == 0 {
			return 0
		}
		m = max(m, n)
	}
	return m
}

// Cost is the price of a use: of the dearest row where there are several. Counts that
// contradict each other give [ErrUsage], an unknown fee [ErrUnbounded].
func (q Quote) Cost(u Usage) (Pico, error) {
	if err := u.check(); err != nil {
		return 0, err
	}
	return q.dearest(func(r *Row) (Pico, error) { return r.cost(u) })
}

// WorstCase is a price that no use within the bound exceeds: every token at the dearest rate
// it could be billed at, in every tier the input could reach, in every row.
func (q Quote) WorstCase(b Bound) (Pico, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	return q.dearest(func(r *Row) (Pico, error) { return r.worst(b) })
}

// AffordableOutput is the largest output, at most b.Output, with which the worst case is not
// above budget. It is negative when even no output at all would be.
func (q Quote) AffordableOutput(b Bound, budget Pico) (int64, error) {
	fits := func(output int64) (bool, error) {
		b.Output = output
		worst, err := q.WorstCase(b)
		if errors.Is(err, ErrOverflow) {
			return false, nil
		}
		return worst <= budget, err
	}
	most := b.Output
	if ok, err := fits(0); err != nil || !ok {
		return -1, err
	}
	low, high := int64(0), most
	for low < high {
		middle := low + (high-low+1)/2
		ok, err := fits(middle)
		if err != nil {
			return -1, err
		}
		if ok {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low, nil
}

func (q Quote) dearest(price func(*Row) (Pico, error)) (Pico, error) {
	if len(q.Rows) == 0 {
		return 0, fmt.Errorf("%w: the quote has no row", ErrUnpriced)
	}
	var most Pico
	for i := range q.Rows {
		p, err := price(&q.Rows[i])
		if err != nil {
			return 0, fmt.Errorf("price row %s: %w", q.Rows[i].Name(), err)
		}
		most = max(most, p)
	}
	return most, nil
}

func (r *Row) cost(u Usage) (Pico, error) {
	if r.Free {
		return 0, nil
	}
	rates := r.Rates.filled()
	for i := range r.Tiers {
		if u.Input > r.Tiers[i].Above {
			rates = r.Tiers[i].over(r.Rates)
		}
	}
	var s sum
	s.add(u.plainInput(), rates.Input)
	s.add(u.AudioInput-u.AudioCacheRead, rates.AudioInput)
	s.add(u.CacheRead-u.AudioCacheRead, rates.CacheRead)
	s.add(u.AudioCacheRead, rates.AudioCacheRead)
	s.add(u.CacheWrite, rates.CacheWrite)
	s.add(u.CacheWrite1h, rates.CacheWrite1h)
	s.add(u.Output-u.Reasoning-u.ImageOutput, rates.Output)
	s.add(u.Reasoning, rates.Reasoning)
	s.add(u.ImageOutput, rates.ImageOutput)
	if err := r.addFees(&s, u.Fees); err != nil {
		return 0, err
	}
	return s.pico()
}

func (r *Row) worst(b Bound) (Pico, error) {
	if r.Free {
		return 0, nil
	}
	if len(r.Unapplied) > 0 && (!b.TextInput || !b.TextOutput) {
		return 0, fmt.Errorf("%w for anything but text: %q isn't applied", ErrUnbounded, r.Unapplied)
	}
	input, output := r.Rates.filled().dearest(b)
	for i := range r.Tiers {
		if b.Input > r.Tiers[i].Above {
			in, out := r.Tiers[i].over(r.Rates).dearest(b)
			input, output = max(input, in), max(output, out)
		}
	}
	var s sum
	s.add(b.Input, input)
	s.add(b.Output, output)
	if err := r.addFees(&s, b.Fees); err != nil {
		return 0, err
	}
	return s.pico()
}

// dearest is the highest rate a token of the input and of the output can be billed at.
func (r Rates) dearest(b Bound) (input, output Pico) {
	input, output = max(r.Input, r.CacheRead), max(r.Output, r.Reasoning)
	if !b.NoCacheWrite {
		input = max(input, r.CacheWrite, r.CacheWrite1h)
	}
	if !b.TextInput {
		input = max(input, r.AudioInput, r.AudioCacheRead)
	}
	if !b.TextOutput {
		output = max(output, r.ImageOutput)
	}
	return input, output
}

func (r *Row) addFees(s *sum, fees Fees) error {
	for name, units := range fees {
		if units < 0 {
			return fmt.Errorf("%w: %d units of fee %q", ErrUsage, units, name)
		}
		fee, ok := r.Fees[name]
		if !ok && units > 0 {
			return fmt.Errorf("%w: the row lists no fee %q", ErrUnbounded, name)
		}
		s.add(units, fee.Price)
	}
	return nil
}
