// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/redact"
)

// fieldMask masks whatever a value of ADK's types holds, by its type and not by a list of
// its fields: a field that ADK adds is masked as well. What it can't look into is withheld.
// Parts of a value are copied where they change, never changed.
type fieldMask struct {
	r       *redact.Redactor
	calls   callMask
	changes int // fields that were set to another value
}

// fields masks the fields of a struct the caller owns, but those that are named.
func (m *fieldMask) fields(v reflect.Value, but ...string) error {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() || slices.Contains(but, v.Type().Field(i).Name) {
			continue
		}
		masked, err := m.mask(f)
		if err != nil {
			return err
		}
		if masked.IsValid() {
			f.Set(masked)
			m.changes++
		}
	}
	return nil
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	objectType = reflect.TypeFor[map[string]any]()
)

// unchanged is what mask returns for a value that stays.
var unchanged reflect.Value

// mask returns what takes the place of v, or unchanged.
func (m *fieldMask) mask(v reflect.Value) (reflect.Value, error) {
	t := v.Type()
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return unchanged, nil
	case reflect.String:
		if s := m.r.String(v.String()); s != v.String() {
			return reflect.ValueOf(s).Convert(t), nil
		}
		return unchanged, nil
	case reflect.Interface:
		if v.IsNil() {
			return unchanged, nil
		}
		masked, _, err := m.r.Value(v.Interface())
		if err != nil || reflect.DeepEqual(masked, v.Interface()) {
			return unchanged, err
		}
		return assignable(masked, t), nil
	case reflect.Map:
		return m.maskMap(v)
	case reflect.Slice:
		if v.Len() == 0 {
			return unchanged, nil
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return m.octets(v, false), nil
		}
		return m.list(v, reflect.MakeSlice(t, v.Len(), v.Len()))
	case reflect.Array:
		return m.list(v, reflect.New(t).Elem())
	case reflect.Pointer:
		return m.pointer(v)
	case reflect.Struct:
		return m.structure(v)
	}
	return reflect.Zero(t), nil // of a kind that nothing can be said of
}

func (m *fieldMask) pointer(v reflect.Value) (reflect.Value, error) {
	if v.IsNil() {
		return unchanged, nil
	}
	switch p := v.Interface().(type) {
	case *genai.FunctionCall:
		return m.call(p)
	case *genai.FunctionResponse:
		return m.copied(v, func(c reflect.Value) { m.setID(c, p.ID) }, "ID")
	case *genai.Blob, *genai.FunctionResponseBlob: // the model reads pictures
		return m.copied(v, func(c reflect.Value) {
			if data := m.octets(c.FieldByName("Data"), true); data.IsValid() {
				c.FieldByName("Data").Set(data)
				m.changes++
			}
		}, "Data")
	case *session.RequestInput: // the answer comes back by its id
		return m.copied(v, func(reflect.Value) {}, "InterruptID")
	}
	masked, err := m.mask(v.Elem())
	if err != nil || !masked.IsValid() {
		return unchanged, err
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(masked)
	return c, nil
}

func (m *fieldMask) call(fc *genai.FunctionCall) (reflect.Value, error) {
	args, err := m.calls.args(fc.Args)
	if err != nil {
		return unchanged, err
	}
	return m.copied(reflect.ValueOf(fc), func(c reflect.Value) {
		m.setID(c, fc.ID)
		if reflect.ValueOf(args).Pointer() != reflect.ValueOf(fc.Args).Pointer() {
			c.FieldByName("Args").Set(reflect.ValueOf(args))
			m.changes++
		}
		if fc.PartialArgs != nil { // pieces that can't be looked into alone; the whole comes in Args
			c.FieldByName("PartialArgs").SetZero()
			m.changes++
		}
	}, "ID", "Args", "PartialArgs")
}

// copied returns a copy of the struct behind a pointer in which own has set the fields
// named apart, or unchanged.
func (m *fieldMask) copied(ptr reflect.Value, own func(reflect.Value), apart ...string) (reflect.Value, error) {
	before := m.changes
	c := reflect.New(ptr.Type().Elem())
	c.Elem().Set(ptr.Elem())
	own(c.Elem())
	if err := m.fields(c.Elem(), apart...); err != nil || m.changes == before {
		return unchanged, err
	}
	return c, nil
}

func (m *fieldMask) setID(c reflect.Value, id string) {
	if masked := m.calls.id(id); masked != id {
		c.FieldByName("ID").SetString(masked)
		m.changes++
	}
}

// octets masks bytes. Those that are no text are kept or withheld.
func (m *fieldMask) octets(v reflect.Value, keepBinary bool) reflect.Value {
	b := v.Bytes()
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		if keepBinary {
			return unchanged
		}
		return reflect.Zero(v.Type())
	}
	if s := m.r.String(string(b)); s != string(b) {
		return reflect.ValueOf([]byte(s)).Convert(v.Type())
	}
	return unchanged
}

