// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sources fetches public facts about one supplier: who it is, whether a
// court procedure is open, what its accounts say, whether it is on a sanctions
// list. There is one code path: every source is an HTTP client, and the modes
// differ only in the [http.RoundTripper] below it (the network, or the embedded
// sample set of fictional companies).
//
// # Values, not errors
//
// A look-up that fails is a value: its [Envelope] carries a [Status], so that
// "nothing found" and "could not look" stay different things all the way to the
// report. No look-up returns a Go error; after a cancelled context every
// remaining look-up reads source_unavailable, and the caller knows why from its
// own context.
//
// # Trust
//
// Everything a source answers is data written by strangers. Names are cut to
// 200 characters and titles to 300, control, bidirectional and invisible
// characters are removed, and no address found in an answer is ever fetched.
// Markup is left for the output format to escape.
//
// A [Client] is safe for concurrent use.
package sources
