// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// Pages 1 to 3 say it is solvent; the rest is unread.
	// calls: 4 - status: landed
}
