// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed" // the JSON Schema
	"encoding/json"
	"fmt"
)

//go:embed schema.json
var schema []byte

// JSONSchema returns the JSON Schema (2020-12) of the JSON form.
func JSONSchema() []byte { return bytes.Clone(schema) }

// JSON writes the report as indented JSON with a final line feed. "<", ">" and
// "&" are escaped, so that the text is safe inside a page.
func (r Report) JSON() []byte {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic("report: plain values: " + err.Error()) // no channel, no cycle, no NaN
	}
	return append(data, '\n')
}

// maxReport bounds what [Parse] reads.
const maxReport = 16 << 20

// Parse reads the JSON form back, for comparison with a later report. It
// refuses another schema version, an unknown key and a report whose content does
// not match its id: a file that was edited is no report of this program.
func Parse(data []byte) (Report, error) {
	if len(data) > maxReport {
		return Report{}, fmt.Errorf("%w: larger than %d bytes", ErrReport, maxReport)
	}
	var r Report
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Report{}, fmt.Errorf("%w: not a report: %w", ErrReport, err)
	}
	if r.Schema != Schema {
		return Report{}, fmt.Errorf("%w: schema %q, wanted %q", ErrReport, r.Schema, Schema)
	}
	if r.ID != r.contentID() {
		return Report{}, fmt.Errorf("%w: the content does not match its id", ErrReport)
	}
	return r, nil
}
