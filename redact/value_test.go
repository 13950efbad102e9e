// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/mail"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

const (
	mailAddress = "alice@example.com"
	account     = "FR76 3000 6000 0112 3456 7890 189"
)

func TestValueCopiesOnlyWhatChanges(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	clean := map[string]any{"n": 1.5, "ok": true, "nothing": nil}
	in := map[string]any{
		"to":    mailAddress,
		"list":  []any{"x", account, []string{"y", mailAddress}},
		"clean": clean,
		"names": map[string]string{"a": mailAddress},
	}
	before, err := json.Marshal(in)
	require.NoError(t, err)

	out, counts, err := r.Value(in)
	require.NoError(t, err)
	require.Equal(t, redact.Counts{redact.Email: 3, redact.IBAN: 1}, counts)
	require.Equal(t, map[string]any{
		"to":    "[email redacted]",
		"list":  []any{"x", "[IBAN redacted]", []string{"y", "[email redacted]"}},
		"clean": clean,
		"names": map[string]string{"a": "[email redacted]"},
	}, out)

	after, err := json.Marshal(in)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	out.(map[string]any)["clean"].(map[string]any)["shared"] = true
	require.Contains(t, clean, "shared", "an unchanged part is the input's own")

	out, counts, err = r.Value(clean)
	require.NoError(t, err)
	require.Nil(t, counts)
	clean["itself"] = "yes"
	require.Equal(t, any(clean), out)
}

func TestValueKinds(t *testing.T) {
	type invoice struct {
		Payer string `json:"payer"`
		Cents int    `json:"cents"`
	}
	number := redact.Options{Patterns: []redact.Pattern{{Name: "CARD", Expr: `\b4\d{15}\b`}}}
	for name, c := range map[string]struct {
		options redact.Options
		in, out any
	}{
		"key":               {in: map[string]any{account: "main"}, out: map[string]any{"[IBAN redacted]": "main"}},
		"keys that collide": {in: map[string]int{}, out: map[string]int{}},
		"two keys, one label": {
			in:  map[string]any{"a@x.com": 1, "b@x.com": 2},
			out: map[string]any{"[email redacted]": 1, "[email redacted] 2": 2},
		},
		"string that is JSON": {
			in:  `{ "b":"al\u0069ce@example.com", "a":[1.0,"` + account + `"] }`,
			out: `{ "b":"[email redacted]", "a":[1.0,"[IBAN redacted]"] }`,
		},
		"JSON in JSON": {
			in:  `{"body":"{\"to\":\"al\\u0069ce@example.com\"}"}`,
			out: `{"body":"{\"to\":\"[email redacted]\"}"}`,
		},
		"raw JSON":       {in: json.RawMessage(`{"a":"` + mailAddress + `"}`), out: json.RawMessage(`{"a":"[email redacted]"}`)},
		"bytes":          {in: []byte("to " + mailAddress), out: []byte("to [email redacted]")},
		"struct":         {in: invoice{mailAddress, 7}, out: map[string]any{"payer": "[email redacted]", "cents": json.Number("7")}},
		"clean struct":   {in: invoice{"ACME", 7}, out: invoice{"ACME", 7}},
		"pointer":        {in: &invoice{mailAddress, 7}, out: map[string]any{"payer": "[email redacted]", "cents": json.Number("7")}},
		"slice of maps":  {in: []map[string]any{{"a": mailAddress}}, out: []map[string]any{{"a": "[email redacted]"}}},
		"stringer":       {in: mail.Address{Address: mailAddress}, out: map[string]any{"Name": "", "Address": "[email redacted]"}},
		"channel":        {in: make(chan int), out: "[value withheld]"},
		"nil":            {in: nil, out: nil},
		"number":         {options: number, in: 4111111111111111.0, out: "[CARD redacted]"},
		"integer":        {options: number, in: int64(4111111111111111), out: "[CARD redacted]"},
		"json.Number":    {options: number, in: json.Number("4111111111111111"), out: "[CARD redacted]"},
		"number in JSON": {options: number, in: json.RawMessage(`{"pan": 4111111111111111}`), out: json.RawMessage(`{"pan": "[CARD redacted]"}`)},
		"other number":   {options: number, in: 4.5, out: 4.5},
	} {
		t.Run(name, func(t *testing.T) {
			out, counts, err := redact.Must(redact.New(c.options)).Value(c.in)
			require.NoError(t, err)
			require.Equal(t, c.out, out)
			_ = counts
		})
	}
}

