// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/guards/prices"
)

// Nano is an amount of money in nano-USD, 1e-9 USD. In text and JSON it is a decimal number of
// USD in a string, "0.012345678".
type Nano int64

// MaxAmount is the largest amount an account handles, 9.007 million USD: the largest integer
// that every store, Lua and JSON readers included, holds exactly.
const MaxAmount Nano = 1<<53 - 1

const nanoPerUSD = 1_000_000_000

// NanoOf rounds a price up to the next nano-USD.
func NanoOf(p prices.Pico) Nano {
	n := Nano(p / 1000)
	if p%1000 > 0 {
		n++
	}
	return n
}

// Pico is the amount in the unit of prices. Amounts above [MaxAmount] give the largest Pico.
func (n Nano) Pico() prices.Pico {
	if n > MaxAmount {
		return 1<<63 - 1
	}
	return prices.Pico(n) * 1000
}

// ParseUSD reads a decimal amount of USD such as "1", "0.10" or "0.000000001". It refuses
// signs, exponents, more than nine decimals and amounts above [MaxAmount].
func ParseUSD(s string) (Nano, error) {
	fail := func() (Nano, error) { return 0, fmt.Errorf("%q is not an amount of USD such as 0.10", s) }
	whole, fraction, dot := strings.Cut(s, ".")
	if whole == "" || dot && fraction == "" || len(fraction) > 9 || !digits(whole) || !digits(fraction) {
		return fail()
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
	if err != nil || Nano(n) > MaxAmount {
		return fail()
	}
	return Nano(n), nil
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// decimal writes at least two decimals and no more than needed.
func (n Nano) decimal() string {
	sign, u := "", uint64(n) //nolint:gosec // the sign is handled below
	if n < 0 {
		sign, u = "-", -u
	}
	fraction := strings.TrimRight(strconv.FormatUint(nanoPerUSD+u%nanoPerUSD, 10)[1:], "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return sign + strconv.FormatUint(u/nanoPerUSD, 10) + "." + fraction
}

// String writes the amount for people: "$0.10".
func (n Nano) String() string {
	if n < 0 {
		return "-$" + (-n).decimal()
	}
	return "$" + n.decimal()
}

// MarshalText writes a decimal number of USD.
func (n Nano) MarshalText() ([]byte, error) { return []byte(n.decimal()), nil }

// UnmarshalText reads what MarshalText writes, and refuses negative amounts.
func (n *Nano) UnmarshalText(text []byte) error {
	v, err := ParseUSD(string(text))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

func (n Nano) check() error {
	if n < 0 || n > MaxAmount {
		return errors.New("amount must be from $0 to " + MaxAmount.String())
	}
	return nil
}
