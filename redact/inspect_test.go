// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

type (
	namedBytes  []byte
	namedString string
	named       map[namedString]namedBytes
	private     struct{ to string }
	untagged    struct {
		To string `json:"-"`
		N  int
	}
	embedding struct {
		private
		N int
	}
	carrier struct {
		Data []byte
		Err  error
		Any  any
		Next *carrier
	}
	secretive struct{ raw []byte }
	shaped    struct{ to string }
	coded     struct {
		Code string
		To   string
	}
)

func (shaped) MarshalJSON() ([]byte, error) { return []byte(`"shaped"`), nil }
func (coded) Error() string                 { return "not sent" }

// shown is everything that a log or a store may make of a value.
func shown(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
		slog.New(h).Info("m", "v", v)
	}
	fmt.Fprintf(&b, "%v\n%+v\n%#v\n%s\n%q\n%x\n", v, v, v, v, v, v)
	enc, err := json.Marshal(v)
	require.NoError(t, err)
	b.Write(enc)
	return b.String()
}

// forms are the ways in which what is shown may spell a value out.
func forms(secret string) []string {
	decimals := strings.Trim(fmt.Sprint([]byte(secret)), "[]") //nolint:staticcheck // numbers, as a log prints them
	out := []string{secret, decimals, strings.ReplaceAll(decimals, " ", ","), fmt.Sprintf("%x", secret), fmt.Sprintf("%#v", []byte(secret))[len("[]byte{"):][:4*len(secret)]}
	for shift := range 3 { // of base64
		enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		out = append(out, enc[4:len(enc)-4])
	}
	return out
}

// Wherever in a value a secret is, neither a log nor a store shows it after, in no
// spelling; and a value without one stays what it was.
func TestValueReachesEveryPart(t *testing.T) {
	binary := append([]byte{0xff, 0xfe, 0}, mailAddress...)
	for name, make := range map[string]func(s string) any{
		"map of bytes":           func(s string) any { return map[string][]byte{"k": []byte(s)} },
		"slice of bytes":         func(s string) any { return [][]byte{[]byte(s)} },
		"named bytes":            func(s string) any { return namedBytes(s) },
		"named map":              func(s string) any { return named{"k": namedBytes(s)} },
		"key of a named map":     func(s string) any { return named{namedString(s): nil} },
		"array of bytes":         func(s string) any { var a [80]byte; copy(a[:], s); return a },
		"array in a struct":      func(s string) any { var a [80]byte; copy(a[:], s); return struct{ A [80]byte }{a} },
		"pointer to bytes":       func(s string) any { b := []byte(s); return &b },
		"bytes in a struct":      func(s string) any { return carrier{Data: []byte(s)} },
		"bytes in a pointer":     func(s string) any { return &carrier{Next: &carrier{Data: []byte(s)}} },
		"bytes in a slice":       func(s string) any { return []carrier{{Data: []byte(s)}} },
		"bytes by integer":       func(s string) any { return map[int][]byte{1: []byte(s)} },
		"bytes in any":           func(s string) any { return carrier{Any: map[string]any{"a": []any{[]byte(s)}}} },
		"unexported bytes":       func(s string) any { return secretive{[]byte(s)} },
		"errors":                 func(s string) any { return []error{nil, errors.New(s)} },
		"map of errors":          func(s string) any { return map[string]error{"k": errors.New(s)} },
		"error in a struct":      func(s string) any { return carrier{Err: fmt.Errorf("x: %w", errors.New(s))} },
		"error in any":           func(s string) any { return map[string]any{"k": []any{carrier{Any: errors.New(s)}}} },
		"field of an error":      func(s string) any { return []any{&coded{"c", s}} },
		"unexported":             func(s string) any { return private{s} },
		"unexported, by pointer": func(s string) any { return &private{s} },
		"unexported, in a slice": func(s string) any { return []private{{s}} },
		"unexported, in any":     func(s string) any { return carrier{Any: private{s}} },
		"unexported, embedded":   func(s string) any { return embedding{private{s}, 1} },
		"unexported map":         func(s string) any { return struct{ m map[string]int }{map[string]int{s: 1}} },
		"without a JSON name":    func(s string) any { return untagged{s, 1} },
		"with JSON of its own":   func(s string) any { return map[string]any{"k": shaped{s}} },
		"stringer below":         func(s string) any { return struct{ U *url.URL }{&url.URL{Scheme: "x", Host: "h", Path: s}} },
		"anonymous struct":       func(s string) any { return struct{ In struct{ to string } }{struct{ to string }{s}} },
		"array of structs":       func(s string) any { return [1]private{{s}} },
		"raw JSON in a struct":   func(s string) any { return struct{ R json.RawMessage }{json.RawMessage(`{"a":"` + s + `"}`)} },
		"JSON text in the bytes": func(s string) any { return carrier{Data: []byte(`{"a":"` + s + `"}`)} },
	} {
		t.Run(name, func(t *testing.T) {
			r := redact.Must(redact.New(redact.Options{}))
			for _, secret := range []string{mailAddress, account, "see " + mailAddress + ", " + account} {
				out, _, err := r.Value(make(secret))
				require.NoError(t, err)
				all := shown(t, out)
				for _, s := range []string{mailAddress, account} {
					if !strings.Contains(secret, s) {
						continue
					}
					for _, form := range forms(s) {
						require.NotContains(t, all, form)
					}
				}
				var log bytes.Buffer
				for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
					slog.New(redact.NewHandler(h, r)).Info("m", "v", make(secret), slog.Group("g", "v", make(secret)))
				}
				for _, s := range []string{mailAddress, account} {
					for _, form := range forms(s) {
						require.NotContains(t, log.String(), form)
					}
				}
			}
			if name == "unexported map" {
				return // is never shown
			}
			clean := make("ACME")
			out, counts, err := r.Value(clean)
			require.NoError(t, err)
			require.Nil(t, counts)
			require.Equal(t, clean, out)
		})
	}
	t.Run("bytes that are no text", func(t *testing.T) {
		r := redact.Must(redact.New(redact.Options{}))
		for _, v := range []any{binary, map[string][]byte{"k": binary}, carrier{Data: binary}, []any{carrier{Any: binary}}, secretive{binary}, []byte("a\x00l\x00")} {
			out, _, err := r.Value(v)
			require.NoError(t, err)
			require.NotEqual(t, v, out)
			require.NotContains(t, shown(t, out), "example")
		}
		out, _, err := r.Value(map[string]any{"image": binary})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"image": []byte("[value withheld]")}, out)
		m, err := r.Map(map[string]any{"image": binary, "a": 1})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"image": []byte("[value withheld]"), "a": 1}, m, "counts say nothing of it")
	})
}

