// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package spreadsheet

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestFormulasAreText(t *testing.T) {
	for in, want := range map[string]string{
		`=HYPERLINK("http://evil")`: `'=HYPERLINK("http://evil")`, "+cmd|'/C calc'!A0": "'+cmd|'/C calc'!A0", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\n=1": "'\n=1", " =1": "' =1", "\u200b=1": "'\u200b=1", "＝1+1": "'＝1+1", "\r=1": "'=1", "-": "'-",
		"-12,50": "-12,50", "+33 2 98 00 00 00": "+33 2 98 00 00 00", "": "", "Kervalec": "Kervalec", "a=b": "a=b", "a\x1b[2Jb": "a[2Jb",
		"two\nlines": "two\nlines", "\xff": "\ufffd",
	} {
		require.Equal(t, []string{want}, Safe(in), "%q", in)
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("=1")
	f.Add("\u200e=1")
	f.Fuzz(func(t *testing.T, in string) {
		out := Safe(in)[0]
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\r\x00\x1b") {
			t.Fatalf("%q", out)
		}
		if out != "" && strings.ContainsRune("=@\t", rune(out[0])) {
			t.Fatalf("%q", out)
		}
		if again := Safe(out)[0]; again != out {
			t.Fatalf("%q, then %q", out, again)
		}
	})
}
