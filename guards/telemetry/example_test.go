// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"fmt"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/telemetry"
	"github.com/gardefou/gardefou/redact"
)

// A chain that tells OpenTelemetry's global providers what it does; otlp.Start, early in
// main, sets those to send to a collector.
func ExampleNew() {
	t, err := telemetry.New(telemetry.Options{Provider: "gcp.gemini"})
	if err != nil {
		panic(err)
	}
	chain := callbacks.New(
		guards.CallBudget(6),
		guards.RedactOptions{Options: redact.Options{OnReplace: t.Redacted}}.Guard(),
		t.Guard(),
	)
	fmt.Println(chain.Err())
	// Output: <nil>
}
