// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
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

// Value is v with every string in it redacted, v itself where nothing is found
// or withheld. The counts are nil where nothing is found. Parts of v are copied
// where they change, never changed.
//
// It looks into strings (also as JSON, if they are), []byte, keys of maps,
// numbers (for patterns), errors, slices and maps of these, and any other value
// through its JSON shape: a struct in which something is found becomes a map.
// So does one with something behind that shape, which a log may show: a field
// that is unexported or tagged json:"-", the text of an error or a
// [fmt.Stringer] in it.
//
// What it can't look into is withheld: a channel, a map that holds itself or
// 100,000 levels, and bytes that are no UTF-8 text (or hold a NUL). The only
// error is a [*BlockedError], and the value is then nil.
func (r *Redactor) Value(v any) (any, Counts, error) {
	by := &redaction{r: r}
	w := walker{by: by, numbers: len(r.patterns) > 0}
	out, err := w.value(v)
	if err == nil && by.blocked {
		err = &BlockedError{Counts: by.counts}
	}
	if err != nil {
		return nil, by.counts, err
	}
	return out, by.counts, nil
}

// redaction is what Value does to the strings of one value.
type redaction struct {
	r       *Redactor
	counts  Counts
	blocked bool
}

func (x *redaction) text(s string) (string, error) {
	var buf [16]Finding
	fs := x.r.find(buf[:0], s)
	if len(fs) == 0 {
		return s, nil
	}
	if x.count(fs); x.r.blocks(fs) {
		return "", nil
	}
	return x.r.replace(s, fs), nil
}

func (x *redaction) finds(s string) bool {
	var buf [16]Finding
	fs := x.r.find(buf[:0], s)
	x.count(fs)
	return len(fs) > 0
}

func (x *redaction) count(fs []Finding) {
	x.counts = x.counts.Add(count(fs))
	x.blocked = x.blocked || x.r.blocks(fs)
}

func (x *redaction) opaque() (any, error) { return x.r.words.withheld, nil }

// Map is [Redactor.Value] for an object, m itself where nothing is found or withheld. A
// map that can't be looked into at all is an [ErrOpaque].
func (r *Redactor) Map(m map[string]any) (map[string]any, error) {
	v, _, err := r.Value(m)
	if err != nil {
		return nil, err
	}
	out, ok := v.(map[string]any)
	if !ok {
		return nil, ErrOpaque
	}
	return out, nil
}

// walker applies text to all strings of a value and copies what changes.
type walker struct {
	by
	numbers bool // numbers count as text
	binary  bool // bytes that are no text pass as one

	seen  map[container]*visit
	depth int
	swaps map[string]string // literals of the JSON shape being walked, and what takes their place
}

