// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxNesting is how often JSON may be a string within JSON. Each level doubles
// the backslashes, so more is no honest text; it is then redacted as text only.
const maxNesting = 8

// string applies text to s: if s is JSON, first to what its strings mean and
// then to the whole as it is written.
func (w *walker) string(s string, nesting int) (string, error) {
	if nesting < maxNesting && isJSON(s) {
		var err error
		if s, err = w.literals(s, nesting+1); err != nil {
			return "", err
		}
	}
	return w.text(s)
}

// document is string for a JSON document that must stay one.
func (w *walker) document(s string) (string, error) {
	out, err := w.string(s, 0)
	if err != nil || out == s || json.Valid([]byte(out)) || !json.Valid([]byte(s)) {
		return out, err
	}
	return quote(out)
}

// isJSON reports whether s is an object, an array or a string of JSON.
func isJSON(s string) bool {
	t := strings.TrimSpace(s)
	if len(t) < 2 {
		return false
	}
	switch string([]byte{t[0], t[len(t)-1]}) {
	case "{}", "[]", `""`:
		return json.Valid([]byte(t))
	}
	return false
}

// literals applies text to the strings and numbers of a JSON document and leaves
// all else, spaces and the order of keys too, as it is.
func (w *walker) literals(s string, nesting int) (string, error) {
	var out strings.Builder
	done := 0
	put := func(from, to int, literal string) {
		out.WriteString(s[done:from])
		out.WriteString(literal)
		done = to
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			end := stringEnd(s, i)
			was, err := unquote(s[i:end])
			if err != nil {
				return "", err
			}
			now, swapped := w.swaps[was]
			if !swapped {
				if now, err = w.string(was, nesting); err != nil {
					return "", err
				}
			}
			if now != was {
				literal, err := quote(now)
				if err != nil {
					return "", err
				}
				put(i, end, literal)
			}
			i = end
		case c == '-' || isDigit(c):
			end := i + 1
			for end < len(s) && (isDigit(s[end]) || strings.IndexByte("+-.eE", s[end]) >= 0) {
				end++
			}
			if w.numbers {
				now, err := w.text(s[i:end])
				if err != nil {
					return "", err
				}
				if now != s[i:end] {
					literal, err := quote(now)
					if err != nil {
						return "", err
					}
					put(i, end, literal)
				}
			}
			i = end
		default:
			i++
		}
	}
	if done == 0 {
		return s, nil
	}
	out.WriteString(s[done:])
	return out.String(), nil
}

// stringEnd is the end of the valid JSON string that begins at s[i].
func stringEnd(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func unquote(literal string) (string, error) {
	if strings.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1], nil
	}
	var s string
	err := json.Unmarshal([]byte(literal), &s)
	return s, err
}

func quote(s string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
