// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateAPI = flag.Bool("update-api", false, "write testdata/api.txt anew")

// leaves are the packages that may show a client library's types, and whose.
var leaves = map[string]string{
	"guards/ledger/redisledger":         "github.com/redis/rueidis",
	"guards/counters/rediscounters":     "github.com/redis/",
	"guards/killswitch/rediskillswitch": "github.com/redis/rueidis",
	"guards/sinks":                      "go.opentelemetry.io/otel/",
	"guards/telemetry":                  "go.opentelemetry.io/otel/",
	"guards/telemetry/otlp":             "go.opentelemetry.io/otel/",
}

// The exported surface of the library is the one in testdata/api.txt, so that no change of it goes by
// unseen (go test -run TestAPI ./internal/e2e -update-api writes it anew); everything in it is
// documented, and no dependency's types but ADK's and genai's are part of it.
func TestAPI(t *testing.T) {
	var surface strings.Builder
	for _, dir := range libraries(t) {
		fset := token.NewFileSet()
		var decls []string
		for _, f := range glob(t, filepath.Join(dir, "*.go")) {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, f, nil, parser.ParseComments)
			require.NoError(t, err)
			undocumented(t, fset, file)
			ast.FileExports(file)
			file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Recv != nil && !exportedReceiver(f)
			})
			foreign(t, dir, fset, file)
			for _, d := range file.Decls {
				if line := declared(t, fset, d); line != "" {
					decls = append(decls, line)
				}
			}
		}
		slices.Sort(decls)
		surface.WriteString("package " + dir + "\n\n" + strings.Join(decls, "\n") + "\n\n")
	}
	golden := filepath.Join("testdata", "api.txt")
	if *updateAPI {
		require.NoError(t, os.WriteFile(golden, []byte(surface.String()), 0o644)) //nolint:gosec // part of the repository
	}
	require.Equal(t, read(t, golden), surface.String(), "the exported surface changed: say so in CHANGELOG.md and run go test -run TestAPI ./internal/e2e -update-api")
}

// libraries are the packages that others import.
func libraries(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, root := range []string{"callbacks", "guards", "redact"} {
		require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if err == nil && strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") {
				seen[filepath.ToSlash(filepath.Dir(p))] = true
			}
			return err
		}))
	}
	var dirs []string
	for d := range seen {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	return dirs
}

// declared prints a declaration without its body and comments.
func declared(t *testing.T, fset *token.FileSet, d ast.Decl) string {
	t.Helper()
	if f, ok := d.(*ast.FuncDecl); ok {
		f.Body, f.Doc = nil, nil
	}
	if g, ok := d.(*ast.GenDecl); ok {
		if g.Tok == token.IMPORT {
			return ""
		}
		g.Doc = nil
		for _, s := range g.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && g.Tok == token.VAR {
				v.Values = nil
			}
		}
		ast.Inspect(g, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				n.Doc, n.Comment = nil, nil
			case *ast.ValueSpec:
				n.Doc, n.Comment = nil, nil
			case *ast.TypeSpec:
				n.Doc, n.Comment = nil, nil
			}
			return true
		})
	}
	var out bytes.Buffer
	require.NoError(t, (&printer.Config{Mode: printer.RawFormat, Tabwidth: 4}).Fprint(&out, fset, d))
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \t\n"))
		}
	}
	return strings.Join(lines, "\n")
}

// undocumented fails for exported names that nothing is said of. A group of constants or
// variables is documented as one.
func undocumented(t *testing.T, fset *token.FileSet, file *ast.File) {
	t.Helper()
	check := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() || slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return c != nil }) {
			return
		}
		t.Errorf("%s: %s is not documented", fset.Position(name.Pos()), name.Name)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || exportedReceiver(d) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name, d.Doc, s.Doc)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						check(n, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	exported := false
	ast.Inspect(d.Recv, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && ast.IsExported(id.Name) {
			exported = true
		}
		return true
	})
	return exported
}

// foreign fails for types of dependencies in exported declarations.
func foreign(t *testing.T, dir string, fset *token.FileSet, file *ast.File) {
	t.Helper()
	imports := map[string]string{}
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		name := path.Base(p)
		if strings.HasPrefix(name, "v") && len(name) == 2 {
			name = path.Base(path.Dir(p))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = p
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.TYPE {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			p := imports[id.Name]
			first, _, _ := strings.Cut(p, "/")
			own := strings.HasPrefix(p, "github.com/gardefou/") || strings.HasPrefix(p, "google.golang.org/adk/") || p == "google.golang.org/genai"
			if leaf := leaves[dir]; p != "" && strings.Contains(first, ".") && !own && (leaf == "" || !strings.HasPrefix(p, leaf)) {
				t.Errorf("%s: %s.%s of %s is part of the API", fset.Position(sel.Pos()), id.Name, sel.Sel.Name, p)
			}
			return true
		})
	}
}
