// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"cmp"
	"fmt"
	"strconv"
)

// pick returns the first band that holds the value; compare says how the value
// stands to a bound.
func pick(bands []band, compare func(bound int64) int) band {
	for _, b := range bands {
		switch {
		case b.Below != nil && compare(*b.Below) < 0:
			return b
		case b.UpTo != nil && compare(*b.UpTo) <= 0:
			return b
		case b.Below == nil && b.UpTo == nil:
			return b
		}
	}
	panic("risk: the last band has no bound") // checked with the file
}

// rule writes the band in figures.
func (b band) rule(all []band) string {
	switch {
	case b.Below != nil:
		return fmt.Sprintf("below %d", *b.Below)
	case b.UpTo != nil:
		return fmt.Sprintf("up to %d", *b.UpTo)
	case len(all) < 2:
		return "any"
	case all[len(all)-2].UpTo != nil:
		return fmt.Sprintf("over %d", *all[len(all)-2].UpTo)
	}
	return fmt.Sprintf("from %d", *all[len(all)-2].Below)
}

func whole(v int64) func(int64) int {
	return func(bound int64) int { return cmp.Compare(v, bound) }
}

func decimal(v float64) func(int64) int {
	return func(bound int64) int { return cmp.Compare(v, float64(bound)) }
}

// percentOf compares 100·num/den with a bound without dividing; den is
// positive.
func percentOf(num, den int64) func(int64) int {
	return func(bound int64) int { return cmp.Compare(100*num, bound*den) }
}

// percentText is 100·num/den with one decimal, rounded half away from zero; den
// is positive.
func percentText(num, den int64) string {
	t := (2000*abs(num) + den) / (2 * den)
	sign := ""
	if num < 0 && t > 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%d.%d", sign, t/10, t%10)
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

func decimalText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
