// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ErrOpaque says that a value can't be looked into: it has no JSON shape, or
// holds itself.
var ErrOpaque = errors.New("redact: value can't be looked into")

// Value is v with every string in it redacted, v itself where nothing is found;
// the counts are then nil. Parts of v are copied where they change, never
// changed.
//
// It looks into strings (also as JSON, if they are), []byte, keys of maps,
// numbers (for patterns), errors, and any other value through its JSON shape: a
// struct in which something is found becomes a map. What it can't look into, a
// channel, a map that holds itself or 100,000 levels, is withheld. The only error is a
// [*BlockedError], and the value is then nil.
func (r *Redactor) Value(v any) (any, Counts, error) {
	var (
		counts  Counts
		blocked bool
	)
	w := walker{
		text: func(s string) (string, error) {
			var buf [16]Finding
			fs := r.find(buf[:0], s)
			if len(fs) == 0 {
				return s, nil
			}
			counts = counts.Add(count(fs))
			if r.blocks(fs) {
				blocked = true
				return "", nil
			}
			return r.replace(s, fs), nil
		},
		opaque:  func() (any, error) { return r.words.withheld, nil },
		numbers: len(r.patterns) > 0,
	}
	out, err := w.value(v)
	if err == nil && blocked {
		err = &BlockedError{Counts: counts}
	}
	if err != nil {
		return nil, counts, err
	}
	return out, counts, nil
}

// Map is [Redactor.Value] for an object, m itself where nothing is found. A map that
// can't be looked into is an [ErrOpaque].
func (r *Redactor) Map(m map[string]any) (map[string]any, error) {
	v, counts, err := r.Value(m)
	if err != nil {
		return nil, err
	}
	if counts == nil {
		return m, nil
	}
	out, ok := v.(map[string]any)
	if !ok {
		return nil, ErrOpaque
	}
	return out, nil
}

// walker applies text to all strings of a value and copies what changes.
type walker struct {
	text    func(string) (string, error)
	opaque  func() (any, error) // for what can't be looked into
	numbers bool                // numbers count as text

	seen  map[container]*visit
	depth int
}

// maxDepth is ten times what encoding/json decodes; deeper values are withheld
// before the stack ends.
const maxDepth = 100_000

// container identifies a map or slice, so that one reached twice is walked once
// and one that holds itself ends.
type container struct {
	kind reflect.Kind
	data uintptr
	len  int
}

type visit struct {
	out  any
	done bool
}

// value returns v itself when nothing in it changes.
func (w *walker) value(v any) (any, error) {
	switch x := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return keep(v, x)(w.string(x, 0))
	case map[string]any:
		return w.once(v, func() (any, error) { return copyMap(w, x, w.value, identical) })
	case []any:
		return w.once(v, func() (any, error) { return copySlice(x, w.value, identical) })
	case map[string]string:
		return copyMap(w, x, w.plain, equal)
	case []string:
		return copySlice(x, w.plain, equal)
	case []map[string]any:
		return w.once(v, func() (any, error) { return copySlice(x, w.object, same) })
	case json.RawMessage:
		out, err := w.document(string(x))
		if err != nil || out == string(x) {
			return v, err
		}
		return json.RawMessage(out), nil
	case []byte:
		out, err := w.string(string(x), 0)
		if err != nil || out == string(x) {
			return v, err
		}
		return []byte(out), nil
	case json.Number:
		return w.number(v, string(x))
	case float64:
		if !w.numbers {
			return v, nil
		}
		return w.number(v, strconv.FormatFloat(x, 'f', -1, 64))
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32:
		if !w.numbers {
			return v, nil
		}
		return w.number(v, fmt.Sprint(x))
	}
	return w.shaped(v)
}

func keep[T comparable](v any, in T) func(T, error) (any, error) {
	return func(out T, err error) (any, error) {
		if err != nil || out == in {
			return v, err
		}
		return out, nil
	}
}

func (w *walker) plain(s string) (string, error) { return w.string(s, 0) }

func (w *walker) object(m map[string]any) (map[string]any, error) {
	out, err := w.value(m)
	if err != nil {
		return nil, err
	}
	if o, ok := out.(map[string]any); ok {
		return o, nil
	}
	return map[string]any{"": out}, nil // it holds itself
}

