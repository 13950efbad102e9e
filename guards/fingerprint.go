// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// fingerprint names a JSON-like value: equal values, equal names, whatever the order of
// keys and the Go type of a number. Values JSON can't hold, NaN say, have names too;
// those that are nested without end have one together.
func fingerprint(parts ...any) string {
	buf := make([]byte, 0, 256)
	for _, p := range parts {
		if tooDeep(p) {
			buf = appendPart(buf, '^', "")
			continue
		}
		buf = appendCanonical(buf, p)
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:16])
}

func appendCanonical(buf []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return appendPart(buf, 'n', "")
	case bool:
		return appendPart(buf, 'b', strconv.FormatBool(v))
	case string:
		return appendPart(buf, 's', v)
	case map[string]any:
		buf = appendPart(buf, '{', strconv.Itoa(len(v)))
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			buf = appendCanonical(appendPart(buf, 's', key), v[key])
		}
		return buf
	case []any:
		buf = appendPart(buf, '[', strconv.Itoa(len(v)))
		for _, e := range v {
			buf = appendCanonical(buf, e)
		}
		return buf
	case float64:
		return appendPart(buf, '#', number(v))
	case float32:
		return appendPart(buf, '#', number(float64(v)))
	case int:
		return appendPart(buf, '#', strconv.Itoa(v))
	case int64:
		return appendPart(buf, '#', strconv.FormatInt(v, 10))
	case int32:
		return appendPart(buf, '#', strconv.FormatInt(int64(v), 10))
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return appendPart(buf, '#', number(f))
		}
		return appendPart(buf, '#', v.String())
	default:
		return appendForeign(buf, v)
	}
}

// appendForeign is for Go values a tool put into its result: as JSON would show them.
func appendForeign(buf []byte, v any) []byte {
	enc, err := json.Marshal(v)
	if err != nil {
		return appendPart(buf, '?', fmt.Sprintf("%T ", v)+unencodable(v))
	}
	var plain any
	if err := json.Unmarshal(enc, &plain); err != nil {
		return appendPart(buf, '?', string(enc))
	}
	return appendCanonical(buf, plain)
}

// number writes whole numbers as integers are written.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// appendPart puts a kind, a length and a text, so that no two values run together.
func appendPart(buf []byte, kind byte, s string) []byte {
	buf = strconv.AppendInt(append(buf, kind), int64(len(s)), 10)
	return append(append(buf, ':'), s...)
}
