// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usd writes and reads amounts of nano-USD, 1e-9 USD, as decimal numbers of USD.
package usd

import (
	"fmt"
	"strconv"
	"strings"
)

// Max is the largest amount that Parse reads, 9.007 million USD: the largest integer that
// every store and reader, Lua and JSON readers included, holds exactly.
const Max int64 = 1<<53 - 1

const nanoPerUSD = 1_000_000_000

// Parse reads a decimal amount of USD such as "1", "0.10" or "0.000000001". It refuses
// signs, exponents, more than nine decimals and amounts above [Max].
func Parse(s string) (int64, error) {
	whole, fraction, dot := strings.Cut(s, ".")
	if whole != "" && (!dot || fraction != "") && len(fraction) <= 9 && digits(whole) && digits(fraction) {
		n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
		if err == nil && n <= Max {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is not an amount of USD such as 0.10", s)
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// Format writes at least two decimals and no more than needed.
func Format(n int64) string {
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
