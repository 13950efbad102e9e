// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

func redactWith(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	cmd := newRedactCommand()
	var out bytes.Buffer
	cmd.SetIn(iotest.OneByteReader(strings.NewReader(in)))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

func TestRedactCommand(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(secret+"\n"), 0o600))
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("EMAIL\x00alice@example.com"))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(m.Sum(nil))[:12])
	const in = "De : alice@example.com, FR76 3000 6000 0112 3456 7890 189, EMP-123456\n"
	for name, c := range map[string]struct {
		args []string
		in   string
		out  string
	}{
		"label":    {in: in, out: "De : [email redacted], [IBAN redacted], EMP-123456\n"},
		"french":   {args: []string{"--lang", "fr"}, in: in, out: "De : [e-mail masqué], [IBAN masqué], EMP-123456\n"},
		"type":     {args: []string{"--types", "iban"}, in: in, out: "De : alice@example.com, [IBAN redacted], EMP-123456\n"},
		"mask":     {args: []string{"--strategy", "mask"}, in: in, out: "De : ***@example.com, FR****0189, EMP-123456\n"},
		"pattern":  {args: []string{"--types", "", "--pattern", `ID=EMP-\d{6}`}, in: in, out: "De : alice@example.com, FR76 3000 6000 0112 3456 7890 189, [ID redacted]\n"},
		"chunk":    {args: []string{"--chunk", "1"}, in: in, out: "De : [email redacted], [IBAN redacted], EMP-123456\n"},
		"findings": {args: []string{"--findings"}, in: in, out: `{"type":"EMAIL","start":5,"end":22}` + "\n" + `{"type":"IBAN","start":24,"end":57}` + "\n"},
		"nothing":  {in: "", out: ""},
		"hmac": {
			args: []string{"--strategy", "hmac", "--key-file", key}, in: "alice@example.com ALICE@example.com",
			out: "[EMAIL:" + hash + "] [EMAIL:" + hash + "]",
		},
		"lines": {
			args: []string{"--jsonl"},
			in: `{"id":"a","text":"to <alice@example.com>"}` + "\n\n" + `{"id":2,"chunks":["FR","76 3000 6000 0112 3456 7890 189 ok"]}` + "\n" +
				`{"id":3,"text":""}`,
			out: `{"id":"a","text":"to <[email redacted]>","findings":[{"type":"EMAIL","start":4,"end":21}]}` + "\n" +
				`{"id":2,"text":"[IBAN redacted] ok","findings":[{"type":"IBAN","start":0,"end":33}]}` + "\n" +
				`{"id":3,"text":"","findings":[]}` + "\n",
		},
		"cut off line": {
			args: []string{"--jsonl", "--chunk", "3"},
			in:   `{"id":1,"chunks":["to ali","ce@exam"],"end":"max_tokens"}`,
			out:  `{"id":1,"text":"to [email redacted]","findings":[{"type":"EMAIL","start":3,"end":13}]}` + "\n",
		},
		"blocked line": {
			args: []string{"--jsonl", "--strategy", "block"},
			in:   `{"id":1,"text":"to alice@example.com"}`,
			out:  `{"id":1,"text":"[text blocked]","findings":[]}` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := redactWith(t, c.in, c.args...)
			require.NoError(t, err)
			require.Equal(t, c.out, out)
		})
	}
}

func TestRedactCommandErrors(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		in   string
		is   error
	}{
		"type":      {args: []string{"--types", "card"}, is: redact.ErrOptions},
		"strategy":  {args: []string{"--strategy", "hide"}, is: redact.ErrOptions},
		"no key":    {args: []string{"--strategy", "hmac"}, is: redact.ErrOptions},
		"key file":  {args: []string{"--key-file", "missing"}, is: os.ErrNotExist},
		"pattern":   {args: []string{"--pattern", "a("}},
		"chunk":     {args: []string{"--chunk", "-1"}},
		"both":      {args: []string{"--jsonl", "--findings"}},
		"blocked":   {args: []string{"--strategy", "block"}, in: "alice@example.com", is: redact.ErrBlocked},
		"no JSON":   {args: []string{"--jsonl"}, in: "alice@example.com", is: errLine},
		"no text":   {args: []string{"--jsonl"}, in: `{"id":1}`, is: errLine},
		"two texts": {args: []string{"--jsonl"}, in: `{"text":"alice@example.com","chunks":[]}`, is: errLine},
		"a number":  {args: []string{"--jsonl"}, in: `{"text":4111111111111111}`, is: errLine},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := redactWith(t, c.in, c.args...)
			require.Error(t, err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			require.NotContains(t, out+err.Error(), "alice")
			require.NotContains(t, out+err.Error(), "4111")
		})
	}
}

func TestRedactCommandInputFails(t *testing.T) {
	broken := errors.New("disk on fire")
	var out bytes.Buffer
	f := redactFilter{types: []string{"email"}}
	err := f.run(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("x"))), &out)
	require.ErrorIs(t, err, iotest.ErrTimeout)

	out.Reset()
	err = f.run(io.MultiReader(strings.NewReader("to alice@exam"), iotest.ErrReader(broken)), &out)
	require.ErrorIs(t, err, broken)
	require.Equal(t, "to [email redacted]", out.String(), "a value cut by the failure is a value")
}

// TestRedactCommandOnOneLongLine filters 16 MB without a line feed and looks at
// the memory in use on the way.
func TestRedactCommandOnOneLongLine(t *testing.T) {
	block := []byte(strings.Repeat("pay to FR76 3000 6000 0112 3456 7890 189 or ask alice@example.com ", 1<<10))
	var in, out measured
	in.blocks, in.block = 16<<20/len(block), block
	f := redactFilter{types: []string{"email", "iban"}}
	before := liveHeap() // what other tests left behind is not ours
	require.NoError(t, f.run(&in, &out))
	require.Less(t, out.peak, before+12<<20)
	require.Equal(t, in.read/len(block)*len("pay to [IBAN redacted] or ask [email redacted] ")*1<<10, out.written)
}

// measured is an endless line to read and a sink that watches the heap.
type measured struct {
	block         []byte
	blocks        int
	read, written int
	writes        int
	peak          uint64
}

func (m *measured) Read(p []byte) (int, error) {
	if m.read >= m.blocks*len(m.block) {
		return 0, io.EOF
	}
	n := copy(p, m.block[m.read%len(m.block):])
	m.read += n
	return n, nil
}

func (m *measured) Write(p []byte) (int, error) {
	if m.writes%1000 == 0 {
		m.peak = max(m.peak, liveHeap())
	}
	m.writes++
	m.written += len(p)
	return len(p), nil
}

// liveHeap is the memory in use without the garbage, whose amount depends on when it
// was last collected.
func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
