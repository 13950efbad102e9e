// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/store"
)

// sourcesOf are the files of the command without its tests, by name.
func sourcesOf(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	all := make(map[string]*ast.File)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		all[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	require.Contains(t, all, "flags.go")
	return all
}

// Adding a flag is a row of the table and the place that uses its value: no other file
// registers a flag or asks for one by its name.
func TestFlagsAreSpeltInTheTableOnly(t *testing.T) {
	asks := make(map[string]bool)
	for _, of := range []reflect.Type{reflect.TypeFor[*pflag.FlagSet](), reflect.TypeFor[*cobra.Command]()} {
		for i := range of.NumMethod() {
			asks[of.Method(i).Name] = true
		}
	}
	require.True(t, asks["StringVarP"] && asks["Lookup"] && asks["MarkFlagsMutuallyExclusive"])
	names := make(map[string]bool)
	for _, f := range new(config).flags() {
		names[f.name] = true
	}
	for name, file := range sourcesOf(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !asks[method.Sel.Name] {
				return true
			}
			if name != "flagset.go" {
				require.NotRegexp(t, "VarP?$", method.Sel.Name, "%s registers a flag", name)
			}
			for _, arg := range call.Args {
				if literal, ok := arg.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					s, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					require.False(t, names[s], "%s asks for the flag %q by its name", name, s)
				}
			}
			return true
		})
	}
}

func TestEachFieldOfTheConfigIsUsed(t *testing.T) {
	used := make(map[string]bool)
	for name, file := range sourcesOf(t) {
		if name == "flags.go" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				used[s.Sel.Name] = true
			}
			return true
		})
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[config]()) {
		if len(field.Index) == 1 {
			require.True(t, used[field.Name], field.Name)
		}
	}
}

// fill gives each flag a value of its own.
func fill(t *testing.T, c *config) {
	t.Helper()
	for i, f := range c.flags() {
		switch to := f.to.(type) {
		case *string:
			*to = "value" + strconv.Itoa(i)
		case *bool:
			*to = true
		case *int:
			*to = i + 1
		case *int64:
			*to = int64(i + 1)
		case *time.Duration:
			*to = time.Duration(i + 1)
		case *[]string:
			*to = []string{strconv.Itoa(i)}
		case *list:
			*to = list{strconv.Itoa(i)}
		case *map[string]string:
			*to = map[string]string{"name": strconv.Itoa(i)}
		default:
			t.Fatalf("%T", to)
		}
	}
}

func TestACopyOfTheConfigIsItsOwn(t *testing.T) {
	var c config
	row := c
	fill(t, &row)
	require.Equal(t, config{}, c)
	for i, f := range row.flags() {
		require.False(t, f.value().IsZero(), f.name)
		require.True(t, c.flags()[i].value().IsZero(), f.name)
	}
}

// Two flags of one command have two names and two places, and what is kept has one.
func TestTheTableIsConsistent(t *testing.T) {
	var c config
	kept := make(map[string]bool)
	for on := commands(1); on <= onRedact; on <<= 1 {
		names, places := make(map[string]bool), make(map[any]bool)
		for _, f := range c.flags() {
			if f.on&on == 0 {
				continue
			}
			require.False(t, names[f.name] || places[f.to], f.name)
			require.NotEmpty(t, f.help, f.name)
			names[f.name], places[f.to] = true, true
		}
		require.NotEmpty(t, names)
	}
	for _, f := range c.flags() {
		if f.kept != "" {
			require.False(t, kept[f.kept], f.kept)
			kept[f.kept] = true
		}
	}
	for _, f := range c.flags() {
		_, isString := f.to.(*string)
		require.True(t, !f.path || isString, f.name)
		require.True(t, f.kept != "" || !f.path && !f.limit && !f.host, f.name)
	}
}

func TestKeptSettingsAreReadBack(t *testing.T) {
	var c, got config
	fill(t, &c)
	data, err := json.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &got))
	theirs := c.flags()
	for i, f := range got.flags() {
		if f.kept == "" {
			elsewhere := slices.ContainsFunc(theirs, func(k flagRow) bool { return k.to == theirs[i].to && k.kept != "" })
			require.Equal(t, elsewhere, !f.value().IsZero(), f.name)
			continue
		}
		require.Equal(t, theirs[i].value().Interface(), f.value().Interface(), f.name)
	}
	require.Error(t, json.Unmarshal([]byte(`{"max_calls":"many"}`), &got))
}

// What earlier versions kept is written as they did, byte for byte.
func TestFrozenSettings(t *testing.T) {
	for _, name := range []string{"finished", "unfinished"} {
		data, err := os.ReadFile(filepath.Join("testdata", "frozen", name, "run", store.RunFile))
		require.NoError(t, err)
		var run store.Run
		require.NoError(t, json.Unmarshal(data, &run))
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, run.Settings))
		var c config
		require.NoError(t, json.Unmarshal(run.Settings, &c))
		got, err := json.Marshal(c)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got))
	}
	// All settings there are, in the order and under the names they have in files of users.
	var all config
	fill(t, &all)
	data, err := json.Marshal(all)
	require.NoError(t, err)
	var names []string
	for _, m := range regexp.MustCompile(`[{,]"(\w+)":`).FindAllSubmatch(data, -1) {
		names = append(names, string(m[1]))
	}
	require.Equal(t, "model base_url model_timeout source source_urls name allow_private_hosts cache as_of model_file max_calls timeout "+
		"budget soft_budget target_budget ledger ledger_login price_file lang since annual_purchases journal journal_max_bytes",
		strings.Join(names, " "))
}

// A resumed run is what it was, but for what is given now; no host is taken from a folder.
func TestRestore(t *testing.T) {
	var kept config
	fill(t, &kept)
	all := kept.flags()
	for _, given := range []given{{}, {onResume, func(string) bool { return true }}} {
		var c config
		c.restore(kept, given)
		for i, f := range c.flags() {
			switch {
			case f.kept == "":
			case f.host, given.has(&c, f.to), f.to == &c.journalSize && given.has(&c, &c.journal):
				require.True(t, f.value().IsZero(), f.name)
			default:
				require.Equal(t, all[i].value().Interface(), f.value().Interface(), f.name)
			}
		}
	}
	kept.budget = ""
	var c config
	c.restore(kept, given{})
	require.Empty(t, c.priceFile, "nothing is priced")
}

// The question of a run does not change with what it may use.
func TestQuestion(t *testing.T) {
	var one config
	fill(t, &one)
	for i, f := range one.flags() {
		if f.kept == "" {
			continue
		}
		other := one
		other.flags()[i].value().SetZero()
		require.Equal(t, f.limit, one.question() == other.question(), f.kept)
	}
}
