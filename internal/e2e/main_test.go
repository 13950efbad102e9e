// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e_test holds the tests that look at the module as a whole: its documents,
// its exported surface, a newcomer's first program, conformance vectors, and the
// pipeline under hostile input and failing sources.
package e2e_test

import (
	"log"
	"os"
	"testing"

	"github.com/gardefou/gardefou/internal/pipelinetest"
)

// The tests read files of the whole module, so they run at its root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	pipelinetest.Main(m)
}
