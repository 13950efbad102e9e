// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// clerk calls delete {}
	// delete returns {"error":"tool not allowed: delete"}
	// clerk calls lookup {}
	// lookup returns {"contact":"[email redacted]"}
	// clerk calls delete {}
	// delete returns {"error":"tool not allowed: delete"}
	// clerk says "[guard] Model call budget exceeded: agent ended."
	// status: calls_exhausted
}
