// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package line

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var values = []json.RawMessage{nil, []byte("null"), []byte("{}"), []byte(`{"a":12345678901234567890,"<":"é"}`)}

// lines draws lines of a kind with any values in all fields, those of other kinds included.
func lines(kind string) *rapid.Generator[Line] {
	return rapid.Custom(func(t *rapid.T) Line {
		var l Line
		v := reflect.ValueOf(&l).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch f := v.Field(i).Addr().Interface().(type) {
			case *string:
				*f = rapid.String().Draw(t, name)
			case *bool:
				*f = rapid.Bool().Draw(t, name)
			case *int:
				*f = rapid.Int().Draw(t, name)
			case *int64:
				*f = rapid.Int64().Draw(t, name)
			case *uint64:
				*f = rapid.Uint64().Draw(t, name)
			case *Amount:
				*f = Amount(rapid.Int64Range(0, 1<<53-1).Draw(t, name))
			case *time.Time:
				*f = time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, name), rapid.Int64Range(0, 999_999_999).Draw(t, name)).UTC()
			case *json.RawMessage:
				*f = rapid.SampledFrom(values).Draw(t, name)
			default:
				t.Fatalf("no values for the type of %s", name)
			}
		}
		l.Kind = kind
		return l
	})
}

// A line of every kind that was written, read and written again is the same to the byte, its
// fields are the form's and no others.
func TestWriteReadWrite(t *testing.T) {
	for kind, form := range forms {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				l := lines(kind).Draw(t, "line")
				data, err := l.Encode()
				require.NoError(t, err)
				var back Line
				dec := json.NewDecoder(bytes.NewReader(data))
				dec.DisallowUnknownFields()
				require.NoError(t, dec.Decode(&back))
				again, err := back.Encode()
				require.NoError(t, err)
				require.Equal(t, string(data), string(again))
				marshalled, err := json.Marshal(l)
				require.NoError(t, err)
				require.JSONEq(t, string(data), string(marshalled))

				of, fields := map[string]bool{}, map[string]json.RawMessage{}
				for _, i := range form.index {
					of[reflect.TypeFor[Line]().Field(i).Tag.Get("json")] = true
				}
				require.NoError(t, json.Unmarshal(data, &fields))
				for name := range fields {
					require.True(t, of[name], name)
				}
			})
		})
	}
}

// What can be read can be written, and is the same when it is read and written again.
func FuzzLine(f *testing.F) {
	for kind := range forms {
		f.Add([]byte(`{"kind":"` + kind + `","ts":"2026-11-15T09:00:01.5Z","args":{"<":1e400},"always":null,"charged":"007.5","seq":7}`))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var l, back Line
		if json.Unmarshal(in, &l) != nil || forms[l.Kind].as == nil {
			return
		}
		data, err := l.Encode()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &back))
		again, err := back.Encode()
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	})
}

// Every field of a Line is in a form, under a name of its own.
func TestNoFieldIsDead(t *testing.T) {
	used := map[int]bool{}
	for _, f := range forms {
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(f.index))), len(f.index))
		for _, i := range f.index {
			used[i] = true
		}
	}
	require.Len(t, slices.Collect(maps.Keys(used)), reflect.TypeFor[Line]().NumField())
	require.Len(t, tagged, reflect.TypeFor[Line]().NumField())
}

func TestALineOfAnUnknownKindIsNotWritten(t *testing.T) {
	_, err := Line{Kind: "later"}.Encode()
	require.Error(t, err)
	_, err = Line{Kind: KindTool, Args: json.RawMessage("{")}.Encode()
	require.Error(t, err)
	require.Panics(t, func() { formOf("run no_such_field") })
}

// What a later version writes is passed over.
func TestUnknownFieldsArePassedOver(t *testing.T) {
	var l Line
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"tool","principal":{"id":"x"},"tool":"pay","digest":"9f"}`), &l))
	require.Equal(t, Line{Kind: KindTool, Tool: "pay"}, l)
}

func TestStart(t *testing.T) {
	at := time.Date(2026, 11, 15, 9, 0, 1, 0, time.UTC)
	require.Equal(t, at.Add(-900*time.Millisecond), Line{TS: at, MS: 900}.Start())
}

func TestAmount(t *testing.T) {
	for a, want := range map[Amount]string{0: `"0.00"`, 1: `"0.000000001"`, 12_345_678: `"0.012345678"`, 1.5e9: `"1.50"`} {
		data, err := json.Marshal(a)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	for _, bad := range []string{`"-1"`, `1`, `"1e3"`, `"9007199.254740992"`} {
		var a Amount
		require.Error(t, json.Unmarshal([]byte(bad), &a), bad)
	}
}
