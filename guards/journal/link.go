// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Format is the version of the form, in every open record.
const Format = "gardefou.journal/1"

// MaxLine bounds one line, in bytes.
const MaxLine = 8 << 20

// A Head names a line and, through it, all lines before it. The zero value is the head
// of an empty journal.
type Head struct {
	// Seq is the number of the line, from 1.
	Seq uint64 `json:"seq"`
	// Hash is the SHA-256 of its bytes, hexadecimal.
	Hash string `json:"hash"`
}

var genesis = strings.Repeat("0", 2*sha256.Size)

// String gives the form that ParseHead reads: the number, a colon, the hash.
func (h Head) String() string { return strconv.FormatUint(h.Seq, 10) + ":" + h.Hash }

// ParseHead reads what [Head.String] wrote.
func ParseHead(s string) (Head, error) {
	number, hash, ok := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	raw, herr := hex.DecodeString(hash)
	if !ok || err != nil || herr != nil || seq == 0 || len(raw) != sha256.Size {
		return Head{}, fmt.Errorf("journal: a head is a number, a colon and 64 hexadecimal digits, got %q", s)
	}
	return Head{seq, hex.EncodeToString(raw)}, nil
}

func (h Head) hash() string {
	if h.Hash == "" {
		return genesis
	}
	return h.Hash
}

func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

const (
	seqMark  = `,"seq":`
	prevMark = `,"prev":"`
	sumMark  = `,"sum":"`
	hashEnd  = `"}`
	hashLen  = 2 * sha256.Size
)

// chained returns line, a JSON object without its line feed, with its link at the end.
func chained(line []byte, after Head) []byte {
	out := make([]byte, 0, len(line)+len(seqMark)+20+len(prevMark)+hashLen+len(hashEnd)+1)
	out = append(out, line[:len(line)-1]...)
	out = append(out, seqMark...)
	out = strconv.AppendUint(out, after.Seq+1, 10)
	out = append(out, prevMark...)
	out = append(out, after.hash()...)
	return append(out, hashEnd...)
}

// summed appends the sum of a closing record to it.
func summed(line []byte) []byte {
	body := line[:len(line)-1]
	sum := hashOf(body)
	return append(append(append(bytes.Clone(body), sumMark...), sum...), hashEnd...)
}

// A link is what the end of a line says.
type link struct {
	seq  uint64
	prev string
	// summed says that the line has a sum of its own, sumOK that it is right.
	summed, sumOK bool
}

func parseLink(line []byte) (link, bool) {
	var l link
	rest, sum, ok := cutHash(line, sumMark)
	if ok {
		l.summed, l.sumOK = true, hashOf(rest) == sum
		line = append(bytes.Clone(rest), '}')
	}
	rest, l.prev, ok = cutHash(line, prevMark)
	if !ok {
		return l, false
	}
	i := bytes.LastIndex(rest, []byte(seqMark))
	if i < 0 {
		return l, false
	}
	digits := string(rest[i+len(seqMark):])
	seq, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || seq == 0 || digits[0] == '0' || digits[0] == '+' {
		return l, false
	}
	l.seq = seq
	return l, true
}

// cutHash takes mark, a hash and the closing brace off the end of a line.
func cutHash(line []byte, mark string) (rest []byte, hash string, ok bool) {
	n := len(line) - len(mark) - hashLen - len(hashEnd)
	if n < 1 || string(line[n:n+len(mark)]) != mark || string(line[len(line)-len(hashEnd):]) != hashEnd {
		return nil, "", false
	}
	return line[:n], string(line[n+len(mark) : len(line)-len(hashEnd)]), true
}