func TestValueBounds(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))

	deep := any(mailAddress)
	for range 10_000 {
		deep = map[string]any{"x": []any{deep}}
	}
	out, counts, err := r.Value(deep)
	require.NoError(t, err)
	require.Equal(t, 1, counts[redact.Email])
	for range 10_000 {
		out = out.(map[string]any)["x"].([]any)[0]
	}
	require.Equal(t, "[email redacted]", out)

	bottomless := any(mailAddress)
	for range 2_000_000 {
		bottomless = []any{bottomless}
	}
	out, counts, err = r.Value(bottomless)
	require.NoError(t, err)
	require.Empty(t, counts)
	for next, deeper := out, true; deeper; {
		out = next
		if list, ok := out.([]any); ok {
			next = list[0]
		} else {
			deeper = false
		}
	}
	require.Equal(t, "[value withheld]", out)

	text := strings.Repeat(`{"x":[`, 10_000) + `"` + mailAddress + `"` + strings.Repeat(`]}`, 10_000)
	out, _, err = r.Value(text)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(text, mailAddress, "[email redacted]"), out)

	cycle := map[string]any{"to": mailAddress}
	cycle["self"], cycle["list"] = cycle, []any{cycle}
	out, _, err = r.Value(cycle)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"to": "[email redacted]", "self": "[value withheld]", "list": []any{"[value withheld]"}}, out)
	require.Equal(t, mailAddress, cycle["to"])

	shared := any(mailAddress)
	for range 200 { // 2^200 paths
		shared = []any{shared, shared}
	}
	out, counts, err = r.Value(shared)
	require.NoError(t, err)
	require.Equal(t, 2, counts[redact.Email])
	for range 200 {
		out = out.([]any)[1]
	}
	require.Equal(t, "[email redacted]", out)
}

func TestError(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	require.NoError(t, r.Error(nil))
	require.Same(t, fs.ErrNotExist, r.Error(fs.ErrNotExist))

	was := fmt.Errorf("no account of %s: %w", mailAddress, &fs.PathError{Op: "open", Path: account, Err: fs.ErrNotExist})
	err := r.Error(was)
	require.EqualError(t, err, "no account of [email redacted]: open [IBAN redacted]: file does not exist")
	require.ErrorIs(t, err, fs.ErrNotExist)
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		require.NotContains(t, fmt.Sprintf(verb, err), mailAddress, verb)
	}
	shown, failed := json.Marshal(map[string]any{"err": err})
	require.NoError(t, failed)
	require.NotContains(t, string(shown), mailAddress)

	out, _, failed := r.Value(map[string]any{"err": was})
	require.NoError(t, failed)
	require.ErrorIs(t, out.(map[string]any)["err"].(error), fs.ErrNotExist)
	require.NotContains(t, fmt.Sprint(out), mailAddress)
}

func TestBlock(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{Strategies: map[redact.Type]redact.Strategy{redact.IBAN: redact.Block}}))
	require.Equal(t, "to [email redacted]", r.String("to "+mailAddress))
	require.Equal(t, "[text blocked]", r.String("to "+account))

	_, err := r.Redact(mailAddress + " " + account)
	require.ErrorIs(t, err, redact.ErrBlocked)
	var blocked *redact.BlockedError
	require.ErrorAs(t, err, &blocked)
	require.Equal(t, redact.Counts{redact.Email: 1, redact.IBAN: 1}, blocked.Counts)
	require.NotContains(t, err.Error(), account)

	out, _, err := r.Value(map[string]any{"a": []any{account}})
	require.ErrorIs(t, err, redact.ErrBlocked)
	require.Nil(t, out)

	s := r.Stream()
	require.Equal(t, "pay ", s.Write("pay FR76"))
	require.Empty(t, s.Write(" 3000 6000 0112 3456 7890 189 now"))
	require.ErrorIs(t, s.Err(), redact.ErrBlocked)
	require.Empty(t, s.Write("more"))
	require.Empty(t, s.Close(redact.Complete))
}