// number replaces a number by a string where a pattern matches its decimal form.
func (w *walker) number(v any, decimal string) (any, error) {
	if !w.numbers {
		return v, nil
	}
	return keep(v, decimal)(w.text(decimal))
}

// shaped walks a value through its JSON shape and, since others may print it
// instead, its text.
func (w *walker) shaped(v any) (any, error) {
	if err, ok := v.(error); ok {
		text, failed := w.text(err.Error())
		if failed != nil || text == err.Error() {
			return v, failed
		}
		return &redactedError{text: text, err: err}, nil
	}
	shape, err := json.Marshal(v)
	if err != nil {
		return w.opaque()
	}
	out, err := w.document(string(shape))
	if err != nil {
		return nil, err
	}
	if out != string(shape) {
		d := json.NewDecoder(strings.NewReader(out))
		d.UseNumber()
		var decoded any
		if err := d.Decode(&decoded); err != nil {
			return w.opaque()
		}
		return decoded, nil
	}
	if _, ok := v.(fmt.Stringer); ok {
		return keep(v, fmt.Sprint(v))(w.text(fmt.Sprint(v)))
	}
	return v, nil
}

// once walks a map or slice the first time it is reached.
func (w *walker) once(v any, walk func() (any, error)) (any, error) {
	rv := reflect.ValueOf(v)
	if rv.Len() == 0 {
		return v, nil
	}
	key := container{rv.Kind(), rv.Pointer(), rv.Len()}
	if before := w.seen[key]; before != nil {
		if !before.done {
			return w.opaque()
		}
		return before.out, nil
	}
	if w.depth >= maxDepth {
		return w.opaque()
	}
	if w.seen == nil {
		w.seen = make(map[container]*visit)
	}
	this := &visit{}
	w.seen[key] = this
	w.depth++
	out, err := walk()
	w.depth--
	this.out, this.done = out, true
	return out, err
}

func copySlice[T any](in []T, walk func(T) (T, error), unchanged func(a, b T) bool) (any, error) {
	out := in
	for i, e := range in {
		n, err := walk(e)
		if err != nil {
			return nil, err
		}
		if unchanged(e, n) {
			continue
		}
		if &out[0] == &in[0] {
			out = slices.Clone(in)
		}
		out[i] = n
	}
	return out, nil
}

func copyMap[T any](w *walker, in map[string]T, walk func(T) (T, error), unchanged func(a, b T) bool) (any, error) {
	out := in
	copied := false
	change := func() {
		if !copied {
			out, copied = maps.Clone(in), true
		}
	}
	var renamed map[string]string
	for k, e := range in {
		n, err := walk(e)
		if err != nil {
			return nil, err
		}
		if !unchanged(e, n) {
			change()
			out[k] = n
		}
		name, err := w.string(k, 0)
		if err != nil {
			return nil, err
		}
		if name != k {
			if renamed == nil {
				renamed = make(map[string]string)
			}
			renamed[k] = name
		}
	}
	if renamed == nil {
		return out, nil
	}
	change()
	moved := make(map[string]T, len(renamed))
	for k := range renamed {
		moved[k] = out[k]
		delete(out, k)
	}
	// Two keys may become one label: number them, in the order of the originals.
	for _, k := range slices.Sorted(maps.Keys(renamed)) {
		name := renamed[k]
		for i := 2; ; i++ {
			if _, taken := out[name]; !taken {
				break
			}
			name = renamed[k] + " " + strconv.Itoa(i)
		}
		out[name] = moved[k]
	}
	return out, nil
}

func equal(a, b string) bool { return a == b }

// identical reports whether a walk gave back what it was given. A part that
// changes becomes a copy, another string or a value of another type.
func identical(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if !va.IsValid() || !vb.IsValid() {
		return va.IsValid() == vb.IsValid()
	}
	if va.Type() != vb.Type() {
		return false
	}
	switch va.Kind() {
	case reflect.Map, reflect.Slice:
		return va.Pointer() == vb.Pointer()
	case reflect.String:
		return va.String() == vb.String()
	}
	return true
}

func same(a, b map[string]any) bool { return identical(a, b) }