// by is what a walk does.
type by interface {
	// text is what takes the place of a string.
	text(s string) (string, error)
	// finds reports whether text would change s; it is for what can't be replaced.
	finds(s string) bool
	// opaque is what takes the place of what can't be looked into.
	opaque() (any, error)
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
		out, err := w.bytes(x)
		if err != nil || bytes.Equal(out, x) {
			return v, err
		}
		return out, nil
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

// bytes is string for text in bytes, b itself where nothing changes.
func (w *walker) bytes(b []byte) ([]byte, error) {
	if !w.binary && !isText(b) {
		withheld, err := w.opaque()
		return []byte(fmt.Sprint(withheld)), err
	}
	out, err := w.string(string(b), 0)
	if err != nil || out == string(b) {
		return b, err
	}
	return []byte(out), nil
}

// shaped walks a value of any type that value doesn't name.
func (w *walker) shaped(v any) (any, error) {
	if err, ok := v.(error); ok {
		return w.fault(err)
	}
	rv := reflect.ValueOf(v)
	if t := rv.Type(); !hasText(t) && !hasJSON(t) {
		switch rv.Kind() {
		case reflect.Slice, reflect.Array:
			switch {
			case t.Elem().Kind() == reflect.Uint8 && rv.Kind() == reflect.Slice:
				b := rv.Bytes()
				out, err := w.bytes(b)
				if err != nil || bytes.Equal(out, b) {
					return v, err
				}
				return out, nil
			case !isNumber(t.Elem()) && rv.Len() > 0:
				return w.list(v, rv)
			}
		case reflect.Map:
			if t.Key().Kind() == reflect.String && !hasJSON(t.Key()) && !hasText(t.Key()) && rv.Len() > 0 {
				return w.table(v, rv)
			}
		}
	}
	return w.shape(v)
}

// fault walks an error: the text it says and what its JSON shows.
func (w *walker) fault(err error) (any, error) {
	was := err.Error()
	text, failed := w.text(was)
	if failed != nil {
		return err, failed
	}
	if text == was {
		_, changed, failed := w.json(err, w.inspect(err))
		if failed != nil || !changed {
			return err, failed
		}
	}
	return &redactedError{text: text, err: err}, nil
}

// list walks a slice or array of a type of its own, which the outcome has too where
// it can.
func (w *walker) list(v any, rv reflect.Value) (any, error) {
	walk := func() (any, error) {
		in := make([]any, rv.Len())
		for i := range in {
			in[i] = rv.Index(i).Interface()
		}
		copied, err := copySlice(in, w.value, identical)
		out, ok := copied.([]any)
		if err != nil || !ok || &out[0] == &in[0] {
			return v, err
		}
		typed := reflect.MakeSlice(reflect.SliceOf(rv.Type().Elem()), len(out), len(out))
		if rv.Kind() == reflect.Slice {
			typed = reflect.MakeSlice(rv.Type(), len(out), len(out))
		}
		for i, e := range out {
			if !assign(typed.Index(i), e) {
				return out, nil
			}
		}
		return typed.Interface(), nil
	}
	if rv.Kind() == reflect.Array {
		return walk()
	}
	return w.once(v, walk)
}

// table is list for a map with strings as keys.
func (w *walker) table(v any, rv reflect.Value) (any, error) {
	return w.once(v, func() (any, error) {
		in := make(map[string]any, rv.Len())
		for it := rv.MapRange(); it.Next(); {
			in[it.Key().String()] = it.Value().Interface()
		}
		copied, err := copyMap(w, in, w.value, identical)
		if err != nil || identical(copied, in) {
			return v, err
		}
		out, _ := copied.(map[string]any)
		typed := reflect.MakeMapWithSize(rv.Type(), len(out))
		elem := reflect.New(rv.Type().Elem()).Elem()
		for k, e := range out {
			if !assign(elem, e) {
				return out, nil
			}
			typed.SetMapIndex(reflect.ValueOf(k).Convert(rv.Type().Key()), elem)
		}
		return typed.Interface(), nil
	})
}

// assign sets to to v, where its type allows.
func assign(to reflect.Value, v any) bool {
	if v == nil {
		to.SetZero()
		return to.Kind() == reflect.Interface || to.Kind() == reflect.Pointer
	}
	rv := reflect.ValueOf(v)
	if !rv.Type().AssignableTo(to.Type()) {
		return false
	}
	to.Set(rv)
	return true
}

// shape walks a value through its JSON shape and, since others may print it instead, its
// text.
func (w *walker) shape(v any) (any, error) {
	seen := w.inspect(v)
	out, changed, err := w.json(v, seen)
	if err != nil {
		return nil, err
	}
	if changed || seen.found {
		return out()
	}
	if hasText(reflect.TypeOf(v)) {
		return keep(v, fmt.Sprint(v))(w.text(fmt.Sprint(v)))
	}
	return v, nil
}

// json walks the JSON shape of v and reports whether anything changes; out decodes it.
func (w *walker) json(v any, seen *inspection) (out func() (any, error), changed bool, err error) {
	if seen.opaque {
		return w.opaque, true, nil
	}
	shape, err := json.Marshal(v)
	if err != nil {
		return w.opaque, true, nil
	}
	outer := w.swaps
	w.swaps = seen.swaps
	text, err := w.document(string(shape))
	w.swaps = outer
	if err != nil {
		return nil, false, err
	}
	return func() (any, error) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var decoded any
		if err := d.Decode(&decoded); err != nil {
			return w.opaque()
		}
		return decoded, nil
	}, text != string(shape), nil
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
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return va.Pointer() == vb.Pointer()
	case reflect.String:
		return va.String() == vb.String()
	}
	return true
}

func same(a, b map[string]any) bool { return identical(a, b) }
