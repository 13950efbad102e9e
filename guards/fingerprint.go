// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
	"strconv"
)

// fingerprint names a JSON-like value: equal values, equal names, whatever the order of
// keys and the Go type of a number. Values JSON can't hold, NaN say, have names too.
func fingerprint(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		writeCanonical(h, p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func writeCanonical(h hash.Hash, v any) {
	switch v := v.(type) {
	case nil:
		write(h, 'n', "")
	case bool:
		write(h, 'b', strconv.FormatBool(v))
	case string:
		write(h, 's', v)
	case map[string]any:
		write(h, '{', strconv.Itoa(len(v)))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			write(h, 's', key)
			writeCanonical(h, v[key])
		}
	case []any:
		write(h, '[', strconv.Itoa(len(v)))
		for _, e := range v {
			writeCanonical(h, e)
		}
	case float64:
		write(h, '#', number(v))
	case float32:
		write(h, '#', number(float64(v)))
	case int:
		write(h, '#', strconv.Itoa(v))
	case int64:
		write(h, '#', strconv.FormatInt(v, 10))
	case int32:
		write(h, '#', strconv.FormatInt(int64(v), 10))
	case json.Number:
		if f, err := v.Float64(); err == nil {
			write(h, '#', number(f))
			return
		}
		write(h, '#', v.String())
	default:
		writeForeign(h, v)
	}
}

// writeForeign is for Go values a tool put into its result: as JSON would show them.
func writeForeign(h hash.Hash, v any) {
	enc, err := json.Marshal(v)
	if err != nil {
		write(h, '?', fmt.Sprintf("%T %v", v, v))
		return
	}
	var plain any
	if err := json.Unmarshal(enc, &plain); err != nil {
		write(h, '?', string(enc))
		return
	}
	writeCanonical(h, plain)
}

// number writes whole numbers as integers are written.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// write puts a kind, a length and a text, so that no two values run together.
func write(h hash.Hash, kind byte, s string) {
	var buf [24]byte
	head := append(buf[:0], kind)
	head = strconv.AppendInt(head, int64(len(s)), 10)
	head = append(head, ':')
	h.Write(head)
	h.Write([]byte(s))
}
