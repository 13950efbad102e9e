// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prices says what a model call costs and what it can cost at most.
//
// A [Table] holds dated rows, one per backend, model, service tier and period. Rates are
// whole pico-USD (1e-12 USD) per token: exact for every published price, where nano-USD is
// not. Nothing here is a float.
//
//	quote, err := prices.Default().Quote(prices.Query{Backend: "gemini", Model: "gemini-2.5-flash"}, now, now.Add(lease))
//	most, err := quote.WorstCase(prices.Bound{Input: 8192, Output: 1024, TextInput: true, TextOutput: true})
//	cost, err := quote.Cost(prices.Usage{Input: 6100, Output: 312})
//
// The package fails closed. A model that no row names is refused, never free; so is a row
// whose price is negative, zero without being declared free, or out of any plausible range.
// The backend is part of the key since the same model costs different amounts at different
// sellers.
//
// What it doesn't price: the storage of explicit caches (billed by the hour, not by the
// call), images by the piece, sound by the second. A row that its source prices in such a
// unit too is refused for anything but text.
//
// Tables are immutable and safe for concurrent use.
package prices
