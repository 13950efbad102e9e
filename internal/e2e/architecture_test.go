// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The library's two packages stay small enough to be read: exported top-level names.
const (
	mostNamesOfCallbacks = 75
	mostNamesOfGuards    = 120

	lineLength    = 140
	mostLongLines = 190
)

// The figures of the architecture; make architecture prints them.
func TestArchitecture(t *testing.T) {
	for dir, most := range map[string]int{"callbacks": mostNamesOfCallbacks, "guards": mostNamesOfGuards} {
		names := 0
		for _, f := range parsed(t, dir) {
			for name := range declaredBy(f) {
				if ast.IsExported(name) {
					names++
				}
			}
		}
		t.Logf("architecture: %s exports %d names, at most %d", dir, names, most)
		require.LessOrEqual(t, names, most)
	}
	long := longLines(t)
	t.Logf("architecture: %d lines are over %d characters, at most %d", long, lineLength, mostLongLines)
	require.LessOrEqual(t, long, mostLongLines, "break the line; lower the number when there are fewer")
	built := placesBuiltByHand(t)
	t.Logf("architecture: %d places are built by hand", len(built))
	require.Empty(t, built, "callbacks.PlaceOf, Event.Place and Step.Place make a Place")
}

// longLines counts the lines of code over lineLength, without tests and catalogues of texts.
func longLines(t *testing.T) int {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".git") || name == filepath.Join("internal", "text") || name == "out"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for line := range strings.Lines(read(t, name)) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > lineLength {
				n++
			}
		}
		return nil
	}))
	return n
}

// placesBuiltByHand are the composite literals of a Place that say where it is, outside the
// file that makes them.
func placesBuiltByHand(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, dir := range []string{"callbacks", "guards", "agents", "pipeline", "pipeline/store"} {
		for name, f := range parsed(t, dir) {
			if name == filepath.Join("callbacks", "place.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || len(lit.Elts) == 0 {
					return true
				}
				kind, _ := lit.Type.(*ast.Ident)
				if sel, ok := lit.Type.(*ast.SelectorExpr); ok {
					kind = sel.Sel
				}
				if kind != nil && kind.Name == "Place" {
					found = append(found, name)
				}
				return true
			})
		}
	}
	slices.Sort(found)
	return found
}

// parsed are the files of a package without its tests.
func parsed(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, name := range glob(t, filepath.Join(dir, "*.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files[name] = f
	}
	return files
}