func TestVault(t *testing.T) {
	v, err := redact.NewVaultSize(2)
	require.NoError(t, err)
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Token, Vault: v}))

	args := map[string]any{"to": mailAddress, "again": []any{mailAddress, account}, "n": 3.0}
	hidden, _, err := r.Value(args)
	require.NoError(t, err)
	m := hidden.(map[string]any)
	require.Equal(t, m["to"], m["again"].([]any)[0], "equal values, equal tokens")
	require.NotContains(t, fmt.Sprint(hidden), "example")

	shown, err := v.RevealValue(hidden)
	require.NoError(t, err)
	require.Equal(t, args, shown)

	require.Equal(t, "[email redacted]", r.String("third@example.com"), "a full vault labels")
	require.Equal(t, 2, v.Len())

	token := m["to"].(string)
	text, err := v.Reveal("send to " + token + ".")
	require.NoError(t, err)
	require.Equal(t, "send to "+mailAddress+".", text)
	require.Equal(t, token, r.String(token), "a token is nothing to redact")

	inJSON, err := v.RevealValue(`{"to":"` + token + `"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"to":"`+mailAddress+`"}`, inJSON.(string))

	_, err = redact.NewVault().Reveal(token)
	require.ErrorIs(t, err, redact.ErrUnknownToken)
	_, err = v.Reveal(strings.Replace(token, "-1]", "-9]", 1))
	require.ErrorIs(t, err, redact.ErrUnknownToken)
	_, err = redact.NewVault().RevealValue(maps.Clone(m))
	require.ErrorIs(t, err, redact.ErrUnknownToken)
	_, err = v.RevealValue(make(chan int))
	require.ErrorIs(t, err, redact.ErrOpaque)

	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(verb, v), mailAddress, verb)
	}
	asJSON, err := json.Marshal(v)
	require.NoError(t, err)
	require.NotContains(t, string(asJSON), mailAddress)
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]redact.Options{
		"language":            {Language: "de"},
		"type":                {Types: []redact.Type{"CARD"}},
		"nothing":             {Types: []redact.Type{}},
		"strategy":            {Strategy: "hide"},
		"strategy of type":    {Strategies: map[redact.Type]redact.Strategy{"CARD": redact.Label}},
		"no key":              {Strategy: redact.HMAC},
		"short key":           {Strategy: redact.HMAC, Key: []byte("short")},
		"no vault":            {Strategy: redact.Token},
		"pattern":             {Patterns: []redact.Pattern{{Name: "A", Expr: `(`}}},
		"pattern, both":       {Patterns: []redact.Pattern{{Name: "A", Expr: `(?<=a`}}},
		"pattern without one": {Patterns: []redact.Pattern{{Name: "A"}}},
		"pattern name":        {Patterns: []redact.Pattern{{Name: "A B", Expr: `a`}}},
		"pattern name taken":  {Patterns: []redact.Pattern{{Name: "IBAN", Expr: `a`}}},
		"pattern twice":       {Patterns: []redact.Pattern{{Name: "A", Expr: `a`}, {Name: "A", Expr: `b`}}},
		"line":                {MaxLine: 10},
		"timeout":             {PatternTimeout: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := redact.New(o)
			require.ErrorIs(t, err, redact.ErrOptions)
		})
	}
	_, err := redact.NewVaultSize(0)
	require.ErrorIs(t, err, redact.ErrOptions)
	require.Panics(t, func() { redact.Must(nil, errors.New("x")) })
}
