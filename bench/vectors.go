// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type vector struct {
	Level  string `json:"level"`
	Text   string `json:"text"`
	Expect []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"expect"`
}

// readVectors reads the vectors that are scored. Their account numbers are made
// new: most are the registry's examples, which osv-scalibr skips on purpose.
func readVectors(name string) ([]vector, error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []vector
	for line := range bytes.Lines(file) {
		var v vector
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if v.Level == "ambiguous" {
			continue
		}
		for i, e := range v.Expect {
			if e.Type == iban {
				v.Expect[i].Value = renewed(e.Value)
				v.Text = strings.ReplaceAll(v.Text, e.Value, v.Expect[i].Value)
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// renewed changes the account number of an IBAN and its check digits and keeps
// separators and case. A value with escapes stays as it is.
func renewed(value string) string {
	var at []int // of the characters of the IBAN
	for i := range len(value) {
		switch c := value[i] | 0x20; {
		case value[i] == '%', value[i] == '&', value[i] == '\\':
			return value
		case value[i] >= '0' && value[i] <= '9', c >= 'a' && c <= 'z':
			at = append(at, i)
		}
	}
	out := []byte(value)
	for k := len(at) - 1; k >= 4; k-- {
		if c := out[at[k]]; c >= '0' && c <= '9' {
			out[at[k]] = '0' + (c-'0'+3)%10
			break
		}
	}
	var compact strings.Builder
	for _, i := range at {
		compact.WriteByte(out[i])
	}
	s := strings.ToUpper(compact.String())
	digits := fmt.Sprintf("%02d", 98-remainder(s[4:]+s[:2]+"00"))
	out[at[2]], out[at[3]] = digits[0], digits[1]
	return string(out)
}

// readText is n bytes of the sentences in a file, over and over, with a value
// every KB.
func readText(name string, n int) (string, error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	sentences := strings.SplitAfter(string(file), "\n")
	values := []string{"jean.dupont@exemple.fr", "FR76 3000 6000 0112 3456 7890 189", "accounts+q3@supplier.example.com", "DE02120300000000202051"}
	var b strings.Builder
	for i, planted := 0, 0; b.Len() < n; i++ {
		b.WriteString(sentences[i*7%len(sentences)])
		if b.Len() > planted<<10 {
			b.WriteString(values[planted%len(values)] + " ")
			planted++
		}
	}
	return b.String()[:n], nil
}

// result is how an engine did on the vectors of one kind.
type result struct {
	values, whole, partly, missed int
	// falseFinds are finds that touch no value of the kind.
	falseFinds int
}

func score(vectors []vector, kind string, find func(string) []span) result {
	var r result
	for _, v := range vectors {
		found := find(v.Text)
		hit := make([]bool, len(found))
		for _, e := range v.Expect {
			if e.Type != kind {
				continue
			}
			r.values++
			from := strings.Index(v.Text, e.Value)
			covered := 0
			for i, f := range found {
				if n := min(f.to, from+len(e.Value)) - max(f.from, from); n > 0 {
					covered += n
				}
				// A value written twice is expected once.
				hit[i] = hit[i] || strings.Contains(v.Text[f.from:f.to], e.Value) || f.from < from+len(e.Value) && from < f.to
			}
			switch {
			case covered >= len(e.Value):
				r.whole++
			case covered > 0:
				r.partly++
			default:
				r.missed++
			}
		}
		for _, h := range hit {
			if !h {
				r.falseFinds++
			}
		}
	}
	return r
}
