// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"strings"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

// contexts are what may stand around any value; V is its place.
var contexts = []string{
	"V", " V ", "<V>", "(V)", "[V]", "{V}", `"V"`, "«V»", "« V »", "“V”", "‘V’", "„V“", "`V`", "**V**", "~~V~~", "|V|", "\tV\t",
	"V.", "V,", "V;", "V:", "V!", "V?", "V…", "V ...", "V\r\n", "V\n\n", "V</td>", "<b>V</b>", `<a href="mailto:V">`, "(mailto:V)",
	"key=V&x=1", "?q=V#top", "/V/", "https://x.example/u/V", "k: V", "k:V", "'V'", "—V—", "• V", "→V", "V→",
	`{"a":"V"}`, `{"V":1}`, `["V","V"]`, `{\"a\":\"V\"}`, `\nV\n`, `\\nV\\n`, `\tV\t`, `\u003cV\u003e`, `\u00a0V\u00a0`, `%20V%20`, `%3CV%3E`, `&lt;V&gt;`, `&nbsp;V&nbsp;`,
	"\u200bV\u200b", "\ufeffV", "\u00a0V\u00a0", "\u202fV\u202f", "\x00V\x00", "\x1b[1;32mV\x1b[0m", `\u001b[1mV\u001b[0m`,
	"联系V谢谢", "は V です。", "V입니다", "（V）", "「V」", "V。", "V，", "😀V😀",
}

// TestContexts puts every plain value of the vectors into every context: what
// goes is the value and nothing else.
func TestContexts(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	seen := map[string]bool{}
	for _, v := range readLines[vector](t, "redaction.jsonl") {
		for _, e := range v.Expect {
			value := e.Value
			if v.Level != "core" || seen[value] || e.Type != redact.Email && e.Type != redact.IBAN || strings.HasPrefix(value, `"`) {
				continue
			}
			seen[value] = true
			for _, context := range contexts {
				text := strings.ReplaceAll(context, "V", value)
				want := strings.ReplaceAll(context, "V", r.String(value))
				if strings.ContainsAny(context, "联입で") && (value[0] >= 0x80 || value[len(value)-1] >= 0x80) {
					continue // one unspaced script touches another
				}
				require.Equal(t, want, r.String(text), "%q in %q", value, context)
			}
		}
	}
	require.Greater(t, len(seen), 100)
}
