// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal"
)

func tick() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(17 * time.Millisecond)
		return now
	}
}

func write(t testing.TB, w *journal.Writer, lines int, what string) {
	t.Helper()
	for i := range lines {
		_, err := fmt.Fprintf(w, `{"kind":"tool","n":%d,"what":%q}`+"\n", i, what)
		require.NoError(t, err)
	}
}

// whole is a journal of lines lines between open and close.
func whole(t testing.TB, lines int) ([]byte, journal.Head) {
	t.Helper()
	var buf bytes.Buffer
	w := journal.NewWriterWith(&buf, journal.WriterOptions{Now: tick()})
	write(t, w, lines, "café <b> \"x\"")
	require.NoError(t, w.Close())
	return buf.Bytes(), w.Head()
}

func verify(t testing.TB, data []byte, head journal.Head) journal.Report {
	t.Helper()
	r, err := journal.Verify(bytes.NewReader(data), journal.VerifyOptions{Head: head})
	require.NoError(t, err)
	return r
}

func TestAWholeJournalVerifies(t *testing.T) {
	data, head := whole(t, 5)
	r := verify(t, data, head)
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 7, r.Lines)
	require.Equal(t, head, r.Head)
	kinds := []string{}
	for line := range strings.Lines(string(data)) {
		var m struct {
			Kind string `json:"kind"`
			Prev string `json:"prev"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		require.Len(t, m.Prev, 64)
		kinds = append(kinds, m.Kind)
	}
	require.Equal(t, []string{"open", "tool", "tool", "tool", "tool", "tool", "close"}, kinds)
}

func TestWriteTakesOneObject(t *testing.T) {
	w := journal.NewWriter(&bytes.Buffer{})
	for _, bad := range []string{"", "{}", "[1]", "{\"a\":1}\n{\"b\":2}\n", `{"a":`, "\"x\""} {
		_, err := w.Write([]byte(bad))
		require.ErrorIs(t, err, journal.ErrNoLine, bad)
	}
	require.NoError(t, w.Close())
	_, err := w.Write([]byte(`{"a":1}`))
	require.ErrorIs(t, err, journal.ErrClosed)
	require.NoError(t, w.Close())
}

// Each kind of damage is named, at its line.
func TestVerifySaysWhatAndWhere(t *testing.T) {
	data, head := whole(t, 8) // lines 1 to 10
	lines := slices.Collect(strings.Lines(string(data)))
	without := func(from, to int) []string {
		return slices.Concat(slices.Clone(lines[:from-1]), lines[to:])
	}
	for name, tc := range map[string]struct {
		lines []string
		want  journal.Fault
	}{
		"edited":           {slices.Concat(lines[:4], []string{strings.Replace(lines[4], `"n":3`, `"n":9`, 1)}, lines[5:]), journal.Fault{Kind: journal.FaultEdited, Line: 5}},
		"edited link":      {slices.Concat(lines[:4], []string{strings.Replace(lines[4], `"seq":5`, `"seq":6`, 1)}, lines[5:]), journal.Fault{Kind: journal.FaultEdited, Line: 5}},
		"edited beyond":    {slices.Concat(lines[:4], []string{"hello\n"}, lines[5:]), journal.Fault{Kind: journal.FaultEdited, Line: 5}},
		"edited last":      {slices.Concat(lines[:9], []string{strings.Replace(lines[9], `"lost":0`, `"lost":1`, 1)}), journal.Fault{Kind: journal.FaultEdited, Line: 10}},
		"edited first":     {slices.Concat([]string{strings.Replace(lines[0], "2026", "2025", 1)}, lines[1:]), journal.Fault{Kind: journal.FaultEdited, Line: 1}},
		"removed one":      {without(4, 4), journal.Fault{Kind: journal.FaultRemoved, Line: 4, From: 4, To: 4}},
		"removed three":    {without(4, 6), journal.Fault{Kind: journal.FaultRemoved, Line: 4, From: 4, To: 6}},
		"removed first":    {without(1, 1), journal.Fault{Kind: journal.FaultRemoved, Line: 1, From: 1, To: 1}},
		"inserted":         {slices.Concat(lines[:4], []string{`{"kind":"tool"}` + "\n"}, lines[4:]), journal.Fault{Kind: journal.FaultInserted, Line: 5}},
		"inserted empty":   {slices.Concat(lines[:4], []string{"\n"}, lines[4:]), journal.Fault{Kind: journal.FaultInserted, Line: 5}},
		"repeated":         {slices.Concat(lines[:4], lines[2:3], lines[4:]), journal.Fault{Kind: journal.FaultInserted, Line: 5}},
		"swapped":          {slices.Concat(lines[:4], []string{lines[5], lines[4]}, lines[6:]), journal.Fault{Kind: journal.FaultMoved, Line: 5}},
		"cut":              {lines[:7], journal.Fault{Kind: journal.FaultCut, Line: 7}},
		"cut before close": {lines[:9], journal.Fault{Kind: journal.FaultCut, Line: 9}},
		"torn":             {slices.Concat(lines[:9], []string{lines[9][:30]}), journal.Fault{Kind: journal.FaultTorn, Line: 10}},
		"emptied":          {nil, journal.Fault{Kind: journal.FaultCut}},
		"more after it":    {slices.Concat(lines, []string{"\n"}), journal.Fault{Kind: journal.FaultEdited, Line: 11}},
	} {
		t.Run(name, func(t *testing.T) {
			r := verify(t, []byte(strings.Join(tc.lines, "")), journal.Head{})
			require.NotEmpty(t, r.Faults)
			require.Equal(t, tc.want, r.Faults[0], r.Faults)
		})
	}
	// Moved far: gone from one place, found at another.
	far := slices.Concat(lines[:2], lines[3:7], lines[2:3], lines[7:])
	r := verify(t, []byte(strings.Join(far, "")), head)
	require.Equal(t, []journal.Fault{{Kind: journal.FaultRemoved, Line: 3, From: 3, To: 3}, {Kind: journal.FaultMoved, Line: 7}}, r.Faults)
}

// A record of the chain that can't be read hides what it says: that lines were lost, that
// another file follows.
func TestVerifyReadsItsOwnRecords(t *testing.T) {
	for _, kind := range []string{"open", "lost", "close"} {
		var buf bytes.Buffer
		w := journal.NewWriterWith(&buf, journal.WriterOptions{Now: tick()})
		_, err := fmt.Fprintf(w, `{"kind":%q,"ts":"never","lines":1,"recovered":true,"continues":true}`, kind)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, journal.Fault{Kind: journal.FaultEdited, Line: 2}, verify(t, buf.Bytes(), w.Head()).Faults[0], kind)
	}
}

// What the chain alone can't show: the same journal written anew, or cut after an
// earlier closing record.
func TestTheHeadFindsAForgedJournal(t *testing.T) {
	data, head := whole(t, 3)
	other, _ := whole(t, 2)
	require.True(t, verify(t, other, journal.Head{}).OK())
	require.False(t, verify(t, other, head).OK())

	path := filepath.Join(t.TempDir(), "j.jsonl")
	var heads []journal.Head
	var first []byte
	for range 2 {
		f, err := journal.OpenFile(path, journal.FileOptions{Now: tick()})
		require.NoError(t, err)
		write(t, f.Writer, 3, "x")
		require.NoError(t, f.Close())
		heads = append(heads, f.Head())
		if first == nil {
			first, err = os.ReadFile(path)
			require.NoError(t, err)
		}
	}
	both, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, verify(t, both, heads[1]).OK())
	require.True(t, verify(t, both, heads[0]).OK(), "an earlier head is still in it")
	require.True(t, verify(t, first, journal.Head{}).OK())
	r := verify(t, first, heads[1])
	require.Equal(t, journal.FaultCut, r.Faults[0].Kind)
	require.True(t, verify(t, data, head).OK())
}

// A random corruption: how it was made, and the lines where it may be told.
func corrupt(rng *rand.Rand, lines [][]byte) (out [][]byte, what string, from, to int) {
	out = slices.Clone(lines)
	n := len(lines)
	i := rng.IntN(n)
	switch rng.IntN(8) {
	case 0: // a byte becomes another
		l := bytes.Clone(out[i])
		at := rng.IntN(len(l) - 1)
		for old := l[at]; l[at] == old || l[at] == '\n'; {
			l[at] = byte(rng.IntN(256))
		}
		out[i] = l
		return out, "byte", i + 1, i + 1
	case 1: // bytes go
		l := out[i]
		at := rng.IntN(len(l) - 1)
		end := at + 1 + rng.IntN(len(l)-1-at)
		out[i] = slices.Concat(l[:at], l[end:])
		return out, "shorter", i + 1, i + 1
	case 2: // bytes come
		l := out[i]
		at := rng.IntN(len(l))
		out[i] = slices.Concat(l[:at], []byte(" 0}\"x"[rng.IntN(5):]), l[at:])
		return out, "longer", i + 1, i + 1
	case 3:
		k := 1 + rng.IntN(min(5, n-i))
		return slices.Delete(out, i, i+k), "removed", max(1, i), i + 1
	case 4: // a line of the same journal again
		return slices.Insert(out, i, lines[rng.IntN(n)]), "repeated", i, i + 2
	case 5: // a forged line with a plausible link
		forged := bytes.Replace(lines[i], []byte(`{"kind"`), []byte(`{"x":1,"kind"`), 1)
		return slices.Insert(out, i, forged), "forged", i, i + 2
	case 6: // two lines change places
		j := rng.IntN(n)
		if i == j {
			j = (i + 1) % n
		}
		out[i], out[j] = out[j], out[i]
		return out, "swapped", min(i, j), min(i, j) + 2
	default: // the end is gone
		all := bytes.Join(lines, nil)
		at := rng.IntN(len(all))
		cut := all[:at]
		line := bytes.Count(cut, []byte{'\n'}) + 1
		return [][]byte{cut}, "cut", line - 1, line
	}
}

// Every one of 10 000 random corruptions is found, where it is.
func TestRandomCorruptions(t *testing.T) {
	base := t.TempDir()
	type subject struct {
		lines [][]byte
		head  journal.Head
	}
	var subjects []subject
	for _, n := range []int{0, 1, 7, 30} {
		data, head := whole(t, n)
		subjects = append(subjects, subject{bytes.SplitAfter(data, []byte{'\n'}), head})
	}
	// One of three openings, with a torn end on the way, in several files.
	path := filepath.Join(base, "run.jsonl")
	now := tick()
	for i := range 3 {
		f, err := journal.OpenFile(path, journal.FileOptions{Now: now, MaxBytes: 2000})
		require.NoError(t, err)
		write(t, f.Writer, 12, "round")
		require.NoError(t, f.Close())
		subjects = append(subjects[:4], subject{nil, f.Head()})
		if i == 1 {
			tear(t, path, 40)
		}
	}
	require.Greater(t, len(journal.Files(path)), 2)
	var all []byte
	for _, name := range journal.Files(path) {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		all = append(all, data...)
	}
	subjects[4].lines = bytes.SplitAfter(all, []byte{'\n'})
	for i := range subjects {
		subjects[i].lines = slices.DeleteFunc(subjects[i].lines, func(l []byte) bool { return len(l) == 0 })
		require.True(t, verify(t, bytes.Join(subjects[i].lines, nil), subjects[i].head).OK())
	}

	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	kinds := map[string]int{}
	for i := range 10_000 {
		s := subjects[i%len(subjects)]
		bad, what, from, to := corrupt(rng, s.lines)
		data := bytes.Join(bad, nil)
		if bytes.Equal(data, bytes.Join(s.lines, nil)) {
			continue
		}
		kinds[what]++
		r := verify(t, data, s.head)
		require.False(t, r.OK(), "%s at line %d was not found (seed %d, %d)", what, from, seed, i)
		near := slices.ContainsFunc(r.Faults, func(f journal.Fault) bool { return f.Line >= from && f.Line <= to || len(data) == 0 })
		require.True(t, near, "%s at lines %d to %d, told: %v (seed %d, %d)", what, from, to, r.Faults, seed, i)
	}
	t.Log(kinds)
}

func tear(t *testing.T, path string, bytesOff int) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()-int64(bytesOff)))
}

// A line that could not be read again is not written, says so, and is counted as lost.
func TestWriteRefusesALineThatIsTooLong(t *testing.T) {
	var out bytes.Buffer
	w := journal.NewWriter(&out)
	long := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}`) }
	const most = journal.MaxLine - 1024
	_, err := w.Write(long(most + 1))
	require.ErrorIs(t, err, journal.ErrLongLine)
	_, err = w.Write(long(most))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	report, err := journal.Verify(&out, journal.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, report.OK(), report.Faults)
	require.EqualValues(t, 1, report.Lost)
}
