// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package line

import "github.com/gardefou/gardefou/internal/usd"

// An Amount is money in nano-USD, 1e-9 USD; in a line a decimal number of USD in a string,
// "0.012345678". It is a ledger.Nano of package guards/ledger, which converts to and from it.
type Amount int64

// MarshalText writes a decimal number of USD.
func (a Amount) MarshalText() ([]byte, error) { return []byte(usd.Format(int64(a))), nil }

// UnmarshalText reads what MarshalText writes, and refuses negative amounts.
func (a *Amount) UnmarshalText(text []byte) error {
	n, err := usd.Parse(string(text))
	if err != nil {
		return err
	}
	*a = Amount(n)
	return nil
}