func (m *fieldMask) list(v, out reflect.Value) (reflect.Value, error) {
	changed := false
	for i := range v.Len() {
		masked, err := m.mask(v.Index(i))
		if err != nil {
			return unchanged, err
		}
		if !masked.IsValid() {
			out.Index(i).Set(v.Index(i))
			continue
		}
		changed = true
		out.Index(i).Set(masked)
	}
	if !changed {
		return unchanged, nil
	}
	return out, nil
}

// maskMap masks keys too. Keys that become one label are numbered.
func (m *fieldMask) maskMap(v reflect.Value) (reflect.Value, error) {
	t := v.Type()
	if v.Len() == 0 {
		return unchanged, nil
	}
	if t == objectType {
		object, _ := v.Interface().(map[string]any)
		masked, err := m.r.Map(object)
		if err != nil || reflect.ValueOf(masked).Pointer() == v.Pointer() {
			return unchanged, err
		}
		return reflect.ValueOf(masked), nil
	}
	if t.Key().Kind() != reflect.String {
		return reflect.Zero(t), nil
	}
	in := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		in[it.Key().String()] = it.Value()
	}
	out := reflect.MakeMapWithSize(t, v.Len())
	changed := false
	for _, name := range slices.Sorted(maps.Keys(in)) {
		masked, err := m.mask(in[name])
		if err != nil {
			return unchanged, err
		}
		changed = changed || masked.IsValid()
		if !masked.IsValid() {
			masked = in[name]
		}
		label := m.r.String(name)
		changed = changed || label != name
		key := reflect.ValueOf(label).Convert(t.Key())
		for i := 2; out.MapIndex(key).IsValid(); i++ {
			key = reflect.ValueOf(label + " " + strconv.Itoa(i)).Convert(t.Key())
		}
		out.SetMapIndex(key, masked)
	}
	if !changed {
		return unchanged, nil
	}
	return out, nil
}

func (m *fieldMask) structure(v reflect.Value) (reflect.Value, error) {
	t := v.Type()
	if t == timeType {
		return unchanged, nil
	}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return m.shaped(v)
		}
	}
	out := unchanged
	for i := range t.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		masked, err := m.mask(f)
		if err != nil {
			return unchanged, err
		}
		if !masked.IsValid() {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(t).Elem()
			out.Set(v)
		}
		out.Field(i).Set(masked)
	}
	return out, nil
}

// shaped masks a struct that can't be walked through its JSON shape.
func (m *fieldMask) shaped(v reflect.Value) (reflect.Value, error) {
	masked, counts, err := m.r.Value(v.Interface())
	if err != nil {
		return unchanged, err
	}
	if counts == nil && reflect.TypeOf(masked) == v.Type() {
		return unchanged, nil
	}
	out := reflect.New(v.Type())
	if enc, err := json.Marshal(masked); err != nil || json.Unmarshal(enc, out.Interface()) != nil {
		return reflect.Zero(v.Type()), nil
	}
	return out.Elem(), nil
}

// assignable is v as a value of t, the zero value where it is none.
func assignable(v any, t reflect.Type) reflect.Value {
	if rv := reflect.ValueOf(v); rv.IsValid() && rv.Type().AssignableTo(t) {
		return rv
	}
	return reflect.Zero(t)
}
