// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported constructor of a guard, found by its type, has a case of the contract, an
// example, a row of the README, a sentence that says when to use it, and one that says
// which way it fails. XOptions.Guard is X with options and shares what X has.
func TestEveryGuardIsProved(t *testing.T) {
	docs := constructors(t)
	require.Greater(t, len(docs), 25)
	for _, missing := range unproved(docs, evidence(t)) {
		t.Error(missing)
	}
}

// A constructor that comes without any of it is named five times.
func TestAnUnprovedGuardIsNamed(t *testing.T) {
	docs := constructors(t)
	docs["Quiet"] = "Quiet keeps an agent quiet."
	require.Equal(t, []string{
		"Quiet has no case in TestContract",
		"Quiet has no ExampleQuiet",
		"Quiet has no row in the README's table of guards",
		`the doc of Quiet does not say when to use it ("Use it when …")`,
		`the doc of Quiet does not say which way it fails ("It fails closed.")`,
	}, unproved(docs, evidence(t)))
}

// proof is where a constructor can be proved.
type proof struct {
	contract, examples map[string]bool
	readme             string
}

func evidence(t *testing.T) proof {
	t.Helper()
	p := proof{contract: map[string]bool{}, examples: map[string]bool{}}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	p.readme = string(readme)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			if what, ok := strings.CutPrefix(f.Name.Name, "Example"); ok {
				p.examples[what] = true
			}
			if f.Name.Name == "TestContract" {
				ast.Inspect(f, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok {
						p.contract[sel.Sel.Name] = true
					}
					return true
				})
			}
		}
	}
	return p
}

var (
	saysWhen  = regexp.MustCompile(`Use it (when|on|wherever) `)
	saysFails = regexp.MustCompile(`[Ff]ails (open|closed)\b`)
)

// unproved names what constructors lack, in the order of their names.
func unproved(docs map[string]string, p proof) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		lack := func(has bool, format string) {
			if !has {
				missing = append(missing, fmt.Sprintf(format, name))
			}
		}
		lack(p.contract[name] || p.contract[name+"Options"], "%s has no case in TestContract")
		lack(p.examples[name] || p.examples[name+"Options"], "%[1]s has no Example%[1]s")
		lack(strings.Contains(p.readme, "\n| `"+name+"` |"), "%s has no row in the README's table of guards")
		lack(saysWhen.MatchString(docs[name]), "the doc of %s does not say when to use it (\"Use it when …\")")
		lack(saysFails.MatchString(docs[name]), "the doc of %s does not say which way it fails (\"It fails closed.\")")
	}
	return missing
}

// constructors are the exported functions and methods that return a guard, with their docs,
// but for XOptions.Guard where X is a constructor too.
func constructors(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	docs := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && makesGuard(f) {
				docs[constructorName(f)] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
	}
	maps.DeleteFunc(docs, func(name, _ string) bool {
		plain, ok := strings.CutSuffix(name, "Options.Guard")
		return ok && docs[plain] != ""
	})
	return docs
}

func constructorName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return fmt.Sprint(f.Recv.List[0].Type) + "." + f.Name.Name
}

func makesGuard(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	sel, ok := f.Type.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Guard"
}
