// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "io"

func Example() {
	run(io.Discard)
	// Output:
	// Pay [IBAN redacted].
	// the model read: Ask [email redacted]
	// stashed: map[registry:map[contact:[email redacted] siren:552081317]]
}
