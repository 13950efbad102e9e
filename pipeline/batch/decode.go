// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/gardefou/gardefou/internal/text"
)

// maxSample bounds what is read ahead to find out how a file is written.
const maxSample = 64 << 10

// decode returns what r holds as UTF-8, and the name of the encoding it was found to be
// in. A file whose first bytes are ASCII only is read on until other bytes say more.
func decode(r io.Reader) (io.Reader, string, error) {
	br := bufio.NewReaderSize(r, maxSample)
	sample, err := br.Peek(maxSample)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	for _, magic := range []string{"PK\x03\x04", "\xd0\xcf\x11\xe0"} {
		if bytes.HasPrefix(sample, []byte(magic)) {
			return nil, "", inputError{key: text.BatchWorkbook}
		}
	}
	switch {
	case bytes.HasPrefix(sample, []byte("\xef\xbb\xbf")):
		_, err := br.Discard(3)
		return br, "UTF-8", err
	case bytes.HasPrefix(sample, []byte("\xff\xfe")), bytes.HasPrefix(sample, []byte("\xfe\xff")):
		return decoded(br, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)), "UTF-16", nil
	}
	if order, ok := utf16Order(sample); ok {
		return decoded(br, unicode.UTF16(order, unicode.IgnoreBOM)), "UTF-16", nil
	}
	switch kindOf(sample) {
	case ascii:
		return &undecided{br: br}, "UTF-8", nil
	case utf8Text:
		return br, "UTF-8", nil
	case windows1252:
		return decoded(br, charmap.Windows1252), "Windows-1252", nil
	default:
		return nil, "", inputError{key: text.BatchEncoding}
	}
}

func decoded(r io.Reader, e encoding.Encoding) io.Reader {
	return transform.NewReader(r, e.NewDecoder())
}

// utf16Order finds UTF-16 without a byte order mark by the zero bytes of its ASCII
// letters.
func utf16Order(sample []byte) (unicode.Endianness, bool) {
	var zeros [2]int
	for i, c := range sample {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(sample) / 2
	switch {
	case zeros[1] > 3*half/10 && zeros[0] < half/10:
		return unicode.LittleEndian, true
	case zeros[0] > 3*half/10 && zeros[1] < half/10:
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, false
}

type textKind int

const (
	ascii textKind = iota
	utf8Text
	windows1252
	unknownText
)

// kindOf judges bytes without zeros: UTF-8 where most of what is not ASCII is valid,
// otherwise Windows-1252 where its letters stand inside words.
func kindOf(sample []byte) textKind {
	valid, invalid := 0, 0
	for i := 0; i < len(sample); {
		if sample[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(sample[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			valid++
		case !utf8.FullRune(sample[i:]) && len(sample) == maxSample: // cut by the sample's end
		default:
			invalid++
		}
		i += size
	}
	switch {
	case valid == 0 && invalid == 0:
		return ascii
	case valid > invalid:
		return utf8Text
	case speaksWindows1252(sample):
		return windows1252
	}
	return unknownText
}

// speaksWindows1252 weighs the bytes beside a letter. Those of letters in Windows-1252
// speak for it; in the encodings of old Macs and of DOS the letters of western Europe
// are bytes that stand for signs in Windows-1252.
func speaksWindows1252(sample []byte) bool {
	letter := func(i int) bool {
		if i < 0 || i >= len(sample) {
			return false
		}
		c := sample[i] | 0x20
		return c >= 'a' && c <= 'z'
	}
	pro, contra := 0, 0
	for i, c := range sample {
		before, after := letter(i-1), letter(i+1)
		switch {
		case c < utf8.RuneSelf:
		case c == 0x92: // the apostrophe
			if before && after {
				pro++
			}
		case c >= 0xc0, c == 0x8c, c == 0x9c:
			if before || after {
				pro++
			}
		case c < 0xa0 && before && after:
			contra++
		}
	}
	return pro >= contra
}

// undecided reads ASCII on until another byte comes. Rows were handed out by then: what
// is no Windows-1252 either stays as it is and costs its rows.
type undecided struct {
	br      *bufio.Reader
	decided io.Reader
}

func (u *undecided) Read(p []byte) (int, error) {
	if u.decided != nil {
		return u.decided.Read(p)
	}
	sample, err := u.br.Peek(maxSample)
	i := bytes.IndexFunc(sample, func(r rune) bool { return r >= utf8.RuneSelf })
	switch {
	case i > 0:
		sample = sample[:i]
	case i == 0:
		u.decided = u.br
		if kindOf(sample) == windows1252 {
			u.decided = decoded(u.br, charmap.Windows1252)
		}
		return u.decided.Read(p)
	case len(sample) == 0:
		return 0, err
	}
	n := copy(p, sample)
	_, err = u.br.Discard(n)
	return n, err
}
