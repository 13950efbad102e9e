// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every constructor of a guard says which way it fails; one that is another with options
// leaves it to that one.
func TestEveryGuardSaysWhichWayItFails(t *testing.T) {
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
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && makesGuard(f) {
				docs[f.Name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
	}
	require.Greater(t, len(docs), 30)
	says, isOther := regexp.MustCompile(`[Ff]ails (open|closed)\b`), regexp.MustCompile(`^\w+ is \[(\w+)\] `)
	for name, doc := range docs {
		if m := isOther.FindStringSubmatch(doc); m != nil && docs[m[1]] != "" && says.MatchString(docs[m[1]]) {
			continue
		}
		require.Regexp(t, says, doc, name)
	}
}

func makesGuard(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	sel, ok := f.Type.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Guard"
}
