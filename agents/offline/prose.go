// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"fmt"
	"strings"
)

type section struct {
	Title      string `json:"title"`
	Statements []struct {
		Text     string   `json:"text"`
		Evidence []string `json:"evidence"`
	} `json:"statements"`
}

func sections(data map[string]any) []section {
	raw, err := json.Marshal(data["sections"])
	if err != nil {
		return nil
	}
	var out []section
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// prose writes the sections down, or what the functions answered where there are
// none.
func prose(data map[string]any, responses answers) string {
	var sb strings.Builder
	for _, s := range sections(data) {
		fmt.Fprintf(&sb, "## %s\n\n", s.Title)
		for _, st := range s.Statements {
			sb.WriteString(st.Text)
			for _, id := range st.Evidence {
				fmt.Fprintf(&sb, " [%s]", id)
			}
			sb.WriteByte('\n')
		}
		sb.WriteByte('\n')
	}
	if sb.Len() > 0 {
		return strings.TrimSpace(sb.String())
	}
	for _, r := range responses {
		if s, ok := r["summary"].(string); ok {
			return s
		}
	}
	return "There is nothing to say."
}

// faults returns why a draft must go back: a section that is missing, or one that
// cites nothing although its statements do.
func faults(data map[string]any) []any {
	draft, _ := data["draft"].(string)
	var out []any
	for _, s := range sections(data) {
		body, ok := between(draft, s.Title)
		cites := false
		for _, st := range s.Statements {
			cites = cites || len(st.Evidence) > 0
		}
		switch {
		case !ok:
			out = append(out, "missing: "+s.Title)
		case cites && !strings.Contains(body, "[E-"):
			out = append(out, "cites nothing: "+s.Title)
		}
	}
	if draft == "" {
		out = append(out, "there is no draft")
	}
	return out
}

// between returns the text under a title.
func between(draft, title string) (string, bool) {
	_, rest, ok := strings.Cut("\n"+draft, "\n## "+title+"\n")
	if !ok {
		return "", false
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body, strings.TrimSpace(body) != ""
}
