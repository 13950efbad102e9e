// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report holds the one value a report is made from and writes it as JSON
// and Markdown. The same value gives the same bytes: nothing in it reads a clock or
// the order of a map.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Schema is the version of the report's JSON.
const Schema = "gardefou/report/1"

// A Report is everything a report says.
type Report struct {
	Schema string `json:"schema"`
	Lang   string `json:"lang"`
	// Mode is where the facts come from. A report on sample data carries a banner.
	Mode string `json:"mode"`
	AsOf string `json:"as_of"`
	// Hosts were contacted; Overrides are sources not read at their official
	// address.
	Hosts     []string         `json:"hosts"`
	Overrides []string         `json:"overrides"`
	Subject   supplier.Subject `json:"subject"`
	// Status is how the run ended, Reason why where it did not simply end.
	Status string      `json:"status"`
	Reason string      `json:"reason,omitempty"`
	Risk   risk.Result `json:"risk"`
	// Narrative is "model" where a writer's text passed the checks, "template"
	// where the text is made by code.
	Narrative string             `json:"narrative"`
	Sections  []Section          `json:"sections"`
	Findings  []Finding          `json:"findings"`
	Gaps      []string           `json:"gaps"`
	Facts     sources.Facts      `json:"facts"`
	Evidence  []sources.Evidence `json:"evidence"`
}

// A Section is a titled part of the report. Text is plain: no markup in it means
// anything.
type Section struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Paragraphs []Paragraph `json:"paragraphs"`
}

// A Paragraph is plain text with the evidence it cites.
type Paragraph struct {
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// A Finding is what a researcher reported.
type Finding struct {
	Agent      string   `json:"agent"`
	Summary    string   `json:"summary"`
	Evidence   []string `json:"evidence"`
	Gaps       []string `json:"gaps"`
	Confidence string   `json:"confidence"`
}

// JSON returns the report as indented JSON with a newline at its end.
func (r Report) JSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("report: writing JSON: %w", err)
	}
	return buf.Bytes(), nil
}
