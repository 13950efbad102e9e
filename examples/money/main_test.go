// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// reader on gemini-2.5-flash: 4 calls charged $0.00138, 1 refused
	// status: budget_exhausted
}
