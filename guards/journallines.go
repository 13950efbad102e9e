// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// maskedJSON returns what a tool or a person was given, masked, in JSON; false where the
// redactor withholds all of it.
func (j *journal) maskedJSON(v any) (json.RawMessage, bool) {
	masked, _, err := j.o.Redactor.Value(v)
	if err != nil {
		return nil, false
	}
	data, err := encodedJSON(masked)
	if err != nil { // a number that JSON does not know must not lose the line
		data, err = encodedJSON(inJSON(masked))
	}
	if err != nil {
		j.report(err)
	}
	return data, err == nil
}

func encodedJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
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
