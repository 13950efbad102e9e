// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Go block of the README and of docs/ is a program of examples/ or a region of an
// example_*_test.go beside it, which is compiled and run, and every region stands in a
// block.
func TestDocBlocks(t *testing.T) {
	_, hello, found := strings.Cut(read(t, "examples/hello/main.go"), "\npackage main\n")
	require.True(t, found)
	regions := []string{"package main\n" + hello}
	// The README's test is a file of its own, its body a region.
	const hookFile = "package main\n\nimport (\n\t\"testing\"\n\n\t\"" + modulePath + "/callbacks/callbackstest\"\n\t\"" + modulePath + "/guards\"\n)\n\n"
	for _, f := range glob(t, "internal/e2e/example_*_test.go") {
		regions = append(regions, regionsOf(read(t, f))...)
	}
	used := map[string]bool{}
	for _, page := range append(glob(t, "docs/*.md"), "README.md", "SECURITY.md", "CONTRIBUTING.md") {
		for _, block := range goBlocks(read(t, page)) {
			block = strings.TrimPrefix(block, hookFile)
			require.Contains(t, regions, block, page)
			used[block] = true
		}
	}
	for _, r := range regions {
		require.True(t, used[r], "no page shows\n%s", r)
	}
}

var (
	docTest  = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Za-z0-9_]+)`")
	testDecl = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)[A-Za-z0-9_]+)\(`)
	docLink  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// Every test a page names exists, every line of the guarantees names one, and every link
// to a file leads somewhere.
func TestDocNames(t *testing.T) {
	exist := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, "_test.go") {
			for _, m := range testDecl.FindAllStringSubmatch(read(t, path), -1) {
				exist[m[1]] = true
			}
		}
		return err
	}))
	for _, page := range append(glob(t, "docs/*.md"), glob(t, "*.md")...) {
		src := read(t, page)
		for _, m := range docTest.FindAllStringSubmatch(src, -1) {
			require.True(t, exist[m[1]], "%s names %s, which does not exist", page, m[1])
		}
		for _, m := range docLink.FindAllStringSubmatch(src, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]))
			require.NoError(t, err, "%s links to %s", page, m[1])
		}
	}
	promised, _, found := strings.Cut(read(t, "docs/guarantees.md"), "## Not guaranteed")
	require.True(t, found)
	for line := range strings.Lines(promised) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| guaranteed") {
			require.Regexp(t, docTest, line)
		}
	}
}

// wordsBeforeReference is how long the README may be before its reference begins.
const wordsBeforeReference = 450

var codeBlock = regexp.MustCompile("(?s)```.*?```")

func TestTheReadmeIsShort(t *testing.T) {
	top, _, found := strings.Cut(read(t, "README.md"), "\n# Reference\n")
	require.True(t, found)
	require.LessOrEqual(t, len(strings.Fields(codeBlock.ReplaceAllString(top, ""))), wordsBeforeReference)
	program := goBlocks(top)[0]
	require.LessOrEqual(t, strings.Count(program, "\n"), 30)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	return files
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func goBlocks(md string) []string {
	var out []string
	for _, p := range strings.Split(md, "```go\n")[1:] {
		block, _, _ := strings.Cut(p, "```")
		out = append(out, block)
	}
	return out
}

// regionsOf returns what stands between "// DOC name" and "// DOC end", moved to the left
// margin.
func regionsOf(src string) []string {
	var out []string
	var body *strings.Builder
	indent := ""
	for line := range strings.Lines(src) {
		rest, marks := strings.CutPrefix(strings.TrimLeft(line, "\t"), "// DOC ")
		switch {
		case marks && strings.TrimSpace(rest) == "end":
			out = append(out, strings.TrimRight(body.String(), "\n")+"\n")
			body = nil
		case marks:
			body, indent = &strings.Builder{}, line[:strings.IndexByte(line, '/')]
		case body != nil:
			body.WriteString(strings.TrimPrefix(line, indent))
		}
	}
	return out
}

// Every rule of the source documents names a test, or why none can hold it.
func TestEverySourceRuleIsHeld(t *testing.T) {
	rules := 0
	for line := range strings.Lines(read(t, "docs/source_rules.md")) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || strings.HasPrefix(line, "| rule") {
			continue
		}
		rules++
		require.True(t, docTest.MatchString(cells[1]) || strings.HasPrefix(cells[1], "no test"), line)
	}
	require.Greater(t, rules, 50)
}
