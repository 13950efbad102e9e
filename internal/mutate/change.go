// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A change replaces one stretch of a file.
type change struct {
	file       string
	content    []byte
	from, to   int
	with, what string
	line       int
}

func (c change) String() string { return fmt.Sprintf("%s:%d: %s", c.file, c.line, c.what) }

func (c change) source() []byte {
	return slices.Concat(c.content[:c.from], []byte(c.with), c.content[c.to:])
}

var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// changesOf lists what can be changed in the package of a folder.
func changesOf(dir string) ([]change, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []change
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		content, err := os.ReadFile(f) //nolint:gosec // named on the command line
		if err != nil {
			return nil, err
		}
		changes, err := changesIn(f, content)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}

func changesIn(name string, content []byte) ([]change, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []change
	add := func(from, to token.Pos, with, what string) {
		p := fset.Position(from)
		out = append(out, change{name, content, p.Offset, fset.Position(to).Offset, with, what, p.Line})
	}
	text := func(n ast.Node) string {
		s := string(content[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
		if line, _, more := strings.Cut(s, "\n"); more {
			s = line + " …"
		}
		return s
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR // imports, types and constants stay
		case *ast.BinaryExpr:
			if with, ok := swaps[n.Op]; ok {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with.String(), fmt.Sprintf("%s becomes %s in %s", n.Op, with, text(n)))
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+string(content[fset.Position(n.Cond.Pos()).Offset:fset.Position(n.Cond.End()).Offset])+")", "not "+text(n.Cond))
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"), n.Name+" is turned")
			}
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.End(), strconv.Itoa(v+1), fmt.Sprintf("%d becomes %d", v, v+1))
			}
		case *ast.ExprStmt:
			add(n.Pos(), n.End(), "", "without "+text(n))
		case *ast.IncDecStmt:
			add(n.Pos(), n.End(), "", "without "+text(n))
		case *ast.BranchStmt:
			if n.Label == nil {
				add(n.Pos(), n.End(), "", "without "+text(n))
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "", "without "+text(n))
			}
		case *ast.DeferStmt:
			add(n.Pos(), n.End(), "", "without "+text(n))
		}
		return true
	})
	return out, nil
}
