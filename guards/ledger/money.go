// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"

	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/usd"
)

// Nano is an amount of money in nano-USD, 1e-9 USD. In text and JSON it is a decimal number of
// USD in a string, "0.012345678".
type Nano int64

// MaxAmount is the largest amount an account handles, 9.007 million USD: the largest integer
// that every store, Lua and JSON readers included, holds exactly.
const MaxAmount = Nano(usd.Max)

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
	n, err := usd.Parse(s)
	return Nano(n), err
}

// String writes the amount for people: "$0.10".
func (n Nano) String() string {
	if n < 0 {
		return "-$" + usd.Format(int64(n))[1:]
	}
	return "$" + usd.Format(int64(n))
}

// MarshalText writes a decimal number of USD.
func (n Nano) MarshalText() ([]byte, error) { return []byte(usd.Format(int64(n))), nil }

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
