// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"
	"pgregory.net/rapid"
)

// The walk never counts less than the JSON of a content has bytes.
func TestRequestSizeBoundsTheJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &genai.Content{Role: rapid.StringN(0, 8, 20).Draw(t, "role")}
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			c.Parts = append(c.Parts, anyPart(t))
		}
		sizeIsBound(t, c)
	})
}

// Nothing of a part escapes it: every field of the client's type, whichever it has, is
// filled and counted.
func TestRequestSizeKnowsEveryField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	typ := reflect.TypeFor[genai.Part]()
	for i := range typ.NumField() {
		p := &genai.Part{}
		fill(r, reflect.ValueOf(p).Elem().Field(i), 4)
		raw, err := json.Marshal(p)
		require.NoError(t, err)
		require.Greater(t, len(raw), len("{}"), typ.Field(i).Name)
		sizeIsBound(t, &genai.Content{Parts: []*genai.Part{p}})
	}
	tools := reflect.TypeFor[genai.Tool]()
	for i := range tools.NumField() {
		tool := &genai.Tool{}
		fill(r, reflect.ValueOf(tool).Elem().Field(i), 4)
		require.Equal(t, tools.Field(i).Name != "FunctionDeclarations", serverTools([]*genai.Tool{tool}), tools.Field(i).Name)
	}
}

func FuzzRequestSizeText(f *testing.F) {
	for _, s := range []string{"", "plain", "<b>&\"\\\x00\x1f\x7f", "日本語 é 🚚", "\xff\xc3\x28", "\u2028\u2029\ufffd", "ﷺ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		size := requestSize{}
		size.text(s)
		require.GreaterOrEqual(t, size.bytes, int64(len(raw)))
		require.GreaterOrEqual(t, size.bytes, int64(len(s)))
	})
}

func sizeIsBound(t require.TestingT, c *genai.Content) {
	raw, err := json.Marshal([]*genai.Content{c})
	require.NoError(t, err)
	size := requestSize{}
	size.contents([]*genai.Content{c})
	require.NoError(t, size.err)
	require.GreaterOrEqual(t, size.bytes, int64(len(raw)), "%s", raw)
}

func anyPart(t *rapid.T) *genai.Part {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	p := &genai.Part{Text: text.Draw(t, "text"), Thought: rapid.Bool().Draw(t, "thought"), ThoughtSignature: rapid.SliceOf(rapid.Byte()).Draw(t, "signature")}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 1:
		p.FunctionCall = &genai.FunctionCall{ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Args: anyObject(t, text, 3)}
	case 2:
		p.FunctionResponse = &genai.FunctionResponse{ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Response: anyObject(t, text, 3)}
	case 3:
		p.InlineData = &genai.Blob{MIMEType: "text/" + text.Draw(t, "mime"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
	}
	return p
}

func anyObject(t *rapid.T, text *rapid.Generator[string], depth int) map[string]any {
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		m[text.Draw(t, "key")] = anyValue(t, text, depth)
	}
	return m
}

func anyValue(t *rapid.T, text *rapid.Generator[string], depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "float")
	case 3:
		return rapid.Int64().Draw(t, "int")
	case 4:
		return rapid.SliceOf(text).Draw(t, "strings")
	case 5:
		return map[string]string{text.Draw(t, "key"): text.Draw(t, "value")} // one the walk doesn't know
	case 7:
		return anyObject(t, text, depth-1)
	case 8:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, anyValue(t, text, depth-1))
		}
		return list
	default:
		return text.Draw(t, "string")
	}
}

// fill puts something into every field down to depth.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(r, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Key().Kind() == reflect.String {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e, depth-1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k<", r.IntN(100))).Convert(v.Type().Key()), e)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf("any <value>"))
		}
	case reflect.String:
		v.SetString(strings.Repeat("é<\x01", 1+r.IntN(20)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1 + int64(r.IntN(100)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + uint64(r.IntN(100)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(-1.25e-300)
	}
}
