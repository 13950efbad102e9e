// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/internal/filelock"
)

// FileOptions are the options of [OpenFile].
type FileOptions struct {
	// MaxBytes is how large the file may grow before it is put aside under a number and a
	// new one begun. Zero means never. A line is never cut, whatever the size.
	MaxBytes int64
	// Now is the clock. Nil is time.Now.
	Now func() time.Time
}

var (
	// ErrInUse is the error of a file that another process writes to.
	ErrInUse = errors.New("journal: another process writes to this file")
	// ErrForeign is the error of a file that is not a journal of this form.
	ErrForeign = errors.New("journal: the file is not a chained journal; name another")
)

// A File is a journal in a file. It is safe for concurrent use by one process; a second
// process is refused, where the system has file locks.
//
// A line that could not be written whole, on a full disk say, is taken back, so that the
// file stays a journal and goes on when there is room again.
type File struct {
	*Writer
	to *fileSink
}

// OpenFile opens the journal at path, which it creates where absent (mode 0600), and
// goes on after its last line. A torn last line, as a crash leaves it, is cut off and
// noted in the open record. A path that is no regular file, a pipe say, begins a new
// journal.
func OpenFile(path string, o FileOptions) (*File, error) {
	s := &fileSink{path: path, max: o.MaxBytes}
	last, err := s.open()
	if err == nil && s.regular && s.size == 0 && last.head.Seq == 0 {
		last.head, last.closed, err = lastAside(path)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	j := NewWriterWith(nil, WriterOptions{After: last.head, Now: o.Now})
	j.to, j.open.Recovered, j.open.Torn = s, last.head.Seq > 0 && !last.closed || last.torn > 0, last.torn
	if err := j.begin(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &File{j, s}, nil
}

// Close writes the closing record, waits for the disk and closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	done := f.closed
	f.mu.Unlock()
	if done {
		return nil
	}
	err := f.Writer.Close()
	return errors.Join(err, f.to.close())
}

type fileSink struct {
	path    string
	max     int64
	f       *os.File
	size    int64
	regular bool
}

// tail is what stands at the end of a file.
type tail struct {
	head   Head
	closed bool
	torn   int64
}

func (s *fileSink) open() (tail, error) {
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrPermission) { // a pipe or device that takes and never gives
		f, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err != nil {
		return tail{}, fmt.Errorf("journal: %w", err)
	}
	last, err := s.take(f)
	if err != nil {
		return tail{}, errors.Join(err, f.Close())
	}
	s.f = f
	return last, nil
}

func (s *fileSink) take(f *os.File) (tail, error) {
	info, err := f.Stat()
	if err != nil {
		return tail{}, fmt.Errorf("journal: %w", err)
	}
	if s.regular = info.Mode().IsRegular(); !s.regular {
		return tail{}, nil
	}
	if err := filelock.Lock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return tail{}, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	last, err := readTail(f, info.Size())
	if err != nil {
		return tail{}, err
	}
	if last.torn > 0 {
		if err := f.Truncate(info.Size() - last.torn); err != nil {
			return tail{}, fmt.Errorf("journal: cutting off a torn line: %w", err)
		}
	}
	s.size = info.Size() - last.torn
	return last, nil
}

// readTail reads the last whole line of a file of size bytes, and what stands after it.
func readTail(f io.ReaderAt, size int64) (tail, error) {
	var t tail
	buf, err := readEnd(f, size)
	if err != nil || size == 0 {
		return t, err
	}
	end := bytes.LastIndexByte(buf, '\n')
	t.torn = int64(len(buf) - end - 1)
	if end < 0 { // one line, torn: it may only be the first of ours
		if int64(len(buf)) != size || !bytes.HasPrefix(buf, []byte(`{"kind":"`)[:min(len(buf), 9)]) {
			return t, ErrForeign
		}
		return t, nil
	}
	line := buf[bytes.LastIndexByte(buf[:end], '\n')+1 : end]
	l, ok := parseLink(line)
	if !ok {
		return t, ErrForeign
	}
	t.head, t.closed = Head{l.seq, hashOf(line)}, l.summed
	return t, nil
}

// readEnd reads so much of the end that a torn and a whole line stand in it.
func readEnd(f io.ReaderAt, size int64) ([]byte, error) {
	for n := int64(64 << 10); ; n *= 4 {
		n = min(n, size)
		buf := make([]byte, n)
		if _, err := f.ReadAt(buf, size-n); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("journal: %w", err)
		}
		if bytes.Count(buf, []byte{'\n'}) >= 2 || n == size || n > 2*MaxLine {
			return buf, nil
		}
	}
}

func (s *fileSink) write(line []byte) error {
	if s.f == nil { // the last rotation could not open its file
		if _, err := s.open(); err != nil {
			return err
		}
	}
	n, err := s.f.Write(line)
	if err == nil {
		s.size += int64(n)
		return nil
	}
	if n > 0 && s.regular {
		if terr := s.f.Truncate(s.size); terr != nil {
			return errors.Join(err, ErrTorn, terr)
		}
	}
	return err
}

func (s *fileSink) full(n int) bool {
	return s.regular && s.max > 0 && s.size > 0 && s.size+int64(n) > s.max
}

// next puts the file aside under the number after the highest that is there, also where
// earlier files were taken away, and begins a new one. One that can't be renamed goes on
// growing.
func (s *fileSink) next() error {
	numbers, err := putAside(s.path)
	if err != nil {
		return err
	}
	n := 1
	if len(numbers) > 0 {
		n = numbers[len(numbers)-1] + 1
	}
	aside := numbered(s.path, n)
	err = errors.Join(s.f.Sync(), s.f.Close())
	s.f = nil
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if os.Rename(s.path, aside) != nil {
		s.max += s.size // the file goes on; nothing is lost but the size asked for
	}
	_, err = s.open()
	return err
}

// numbered is where the nth file put aside stands: run.jsonl gives run.000001.jsonl.
func numbered(path string, n int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.%06d%s", strings.TrimSuffix(path, ext), n, ext)
}

// putAside returns the numbers of the files that were put aside and are there, the oldest
// first.
func putAside(path string) ([]int, error) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	ext := filepath.Ext(name)
	before := strings.TrimSuffix(name, ext) + "."
	var numbers []int
	for _, e := range entries {
		digits := strings.TrimSuffix(strings.TrimPrefix(e.Name(), before), ext)
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil && n > 0 && e.Name() == filepath.Base(numbered(name, int(n))) {
			numbers = append(numbers, int(n))
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Files returns the files of the journal at path in the order they were written: those
// put aside that are still there, and path itself. Of a folder that can't be read it
// returns path alone.
func Files(path string) []string {
	numbers, _ := putAside(path)
	var files []string
	for _, n := range numbers {
		files = append(files, numbered(path, n))
	}
	return append(files, path)
}

// lastAside returns where the last file that was put aside ends: a crash may come before
// the next one is begun.
func lastAside(path string) (Head, bool, error) {
	numbers, err := putAside(path)
	if err != nil || len(numbers) == 0 {
		return Head{}, false, err
	}
	f, err := os.Open(numbered(path, numbers[len(numbers)-1]))
	if err != nil {
		return Head{}, false, fmt.Errorf("journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Head{}, false, fmt.Errorf("journal: %w", err)
	}
	last, err := readTail(f, info.Size())
	return last.head, last.closed, err
}

func (s *fileSink) close() error {
	if s.f == nil {
		return nil
	}
	var err error
	if s.regular {
		err = s.f.Sync()
	}
	return errors.Join(err, s.f.Close())
}
