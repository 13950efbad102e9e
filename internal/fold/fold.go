// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fold finds arguments by name as encoding/json does, for which names that differ
// in case alone are the same: a tool that decodes its arguments into a struct takes
// "MAXAMOUNT" for its field maxAmount, so whatever judges maxAmount must too.
package fold

import (
	"maps"
	"slices"
	"strings"
)

// Same reports whether two names are the same to encoding/json.
func Same(a, b string) bool { return strings.EqualFold(a, b) }

// Get returns the argument of that name: the key itself, else the first in order that folds
// alike.
func Get(args map[string]any, name string) (value any, ok bool) {
	if v, ok := args[name]; ok {
		return v, true
	}
	keys := Keys(args, name)
	if len(keys) == 0 {
		return nil, false
	}
	return args[keys[0]], true
}

// Keys returns the keys that fold like name, sorted.
func Keys(args map[string]any, name string) []string {
	var keys []string
	for key := range args {
		if Same(key, name) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Twice reports whether two keys fold alike: which of them a tool takes is left to chance.
func Twice(args map[string]any) bool {
	if len(args) < 2 {
		return false
	}
	keys := slices.Collect(maps.Keys(args))
	for i, a := range keys {
		if slices.ContainsFunc(keys[i+1:], func(b string) bool { return Same(a, b) }) {
			return true
		}
	}
	return false
}
