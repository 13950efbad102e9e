// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every hook of a Guard, found by its type, has a row under its own name, and every callback
// that ADK has on an agent and on a plugin is one of the chain's: a hook that is new to ADK
// fails here.
func TestTheHookTableIsWhole(t *testing.T) {
	var want, got []string
	for f := range fields(reflect.TypeFor[Guard]()) {
		if f.Type.Kind() == reflect.Func && f.Name != "ForPlugin" && f.Name != "Info" {
			want = append(want, strings.ToLower(regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(f.Name, "_$0")))
		}
	}
	c := New()
	p := &places{modelHooks: modelHooks{c: c}, toolHooks: toolHooks{c: c}, agentHooks: agentHooks{c: c}, runHooks: runHooks{c: c}}
	for _, r := range p.table() {
		got = append(got, string(r.about().hook))
		r.onAgent()
		r.onPlugin()
	}
	require.Equal(t, want, got)
	for f := range fields(reflect.TypeOf(p.agent)) {
		if strings.HasSuffix(f.Name, "Callbacks") {
			require.Equal(t, 1, reflect.ValueOf(p.agent).FieldByIndex(f.Index).Len(), f.Name)
		}
	}
	for f := range fields(reflect.TypeOf(p.plugin)) {
		if strings.HasSuffix(f.Name, "Callback") {
			require.False(t, reflect.ValueOf(p.plugin).FieldByIndex(f.Index).IsNil(), f.Name)
		}
	}
}

// Each row is that of its own field: what is set is what is found, sorted and cleared.
func TestARowIsThatOfItsField(t *testing.T) {
	for f := range fields(reflect.TypeFor[Guard]()) {
		if f.Type.Kind() != reflect.Func || f.Name == "ForPlugin" || f.Name == "Info" {
			continue
		}
		g := Guard{Name: "one"}
		reflect.ValueOf(&g).Elem().FieldByIndex(f.Index).Set(reflect.MakeFunc(f.Type, nil))
		require.Len(t, g.Hooks(), 1, f.Name)
		sorted := reflect.ValueOf(sortHooks([]Guard{g}))
		for s := range fields(sorted.Type()) {
			if s.Type.Kind() == reflect.Slice {
				require.Equal(t, strings.EqualFold(s.Name, f.Name), sorted.FieldByIndex(s.Index).Len() == 1, "%s in %s", f.Name, s.Name)
			}
		}
		require.Empty(t, g.without(infoOf(g.Hooks()[0]).part).Hooks(), f.Name)
	}
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "" && !yield(f) {
				return
			}
		}
	}
}
