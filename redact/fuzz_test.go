// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

func seed(f *testing.F, add func(text string)) {
	for _, v := range readLines[vector](f, "redaction.jsonl") {
		add(v.Text)
	}
	for _, piece := range pieces {
		add(piece)
	}
}

// FuzzStreamEqualsBatch cuts a text wherever the second argument says: each of
// its bytes is the length of a chunk.
func FuzzStreamEqualsBatch(f *testing.F) {
	seed(f, func(text string) { f.Add(text, []byte{1, 0, 5}) })
	rs := redactors(f)
	f.Fuzz(func(t *testing.T, text string, sizes []byte) {
		var cuts []int
		at := 0
		for _, size := range sizes {
			if at += int(size % 32); at > len(text) {
				break
			}
			cuts = append(cuts, at)
		}
		requireStream(t, rs["both"], text, cuts)
		requireStream(t, rs["email"], text, cuts)
		requireStream(t, rs["iban"], text, cuts)
		requireStream(t, rs["patterns"], text, cuts)

		requireCut(t, rs["both"], text)
	})
}

// requireCut checks that a text that breaks off is redacted no less than one
// that ends there.
func requireCut(t *testing.T, r *redact.Redactor, text string) {
	t.Helper()
	covered := make([]bool, len(text))
	s := r.StreamFunc(func(f redact.Finding) {
		for i := f.Start; i < f.End; i++ {
			covered[i] = true
		}
	})
	s.Write(text)
	s.Close(redact.CutOff)
	for _, f := range r.Find(text) {
		for i := f.Start; i < f.End; i++ {
			require.True(t, covered[i], "%q cut off shows %q", text, text[i:f.End])
		}
	}
}

// FuzzLinear repeats a text until it is long: anything but linear time would
// take minutes.
func FuzzLinear(f *testing.F) {
	seed(f, func(text string) { f.Add(text) })
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 64)])
	}
	r := redact.Must(redact.New(redact.Options{}))
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		long := strings.Repeat(text, 1+(1<<17)/len(text))
		start := time.Now()
		r.Find(long)
		s := r.Stream()
		for i := 0; i < len(long); i += 256 {
			s.Write(long[i:min(i+256, len(long))])
			require.LessOrEqual(t, s.Held(), r.MaxHold())
		}
		s.Close(redact.Complete)
		require.Less(t, time.Since(start), 10*time.Second)
	})
}

// FuzzValue walks whatever JSON a text is, and the text itself.
func FuzzValue(f *testing.F) {
	seed(f, func(text string) {
		object, err := json.Marshal(map[string]any{text: []any{text, 1, nil}, "n": 4111111111111111})
		require.NoError(f, err)
		f.Add(string(object))
		nested, err := json.Marshal(string(object))
		require.NoError(f, err)
		f.Add(string(nested))
	})
	r := redact.Must(redact.New(redact.Options{}))
	f.Fuzz(func(t *testing.T, text string) {
		_, _, err := r.Value(text)
		require.NoError(t, err)
		raw, _, err := r.Value(json.RawMessage(text))
		require.NoError(t, err)
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		require.True(t, json.Valid(raw.(json.RawMessage)), "%s", raw)
		out, counts, err := r.Value(v)
		require.NoError(t, err)
		requireWalked(t, r, v, out)
		require.Equal(t, counts == nil, reflect.DeepEqual(v, out))
		var again any
		require.NoError(t, json.Unmarshal([]byte(text), &again))
		require.Equal(t, again, v, "the input is as it was")
	})
}

// requireWalked compares a redacted value with its original part by part.
func requireWalked(t *testing.T, r *redact.Redactor, in, out any) {
	t.Helper()
	switch x := in.(type) {
	case string:
		if !json.Valid([]byte(x)) {
			require.Equal(t, r.String(x), out)
		}
	case []any:
		require.Len(t, out, len(x))
		for i, e := range x {
			requireWalked(t, r, e, out.([]any)[i])
		}
	case map[string]any:
		require.Len(t, out, len(x))
		for k, e := range x {
			if now, kept := out.(map[string]any)[k]; kept {
				requireWalked(t, r, e, now)
				require.Empty(t, r.Find(k))
			}
		}
	default:
		require.Equal(t, in, out)
	}
}
