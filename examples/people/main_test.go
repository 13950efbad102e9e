// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
)

func Example() {
	buy(strings.NewReader("yes\nno\n"), os.Stdout)
	// Output:
	// restore point before pay 80
	//
	// The agent buyer wants to call pay with:
	//   amount: 900
	// "always" covers this tool for the rest of the run wherever: amount
	// Approve? [yes/no/always] restore point before pay 900
	//
	// The agent buyer wants to call pay with:
	//   amount: 90000
	// "always" covers this tool for the rest of the run wherever: amount
	// Approve? [yes/no/always] jeanne approved
	// jeanne rejected
}
