// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Pico is an amount or a price in pico-USD, 1e-12 USD. The largest amount is $9.2 million.
type Pico int64

// ErrOverflow is returned when an amount is more than a Pico can hold. Nothing that costs
// this much is worth guessing about.
var ErrOverflow = errors.New("amount is more than 9.2 million USD")

// PerMillion writes a price the way price pages do: USD per million tokens.
func (p Pico) PerMillion() string {
	// 1 pico-USD per token is 1e-6 USD per million tokens.
	whole, micros := int64(p)/1_000_000, int64(p)%1_000_000
	s := strconv.FormatInt(whole, 10)
	if micros == 0 {
		return s
	}
	digits := strconv.FormatInt(1_000_000+micros, 10)[1:]
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return s + "." + digits
}

// ParsePerMillion reads a price the way price pages write it, "2.55": USD per million
// tokens, at most six decimals, exactly.
func ParsePerMillion(usd string) (Pico, error) {
	whole, fraction, dot := strings.Cut(usd, ".")
	digits := whole + fraction
	if whole == "" || dot && fraction == "" || len(fraction) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a price in USD per million tokens such as 2.55", usd)
	}
	p, err := strconv.ParseInt(digits+strings.Repeat("0", 6-len(fraction)), 10, 64)
	if err != nil {
		return 0, ErrOverflow
	}
	return Pico(p), nil
}

// sum adds products of non-negative factors and remembers whether it ever overflowed.
type sum struct {
	total    int64
	overflow bool
}

func (s *sum) add(count int64, price Pico) {
	hi, lo := bits.Mul64(uint64(count), uint64(price)) //nolint:gosec // both are checked to be non-negative
	if hi != 0 || lo > uint64(1<<63-1-s.total) {
		s.overflow = true
		return
	}
	s.total += int64(lo) //nolint:gosec // bounded by the line above
}

func (s *sum) pico() (Pico, error) {
	if s.overflow {
		return 0, ErrOverflow
	}
	return Pico(s.total), nil
}
