// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a tool is, ADK decides by its methods: one function asks, so that no wrapper forgets a
// kind. The test kit calls tools as ADK does and is left out.
func TestOneFunctionAsksForTheKindOfATool(t *testing.T) {
	found := map[string]bool{}
	packages := 0
	for _, root := range []string{".", "../guards", "../pipeline", "../agents"} {
		require.NoError(t, filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "callbackstest" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			files := parsed(t, dir)
			if len(files) > 0 {
				packages++
			}
			for _, at := range kindQuestions(files) {
				found[filepath.Join(dir, at)] = true
			}
			return nil
		}))
	}
	require.Greater(t, packages, 20)
	require.Equal(t, map[string]bool{"aroundtool.go: runnableOf": true}, found)
}

// Each way to ask is found.
func TestQuestionsForTheKindOfAToolAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
type runs interface { Run(ctx agent.Context, args any) (map[string]any, error) }
type wide interface { tool.Tool; runs }
type free interface { Run(ctx context.Context) error }
func aSwitch(t any) { switch t.(type) { case nil: case wide: } }
func anAssertion(t any) { _, _ = t.(runs) }
func aLiteral(t any) { _, _ = t.(interface{ RunStream(ctx agent.Context, args any) iter.Seq2[string, error] }) }
func another(t any) { _, _ = t.(free); _, _ = t.(interface{ Name() string }) }
`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"x.go: aSwitch", "x.go: anAssertion", "x.go: aLiteral"}, kindQuestions(map[string]*ast.File{"x.go": file}))
}

func parsed(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files[filepath.Base(name)], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	return files
}

// kindQuestions names the functions of a package that ask a value for the methods by which
// ADK runs a tool.
func kindQuestions(files map[string]*ast.File) []string {
	kinds := kindInterfaces(files)
	var found []string
	for name, file := range files {
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				var asked []ast.Expr
				switch n := n.(type) {
				case *ast.TypeAssertExpr:
					asked = []ast.Expr{n.Type} // nil in a type switch
				case *ast.CaseClause:
					asked = n.List
				}
				if !slices.ContainsFunc(asked, func(e ast.Expr) bool { return isKind(e, kinds) }) {
					return true
				}
				where := "a declaration"
				if f, ok := d.(*ast.FuncDecl); ok {
					where = f.Name.Name
				}
				found = append(found, fmt.Sprintf("%s: %s", name, where))
				return true
			})
		}
	}
	return found
}

// kindInterfaces are the package's interfaces with such a method, also by embedding.
func kindInterfaces(files map[string]*ast.File) map[string]bool {
	kinds := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok && !kinds[spec.Name.Name] && isKind(spec.Type, kinds) {
					kinds[spec.Name.Name], grown = true, true
				}
				return true
			})
		}
	}
	return kinds
}

func isKind(e ast.Expr, kinds map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return kinds[e.Name]
	case *ast.InterfaceType:
		return slices.ContainsFunc(e.Methods.List, func(m *ast.Field) bool {
			f, ok := m.Type.(*ast.FuncType)
			if !ok {
				return isKind(m.Type, kinds)
			}
			run := m.Names[0].Name == "Run" && f.Params.NumFields() == 2 && f.Results.NumFields() == 2
			return run || m.Names[0].Name == "RunStream"
		})
	default:
		return false
	}
}