// What is found in a slice or map of a type of its own leaves it that type, where the
// label fits.
func TestValueKeepsTypesOfItsOwn(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	for _, c := range []struct{ in, out any }{
		{map[string][]byte{"k": []byte(mailAddress), "l": nil}, map[string][]byte{"k": []byte("[email redacted]"), "l": nil}},
		{[][]byte{[]byte(mailAddress)}, [][]byte{[]byte("[email redacted]")}},
		{map[string][]string{"k": {mailAddress}}, map[string][]string{"k": {"[email redacted]"}}},
		{[]private{{mailAddress}, {"b"}}, []any{map[string]any{}, private{"b"}}},
		{map[string]private{"k": {mailAddress}}, map[string]any{"k": map[string]any{}}},
		{carrier{Data: []byte(mailAddress)}, map[string]any{"Data": base64.StdEncoding.EncodeToString([]byte("[email redacted]")), "Err": nil, "Any": nil, "Next": nil}},
	} {
		out, _, err := r.Value(c.in)
		require.NoError(t, err)
		require.Equal(t, c.out, out)
	}
	out, _, err := r.Value([]error{errors.New(mailAddress)})
	require.NoError(t, err)
	require.EqualError(t, out.([]error)[0], "[email redacted]")
}

// Types that log and store a text of their own stay what they are.
func TestValueLeavesWhatShowsNothing(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	for _, v := range []any{
		time.Now(), netip.MustParseAddr("192.0.2.1"), &url.URL{Host: "example.com"}, time.Second,
		[3]int{1},
		[]int(nil),
		map[string][]byte{},
		map[int]string{1: "a"},
		struct{ At time.Time }{time.Now()},
		[]time.Time{time.Now()},
		errors.New("no"),
		struct{ f func() }{},
		[32]byte{1, 0, 255},
	} {
		out, counts, err := r.Value(v)
		require.NoError(t, err)
		require.Nil(t, counts)
		require.Equal(t, v, out)
	}
}
