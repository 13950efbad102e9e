// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"reflect"
)

// maxNesting is what encoding/json decodes. A value that holds itself is deeper than any.
const maxNesting = 10_000

// tooDeep reports whether a JSON-like value is nested deeper than JSON can be: going down
// it without end is fatal to the process.
func tooDeep(v any) bool { return deeper(v, maxNesting) }

func deeper(v any, most int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if most == 0 || deeper(e, most-1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if most == 0 || deeper(e, most-1) {
				return true
			}
		}
	}
	return false
}

// unencodable says what a value is that JSON can't hold. What is made of others is not
// printed: it may hold itself.
func unencodable(v any) string {
	switch reflect.TypeOf(v).Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Pointer:
		return fmt.Sprintf("%T", v)
	default:
		return fmt.Sprint(v)
	}
}
