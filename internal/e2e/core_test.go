// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// coreGuards are the files of package guards that belong to Core: its six guards and what
// they share.
var coreGuards = []string{
	"doc.go", "lang.go", "options.go", "pattern.go", "nesting.go",
	"allowtools.go", "args.go", "stash.go", "masker.go", "journal.go", "journallines.go", "journalled.go", "names.go", "records.go", "lastcall.go", "result.go", "onerequest.go",
	"callbudget.go", "budgetaccount.go", "budgetcheck.go", "budgetmodel.go",
	"redact.go", "redactfields.go", "redactargs.go", "redactevent.go", "redactparts.go", "redactresponse.go", "redactstream.go",
}

// corePackages are the packages of this module that Core is made of and may import.
var corePackages = []string{
	"callbacks", "callbacks/answer", "callbacks/callbackstest", "callbacks/codes", "callbacks/inspect", "redact", "guards/counters", "guards/journal/line",
	"internal/text", "internal/fold", "internal/artifactname", "internal/toolschema", "internal/usd",
}

// Core imports nothing of the other tiers, and its part of package guards uses no name that
// the rest of the package declares.
func TestCoreStandsAlone(t *testing.T) {
	fset := token.NewFileSet()
	parse := func(name string) *ast.File {
		f, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		return f
	}
	lines, modules := 0, map[string]bool{}
	take := func(name string, f *ast.File) {
		lines += codeLines(read(t, name))
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			own, inside := strings.CutPrefix(p, modulePath+"/")
			switch {
			case inside:
				require.Contains(t, append(corePackages, "guards"), own, "%s imports %s, which is not of Core", name, p)
			case strings.Contains(strings.SplitN(p, "/", 2)[0], "."):
				modules[p] = true
			}
		}
	}
	for _, dir := range corePackages {
		for _, name := range glob(t, filepath.Join(dir, "*.go")) {
			if !strings.HasSuffix(name, "_test.go") {
				take(name, parse(name))
			}
		}
	}
	files, declaredIn := map[string]*ast.File{}, map[string]string{}
	for _, name := range glob(t, "guards/*.go") {
		if base := filepath.Base(name); !strings.HasSuffix(base, "_test.go") {
			files[base] = parse(name)
			for declared := range declaredBy(files[base]) {
				declaredIn[declared] = base
			}
		}
	}
	for _, base := range coreGuards {
		require.Contains(t, files, base)
		take("guards/"+base, files[base])
		for _, name := range files[base].Unresolved {
			if other := declaredIn[name.Name]; other != "" && !slices.Contains(coreGuards, other) {
				t.Errorf("%s uses %s of %s, which is not of Core", fset.Position(name.Pos()), name.Name, other)
			}
		}
	}
	beyond := beyondADK(t, modules)
	t.Logf("core: %d lines, %d dependencies beyond ADK: %s", lines, len(beyond), strings.Join(beyond, ", "))
	require.LessOrEqual(t, len(beyond), 2)
}

// declaredBy are the names that a file declares for its package.
func declaredBy(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	return names
}

// codeLines counts the lines that hold more than blanks and comments.
func codeLines(src string) int {
	n := 0
	for line := range strings.Lines(src) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// beyondADK are the modules of the imported packages that an ADK agent does not need anyway.
func beyondADK(t *testing.T, imported map[string]bool) []string {
	t.Helper()
	deps := func(packages ...string) map[string]bool {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...).Output()
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, m := range strings.Fields(string(out)) {
			seen[m] = true
		}
		return seen
	}
	modulesOf := func(packages []string) map[string]bool {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...).Output()
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, m := range strings.Fields(string(out)) {
			seen[m] = true
		}
		return seen
	}
	adk := deps("google.golang.org/adk/v2/runner", "google.golang.org/adk/v2/agent/workflowagents/...",
		"google.golang.org/adk/v2/tool/functiontool", "google.golang.org/adk/v2/tool/agenttool")
	beyond := modulesOf(slices.Sorted(maps.Keys(imported)))
	maps.DeleteFunc(beyond, func(m string, _ bool) bool { return adk[m] })
	return slices.Sorted(maps.Keys(beyond))
}
