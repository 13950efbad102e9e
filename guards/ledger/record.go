// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"time"
)

const fileFormat = 1

// record is one line of a ledger file: a change that was made, with what it was made of. Exactly
// one of the pointers is set. Replaying the lines in order gives the same books.
type record struct {
	At      int64          `json:"at,omitempty"` // Unix nanoseconds
	Header  *fileHeader    `json:"ledger,omitempty"`
	Open    *Opening       `json:"open,omitempty"`
	Reserve *Request       `json:"reserve,omitempty"`
	Extend  *extendRecord  `json:"extend,omitempty"`
	Commit  *commitRecord  `json:"commit,omitempty"`
	Release *releaseRecord `json:"release,omitempty"`
	Close   AccountID      `json:"close,omitempty"`
	Adjust  *Adjustment    `json:"adjust,omitempty"`
}

type fileHeader struct {
	Format   int `json:"format"`
	Remember int `json:"remember"`
}

type extendRecord struct {
	Key   Key           `json:"key"`
	Lease time.Duration `json:"lease"`
}

type commitRecord struct {
	Key    Key    `json:"key"`
	Charge Charge `json:"charge"`
}

type releaseRecord struct {
	Key   Key   `json:"key"`
	Proof Proof `json:"proof"`
}

// encode writes a line: the checksum of the JSON in eight hexadecimal digits, a space, the JSON.
func (r record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(data), data), nil
}

var errDamaged = errors.New("damaged line")

func decodeRecord(line []byte) (record, error) {
	var r record
	if len(line) < 10 || line[8] != ' ' || line[len(line)-1] != '\n' {
		return r, errDamaged
	}
	data := line[9 : len(line)-1]
	if sum, err := strconv.ParseUint(string(line[:8]), 16, 32); err != nil || uint32(sum) != crc32.ChecksumIEEE(data) {
		return r, errDamaged
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return r, dec.Decode(&r)
}

func (f *File) write(r record) error {
	line, err := r.encode()
	if err != nil {
		return err
	}
	if _, err := f.file.Write(line); err != nil {
		return err
	}
	if f.sync {
		return f.file.Sync()
	}
	return nil
}

func (f *File) header() record {
	return record{Header: &fileHeader{Format: fileFormat, Remember: f.memory.opts.Remember}}
}

// replay rebuilds the books and cuts a torn last line off. It reports whether the file has no
// header yet.
func (f *File) replay() (fresh bool, err error) {
	header, err := f.header().encode()
	if err != nil {
		return false, err
	}
	in := bufio.NewReaderSize(f.file, 1<<16)
	var sound int64 // bytes of intact lines
	for number := 1; ; number++ {
		line, readErr := in.ReadBytes('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return false, readErr
		}
		if len(line) == 0 {
			return sound == 0, nil
		}
		r, err := decodeRecord(line)
		if line[len(line)-1] != '\n' { // so it is the last, and was never acknowledged
			if sound == 0 && !bytes.HasPrefix(header, line) {
				return false, errors.New("this is no ledger file")
			}
			return sound == 0, f.file.Truncate(sound)
		}
		if err == nil {
			err = f.apply(r, number == 1)
		}
		if err != nil {
			return false, fmt.Errorf("line %d: %w", number, err)
		}
		sound += int64(len(line))
	}
}

// apply makes a recorded change again. It succeeded once, so a failure means that the file
// isn't what was written.
func (f *File) apply(r record, first bool) error {
	if first {
		if r.Header == nil || r.Header.Format != fileFormat || r.Header.Remember < 1 {
			return errors.New("this is no ledger file of a known format")
		}
		f.memory.opts.Remember = r.Header.Remember
		return nil
	}
	f.at = time.Unix(0, r.At)
	ctx := context.Background()
	var err error
	switch {
	case r.Open != nil:
		_, err = f.memory.Open(ctx, *r.Open)
	case r.Reserve != nil:
		_, err = f.memory.Reserve(ctx, *r.Reserve)
	case r.Extend != nil:
		err = f.memory.Extend(ctx, r.Extend.Key, r.Extend.Lease)
	case r.Commit != nil:
		_, err = f.memory.Commit(ctx, r.Commit.Key, r.Commit.Charge)
	case r.Release != nil:
		err = f.memory.Release(ctx, r.Release.Key, r.Release.Proof)
	case r.Close != "":
		_, err = f.memory.Close(ctx, r.Close)
	case r.Adjust != nil:
		_, err = f.memory.Adjust(ctx, *r.Adjust)
	default:
		err = errors.New("unknown record")
	}
	return err
}
