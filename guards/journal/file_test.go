// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal"
)

func openFile(t testing.TB, path string, max int64) *journal.File {
	t.Helper()
	f, err := journal.OpenFile(path, journal.FileOptions{MaxBytes: max, Now: tick()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func verifyFiles(t testing.TB, paths ...string) journal.Report {
	t.Helper()
	r, err := journal.VerifyFiles(journal.VerifyOptions{}, paths...)
	require.NoError(t, err)
	return r
}

// A crash leaves half a line; the next opening cuts it off, says so and goes on.
func TestTornLastLineIsRecovered(t *testing.T) {
	for off := range 160 {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		f := openFile(t, path, 0)
		write(t, f.Writer, 2, "x")
		require.NoError(t, f.Close())
		tear(t, path, off)
		again := openFile(t, path, 0)
		write(t, again.Writer, 2, "y")
		require.NoError(t, again.Close())
		r := verifyFiles(t, path)
		require.True(t, r.OK(), "%d: %v", off, r.Faults)
		require.Equal(t, min(1, off), r.Recovered, off)
	}
}

// A file of which not even the first line is whole is begun anew; a file that is no
// journal is left alone.
func TestOpeningOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"kind":"open","ts":"20`), 0o600))
	f := openFile(t, path, 0)
	require.NoError(t, f.Close())
	r := verifyFiles(t, path)
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, 1, r.Recovered)

	for _, foreign := range []string{"hello\n", "{\"kind\":\"run\"}\n", "hello"} {
		require.NoError(t, os.WriteFile(path, []byte(foreign), 0o600))
		_, err := journal.OpenFile(path, journal.FileOptions{})
		require.ErrorIs(t, err, journal.ErrForeign)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, foreign, string(data))
	}
	_, err := journal.OpenFile(filepath.Join(path, "no"), journal.FileOptions{})
	require.Error(t, err)
}

func TestRotationKeepsTheChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	f := openFile(t, path, 1500)
	write(t, f.Writer, 40, "x")
	require.NoError(t, f.Close())
	files := journal.Files(path)
	require.Greater(t, len(files), 3)
	for _, name := range files {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(2000))
	}
	r := verifyFiles(t, files...)
	require.True(t, r.OK(), r.Faults)
	require.Equal(t, f.Head(), r.Head)
	require.Equal(t, 40+2*len(files), r.Lines)

	require.Equal(t, journal.FaultRemoved, verifyFiles(t, append(files[:1:1], files[2:]...)...).Faults[0].Kind, "a file is missing")
	require.Equal(t, journal.FaultCut, verifyFiles(t, files[:2]...).Faults[0].Kind, "the last files are missing")
	require.False(t, verifyFiles(t, files[1], files[0]).OK())
	_, err := journal.VerifyFiles(journal.VerifyOptions{}, path+"x")
	require.Error(t, err)

	// A crash after a file was put aside and before the next was begun.
	require.NoError(t, os.Remove(path))
	next := openFile(t, path, 1500)
	require.NoError(t, next.Close())
	require.True(t, verifyFiles(t, journal.Files(path)...).OK())
}

// An operator takes the first files away, and one in the middle: no number is used again,
// so that what is left stays in the order it was written.
func TestArchivedFilesKeepTheirNumbers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "j.jsonl")
	for _, other := range []string{"j.7.jsonl", "j.0000009.jsonl", "j.-00001.jsonl", "j.000000.jsonl", "j.999999999999.jsonl", "k.000050.jsonl", "j.000050.txt", "000050"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, other), nil, 0o600))
	}
	f := openFile(t, path, 1500)
	write(t, f.Writer, 60, "x")
	before := journal.Files(path)
	require.Greater(t, len(before), 4)
	require.Equal(t, filepath.Join(dir, "j.000001.jsonl"), before[0])
	gone := []string{before[0], before[1], before[3]}
	for _, name := range gone {
		require.NoError(t, os.Remove(name))
	}
	write(t, f.Writer, 60, "y")
	require.NoError(t, f.Close())

	after := journal.Files(path)
	for _, name := range gone {
		require.NotContains(t, after, name)
	}
	require.Subset(t, after, []string{before[2], before[4]})
	require.True(t, slices.IsSorted(after[:len(after)-1]))
	require.Greater(t, len(after), len(before))
	r := verifyFiles(t, after[1:]...) // after the gap in the middle it is whole
	require.Len(t, r.Faults, 1, "only the beginning is missing: %v", r.Faults)
	require.Equal(t, f.Head(), r.Head)

	// The next one after a crash goes on after the last of them.
	require.NoError(t, os.Remove(path))
	next := openFile(t, path, 1500)
	require.NoError(t, next.Close())
	require.Len(t, verifyFiles(t, journal.Files(path)[1:]...).Faults, 1)
}

func TestASecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	openFile(t, path, 0)
	_, err := journal.OpenFile(path, journal.FileOptions{})
	require.ErrorIs(t, err, journal.ErrInUse)
}

// Twenty writers at once, with rotation: every line is there once.
func TestParallelWritersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	f := openFile(t, path, 20_000)
	var wg sync.WaitGroup
	for w := range 20 {
		wg.Go(func() {
			for i := range 100 {
				if _, err := fmt.Fprintf(f, `{"kind":"tool","id":"%d-%d"}`+"\n", w, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, f.Close())
	r := verifyFiles(t, journal.Files(path)...)
	require.True(t, r.OK(), r.Faults)
	var all bytes.Buffer
	for _, name := range journal.Files(path) {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		all.Write(data)
	}
	for w := range 20 {
		for i := range 100 {
			require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf(`"id":"%d-%d"`, w, i)))
		}
	}
}

var errFull = errors.New("disk full")

// full takes limit bytes, part of a write as well, and no more until there is room.
type full struct {
	bytes.Buffer
	limit int
}

func (f *full) Write(p []byte) (int, error) {
	if room := f.limit - f.Len(); room < len(p) {
		n, _ := f.Buffer.Write(p[:max(0, room)])
		return n, errFull
	}
	return f.Buffer.Write(p)
}

// Half a line on a stream can't be taken back: what follows is refused, and Verify says
// that the end is torn.
func TestAFullStream(t *testing.T) {
	w := &full{limit: 500}
	j := journal.NewWriterWith(w, journal.WriterOptions{Now: tick()})
	lost := uint64(0)
	for range 10 {
		if _, err := j.Write([]byte(`{"kind":"tool"}`)); err != nil {
			lost++
		}
	}
	require.Positive(t, lost)
	require.Equal(t, lost, j.Lost())
	w.limit = 1 << 20
	_, err := j.Write([]byte(`{"kind":"tool"}`))
	require.ErrorIs(t, err, journal.ErrTorn)
	require.ErrorIs(t, j.Close(), journal.ErrTorn)
	r, err := journal.Verify(&w.Buffer, journal.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, journal.FaultTorn, r.Faults[0].Kind)
}

// Whole lines that did not fit are counted by the next that does.
func TestLostLinesAreCounted(t *testing.T) {
	w := &full{limit: 0}
	j := journal.NewWriterWith(w, journal.WriterOptions{Now: tick()})
	for range 3 {
		_, err := j.Write([]byte(`{"kind":"tool"}`))
		require.ErrorIs(t, err, errFull)
	}
	w.limit = 1 << 20
	_, err := j.Write([]byte(`{"kind":"tool"}`))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	r, err := journal.Verify(&w.Buffer, journal.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, r.OK(), r.Faults)
	require.EqualValues(t, 3, r.Lost)
}

// Whatever a file holds, verifying ends, and only what a Writer wrote is in order.
func FuzzVerify(f *testing.F) {
	data, _ := whole(f, 3)
	f.Add(data)
	f.Add(data[:len(data)-20])
	f.Add(append(bytes.Clone(data), data...))
	f.Add([]byte("\n\n{}\n"))
	f.Add([]byte(`{"kind":"close","seq":18446744073709551615,"prev":"` + strings.Repeat("0", 64) + `"}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := journal.Verify(bytes.NewReader(in), journal.VerifyOptions{})
		require.NoError(t, err)
		require.LessOrEqual(t, r.Lines, bytes.Count(in, []byte{'\n'})+1)
		if !r.OK() {
			return
		}
		// A whole journal is no longer one without its last byte, or with one more.
		require.False(t, verify(t, in[:len(in)-1], r.Head).OK())
		require.False(t, verify(t, append(bytes.Clone(in), '\n'), r.Head).OK())
		for e, err := range journal.Entries(bytes.NewReader(in)) {
			_ = e
			if err != nil {
				var le *journal.LineError
				require.ErrorAs(t, err, &le)
			}
		}
	})
}
