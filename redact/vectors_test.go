// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

type vector struct {
	ID     string `json:"id"`
	Level  string `json:"level"`
	Text   string `json:"text"`
	Expect []struct {
		Type  redact.Type `json:"type"`
		Value string      `json:"value"`
	} `json:"expect"`
	Why string `json:"why"`
}

func readLines[T any](t testing.TB, name string) []T {
	f, err := os.Open("../testdata/conformance/" + name)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		all = append(all, v)
	}
	require.NoError(t, lines.Err())
	return all
}

// span is a stretch of a text.
type span struct{ from, to int }

// wanted are the spans of the expected values of the types looked for; a value
// written once in the list counts wherever the text has it.
func (v vector) wanted() []span {
	var spans []span
	for _, e := range v.Expect {
		if e.Type != redact.Email && e.Type != redact.IBAN {
			continue
		}
		for from := 0; ; {
			i := strings.Index(v.Text[from:], e.Value)
			if i < 0 {
				break
			}
			spans = append(spans, span{from + i, from + i + len(e.Value)})
			from += i + len(e.Value)
		}
	}
	return spans
}

// judge says what is wrong with findings: a value not wholly covered, or text
// covered that is none; two bytes of punctuation beside a value are tolerated.
func (v vector) judge(fs []redact.Finding) string {
	covered := make([]bool, len(v.Text))
	for _, f := range fs {
		for i := f.Start; i < f.End; i++ {
			covered[i] = true
		}
	}
	value := make([]bool, len(v.Text))
	near := make([]bool, len(v.Text))
	for _, s := range v.wanted() {
		for i := max(0, s.from-2); i < min(len(v.Text), s.to+2); i++ {
			near[i] = true
		}
		for i := s.from; i < s.to; i++ {
			value[i] = true
			if !covered[i] {
				return "leaks " + v.Text[i:s.to]
			}
		}
	}
	for i := range covered {
		if covered[i] && !value[i] && (!near[i] || !strings.ContainsRune(`"'.-_(<[`, rune(v.Text[i]))) {
			return "touches " + v.Text[i:]
		}
	}
	return ""
}

func TestVectors(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	passed, total := map[string]int{}, map[string]int{}
	for _, v := range readLines[vector](t, "redaction.jsonl") {
		if v.Level == "ambiguous" {
			continue
		}
		kind := v.Level
		if len(v.wanted()) == 0 {
			kind = "negative"
		}
		total[kind]++
		fault := v.judge(r.Find(v.Text))
		for _, n := range []int{1, 7} {
			if fault == "" {
				_, fs := inChunks(r, v.Text, n)
				fault = v.judge(fs)
			}
		}
		if fault == "" {
			passed[kind]++
			continue
		}
		report := t.Errorf
		if v.Level == "extended" {
			report = t.Logf
		}
		report("%s %s (%s): %q", v.ID, fault, v.Why, v.Text)
	}
	t.Logf("passed %v of %v", passed, total)
	require.GreaterOrEqual(t, passed["extended"]*100, total["extended"]*85)
}

// inChunks redacts text n bytes at a time.
func inChunks(r *redact.Redactor, text string, n int) (string, []redact.Finding) {
	var fs []redact.Finding
	s := r.StreamFunc(func(f redact.Finding) { fs = append(fs, f) })
	var out strings.Builder
	for len(text) > 0 {
		k := min(n, len(text))
		out.WriteString(s.Write(text[:k]))
		text = text[k:]
	}
	out.WriteString(s.Close(redact.Complete))
	return out.String(), fs
}

func TestStreamCases(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	labels := strings.NewReplacer("[email redacted]", "[EMAIL]", "[IBAN redacted]", "[IBAN]")
	for _, c := range readLines[struct {
		ID     string   `json:"id"`
		Chunks []string `json:"chunks"`
		Expect string   `json:"expect"`
		End    string   `json:"end"`
		Why    string   `json:"why"`
	}](t, "redaction_streams.jsonl") {
		s := r.Stream()
		var out strings.Builder
		for _, chunk := range c.Chunks {
			out.WriteString(s.Write(chunk))
		}
		end := redact.Complete
		if c.End != "stop" {
			end = redact.CutOff
		}
		out.WriteString(s.Close(end))
		require.Equal(t, strings.ReplaceAll(c.Expect, ":partial]", "]"), labels.Replace(out.String()), "%s: %s", c.ID, c.Why)
	}
}
