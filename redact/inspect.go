// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// inspection looks for what the JSON shape of a value doesn't show, but a log does, or
// shows as base64: bytes, texts of errors and Stringers, and fields that are unexported or
// have no JSON name.
type inspection struct {
	w      *walker
	swaps  map[string]string // base64 of bytes that don't pass, and of what takes their place
	found  bool              // something is behind the JSON shape that doesn't pass
	opaque bool              // something is in the JSON shape that can't be replaced
	seen   map[visited]bool
	depth  int
}

type visited struct {
	t   reflect.Type
	ptr uintptr
}

// view is what shows a part of a value.
type view struct {
	json  bool // its JSON shape
	calls bool // fmt may call its methods
	top   bool // it is the value itself, not a part of it
}

// maxInspected is how deep an inspection goes. encoding/json goes no deeper than that
// without a look for cycles.
const maxInspected = 1000

// inspect looks into v, unless its type says that its JSON shape is all there is.
func (w *walker) inspect(v any) *inspection {
	i := &inspection{w: w}
	if rv := reflect.ValueOf(v); !isPlain(rv.Type()) {
		i.look(rv, view{json: true, calls: true, top: true})
	}
	return i
}

func (i *inspection) look(v reflect.Value, as view) {
	if !v.IsValid() || i.opaque {
		return
	}
	if i.depth++; i.depth > maxInspected {
		i.opaque = true
	}
	defer func() { i.depth-- }()
	t := v.Type()
	if as.json && t == rawType {
		return // its JSON is all there is
	}
	as.calls = as.calls && v.CanInterface()
	if as.calls && v.Kind() != reflect.Interface && hasText(t) {
		if !as.top { // the text of the value itself is judged by the walker
			i.text(fmt.Sprint(v.Interface()))
		}
		if hasJSON(t) {
			return // nothing shows its fields
		}
	}
	as.json = as.json && !hasJSON(t)
	inside := as
	inside.top = false
	switch v.Kind() {
	case reflect.String:
		if !as.json {
			i.text(v.String())
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		if !as.json && i.w.numbers {
			i.text(fmt.Sprint(v))
		}
	case reflect.Interface:
		i.look(v.Elem(), as)
	case reflect.Pointer:
		// Of what a pointer inside a value points to only JSON shows more than the address.
		if !v.IsNil() && (as.json || as.top) && i.first(t, v.Pointer()) {
			i.look(v.Elem(), inside)
		}
	case reflect.Struct:
		for n := range t.NumField() {
			f := t.Field(n)
			field := inside
			field.json = inside.json && (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-"
			i.look(v.Field(n), field)
		}
	case reflect.Map:
		if v.Len() == 0 || isPlain(t) && as.json {
			return
		}
		if !as.json {
			// To read it may be to race with its owner. Nobody can say what is in it.
			i.found = true
			return
		}
		if i.first(t, v.Pointer()) {
			for it := v.MapRange(); it.Next(); {
				i.look(it.Key(), inside)
				i.look(it.Value(), inside)
			}
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			i.octets(v, as)
			return
		}
		if v.Len() == 0 || !i.first(t, v.Pointer()) {
			return
		}
		i.elements(v, inside)
	case reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			i.elements(v, inside)
			return
		}
		b := make([]byte, v.Len())
		for n := range b {
			b[n] = byte(v.Index(n).Uint())
		}
		if i.w.finds(string(b)) {
			i.found, i.opaque = true, as.json
		}
	default: // a channel or function shows an address at most
	}
}

// first reports whether this is the first visit, so that a value that holds itself ends.
func (i *inspection) first(t reflect.Type, ptr uintptr) bool {
	key := visited{t, ptr}
	if i.seen[key] {
		return false
	}
	if i.seen == nil {
		i.seen = make(map[visited]bool)
	}
	i.seen[key] = true
	return true
}

func (i *inspection) elements(v reflect.Value, as view) {
	if isNumber(v.Type().Elem()) && !i.w.numbers {
		return
	}
	for n := range v.Len() {
		i.look(v.Index(n), as)
	}
}

func (i *inspection) text(s string) {
	if i.w.finds(s) {
		i.found = true
	}
}

// octets judges bytes, which JSON shows as base64.
func (i *inspection) octets(v reflect.Value, as view) {
	b := v.Bytes()
	if !as.json {
		if !i.w.binary && !isText(b) {
			i.found = true
			return
		}
		i.text(string(b))
		return
	}
	out, err := i.w.bytes(b)
	switch {
	case err != nil:
		i.opaque = true
	case !bytes.Equal(out, b):
		if i.swaps == nil {
			i.swaps = make(map[string]string)
		}
		i.swaps[base64.StdEncoding.EncodeToString(b)] = base64.StdEncoding.EncodeToString(out)
		i.found = true
		i.opaque = hasJSON(v.Type().Elem()) // then JSON doesn't show it as base64
	}
}

// isText reports whether bytes are text that can be looked into.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	errorType     = reflect.TypeFor[error]()
	stringerType  = reflect.TypeFor[fmt.Stringer]()
	formatterType = reflect.TypeFor[fmt.Formatter]()
	jsonType      = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// hasText reports whether a log shows a value of t as a text of its own.
func hasText(t reflect.Type) bool {
	return t.Implements(errorType) || t.Implements(stringerType) || t.Implements(formatterType)
}

// hasJSON reports whether a value of t makes its JSON itself.
func hasJSON(t reflect.Type) bool { return t.Implements(jsonType) || t.Implements(textType) }

func isNumber(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 && !hasText(t) && !hasJSON(t)
}

var plain sync.Map // of reflect.Type: bool

// isPlain reports whether the JSON shape of a value of t shows all of it as it is.
func isPlain(t reflect.Type) bool {
	if p, ok := plain.Load(t); ok {
		return p.(bool)
	}
	p := plainType(t, make(map[reflect.Type]bool))
	plain.Store(t, p)
	return p
}

func plainType(t reflect.Type, above map[reflect.Type]bool) bool {
	if above[t] {
		return true
	}
	above[t] = true
	if hasText(t) || hasJSON(t) || hasText(reflect.PointerTo(t)) || hasJSON(reflect.PointerTo(t)) {
		return false
	}
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Pointer:
		return plainType(t.Elem(), above)
	case reflect.Slice, reflect.Array:
		return t.Elem().Kind() != reflect.Uint8 && plainType(t.Elem(), above)
	case reflect.Map:
		return plainType(t.Key(), above) && plainType(t.Elem(), above)
	case reflect.Struct:
		for n := range t.NumField() {
			f := t.Field(n)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" || !plainType(f.Type, above) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64
}
