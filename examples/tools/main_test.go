// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

func Example() {
	main()
	// Output:
	// read map[error:doc is outside your scope, which is: doc-1, doc-2]
	// read map[text:Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accounts. Accou… [4835 more characters]]
	// report map[result:ok]
}
