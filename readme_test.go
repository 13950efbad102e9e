// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package gardefou_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Go block of the README is a region of example_readme_test.go, which is
// compiled and run.
func TestReadmeBlocks(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	src, err := os.ReadFile("example_readme_test.go")
	require.NoError(t, err)
	regions := regionsOf(string(src))
	blocks := goBlocks(string(readme))
	require.Len(t, blocks, len(regions), "a Go block for each region")
	for _, b := range blocks {
		require.Contains(t, regions, b)
	}
}

func goBlocks(md string) []string {
	var out []string
	parts := strings.Split(md, "```go\n")
	for _, p := range parts[1:] {
		block, _, _ := strings.Cut(p, "```")
		out = append(out, block)
	}
	return out
}

func regionsOf(src string) []string {
	var out []string
	for _, p := range strings.Split(src, "\t// README ")[1:] {
		if strings.HasPrefix(p, "end") {
			continue
		}
		_, body, _ := strings.Cut(p, "\n")
		var sb strings.Builder
		for line := range strings.Lines(body) {
			sb.WriteString(strings.TrimPrefix(line, "\t"))
		}
		out = append(out, sb.String())
	}
	return out
}
