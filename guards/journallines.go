// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// lineOf is one line as it is written.
func lineOf(line any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	return buf.Bytes(), err
}

// encodable returns a line that could not be encoded with what a tool or a person was given
// in a form that can: a number that JSON does not know must not lose the line.
func encodable(line any) any {
	if l, ok := line.(interface{ encodable() any }); ok {
		return l.encodable()
	}
	return line
}

func inJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = inJSON(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = inJSON(e)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case float32:
		return inJSON(float64(v))
	default: // the redactor has withheld what has no JSON form
		return v
	}
}
