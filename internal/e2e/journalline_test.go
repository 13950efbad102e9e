// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal/line"
)

const linePackage = "guards/journal/line"

// A line of a journal has one form: outside its package no struct has the kind of a line with
// other fields of a line and none beside them, and among guards none has four fields of a line.
func TestALineHasOneForm(t *testing.T) {
	ofLine := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[line.Line]()) {
		ofLine[f.Tag.Get("json")] = true
	}
	structs := 0
	for _, name := range sourceFiles(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			structs++
			tags := jsonTags(t, s)
			foreign := slices.ContainsFunc(tags, func(tag string) bool { return !ofLine[tag] })
			second := slices.Contains(tags, "kind") && len(tags) > 1 || strings.HasPrefix(name, "guards/") && len(tags) > 3
			if second && !foreign && path.Dir(name) != linePackage {
				t.Errorf("%s: a second form of a line: %s", fset.Position(s.Pos()), strings.Join(tags, ", "))
			}
			return true
		})
	}
	require.Greater(t, structs, 100)
}

// The documentation of guards.Journal names every field of the kinds it writes.
func TestEveryFieldOfALineIsDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "guards/journal.go", nil, parser.ParseComments)
	require.NoError(t, err)
	doc := ""
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Journal" {
			doc = f.Doc.Text()
		}
	}
	said := map[string][]string{} // by kind
	kind := ""
	for text := range strings.Lines(doc) {
		row, ok := strings.CutPrefix(text, "\t")
		if !ok {
			kind = ""
			continue
		}
		words := strings.FieldsFunc(row, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
		if row[0] != ' ' {
			kind = words[0]
		}
		said[kind] = append(said[kind], words...)
	}
	for kind, words := range said {
		if kind == "kind" { // what every line has
			continue
		}
		l := full()
		l.Kind = kind
		data, err := l.Encode()
		require.NoError(t, err)
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal(data, &fields))
		for name := range fields {
			if !slices.Contains(said["kind"], name) && !slices.Contains([]string{"seq", "prev", "sum"}, name) {
				require.Contains(t, words, name, "a line of kind %s", kind)
			}
		}
	}
	require.Len(t, said, 9, "eight kinds and what all have")
}

// full is a line that has every field.
func full() line.Line {
	var l line.Line
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case json.RawMessage:
			f.Set(reflect.ValueOf(json.RawMessage("{}")))
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
		default:
			switch {
			case f.CanInt():
				f.SetInt(1)
			case f.CanUint():
				f.SetUint(1)
			case f.Kind() == reflect.Bool:
				f.SetBool(true)
			default:
				f.SetString("x")
			}
		}
	}
	return l
}

// sourceFiles are the files of the module that are no tests.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// jsonTags are the names that a struct's fields have in JSON.
func jsonTags(t *testing.T, s *ast.StructType) []string {
	t.Helper()
	var tags []string
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(f.Tag.Value)
		require.NoError(t, err)
		if name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ","); name != "" && name != "-" {
			tags = append(tags, name)
		}
	}
	return tags
}
