// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// 1 messages, from "question of day 1" to "question of day 1"; prompt changes: 0
	// 3 messages, from "question of day 1" to "question of day 2"; prompt changes: 0
	// 5 messages, from "question of day 1" to "question of day 3"; prompt changes: 0
	// 5 messages, from "question of day 1" to "question of day 4"; prompt changes: 0
	// 5 messages, from "question of day 1" to "question of day 5"; prompt changes: 0
	// 5 messages, from "question of day 1" to "question of day 6"; prompt changes: 0
}
