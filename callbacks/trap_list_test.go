// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	traprow  = regexp.MustCompile(`(?m)^\| (\d+|P\d+b?) \| (.+) \| (.+) \| ?(.*) ?\|$`)
	testName = regexp.MustCompile("`((?:Test|Benchmark)[A-Za-z0-9]+)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)[A-Za-z0-9]+)\(`)
	trapTest = regexp.MustCompile(`^Test(Trap|P|Canary(Trap|P))\d\d`)
	verdict  = regexp.MustCompile(`^(immune|guard|refused|documented|held|later: issue \d+)\b`)
)

// The list in docs/traps.md has every fact once, names tests that exist, and every test
// of a trap stands in it.
func TestTrapListIsWholeAndTrue(t *testing.T) {
	list, err := os.ReadFile("../docs/traps.md")
	require.NoError(t, err)
	exist := map[string]bool{}
	for _, dir := range []string{".", "..", "../internal/e2e", "../guards", "../guards/sinks", "../internal/mutate", "../examples/byhand", "../cmd/duediligence", "../pipeline/serve"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		for _, f := range files {
			src, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range testFunc.FindAllStringSubmatch(string(src), -1) {
				exist[m[1]] = true
			}
		}
	}

	facts := map[string]bool{}
	for _, row := range traprow.FindAllStringSubmatch(string(list), -1) {
		require.False(t, facts[row[1]], "fact %s stands twice", row[1])
		facts[row[1]] = true
		require.Regexp(t, verdict, row[3], "fact %s", row[1])
		if !strings.HasPrefix(row[3], "later") {
			require.Regexp(t, testName, row[4], "fact %s names no test", row[1])
		}
	}
	for n := range 26 {
		require.True(t, facts[fmt.Sprint(n+1)], "fact %d", n+1)
	}
	// The probes that were made; the numbers between were never given.
	for _, p := range strings.Fields("1 2 3 3b 4 5 6 6b 7 8 9 10 11 13 14 15 18 19 20 21 21b 24 25 26 28 31 35 36 37 38 39 41 49 52 56 57 58 59 60 61 62 63") {
		require.True(t, facts["P"+p], "fact P%s", p)
	}

	named := map[string]bool{}
	for _, m := range testName.FindAllStringSubmatch(string(list), -1) {
		require.True(t, exist[m[1]], "docs/traps.md names %s, which does not exist", m[1])
		named[m[1]] = true
	}
	for name := range exist {
		if trapTest.MatchString(name) {
			require.True(t, named[name], "%s does not stand in docs/traps.md", name)
		}
	}
}
