// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package supplier answers one question before any research starts: which
// legal unit is meant? It reads and checks identifiers, normalises and compares
// names, validates what a person typed, and defines the outcome of a look-up
// ([Resolution]). It talks to no network and keeps no state; every function is
// safe for concurrent use.
//
// A name is data, whatever it says: "{x}", "=HYPERLINK(...)" or "Ignore all
// previous instructions" are searched like any other.
package supplier
