// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

// token returns the token of an account in a new vault, and its nonce.
func token(t testing.TB) (v *redact.Vault, token, nonce string) {
	t.Helper()
	v = redact.NewVault()
	token = redact.Must(redact.New(redact.Options{Strategy: redact.Token, Vault: v})).String(account)
	return v, token, token[len("[IBAN:tok-") : len("[IBAN:tok-")+8]
}

// each writes every rune of s by format.
func each(format, s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// eachByte is each for the bytes of s.
func eachByte(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r - '!' + '！'
		}
		return r
	}, s)
}

// rewritings are what models make of [IBAN:tok-aaaaaaaa-1].
var rewritings = map[string]func(token, nonce string) string{
	"escaped brackets":      func(t, _ string) string { return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(t) },
	"no brackets":           func(t, _ string) string { return strings.Trim(t, "[]") },
	"parentheses":           func(t, _ string) string { return "(" + strings.Trim(t, "[]") + ")" },
	"braces":                func(t, _ string) string { return "{" + strings.Trim(t, "[]") + "}" },
	"angle brackets":        func(t, _ string) string { return "<" + strings.Trim(t, "[]") + ">" },
	"CJK brackets":          func(t, _ string) string { return "【" + strings.Trim(t, "[]") + "】" },
	"upper case":            func(t, _ string) string { return strings.ToUpper(t) },
	"upper case nonce":      func(t, n string) string { return strings.ReplaceAll(t, n, strings.ToUpper(n)) },
	"blank after the colon": func(t, _ string) string { return strings.ReplaceAll(t, ":", ": ") },
	"no colon":              func(t, _ string) string { return strings.ReplaceAll(t, ":", " ") },
	"en dashes":             func(t, _ string) string { return strings.ReplaceAll(t, "-", "–") },
	"no-break hyphens":      func(t, _ string) string { return strings.ReplaceAll(t, "-", "\u2011") },
	"underscores":           func(t, _ string) string { return strings.ReplaceAll(t, "-", "_") },
	"blanks for hyphens":    func(t, _ string) string { return strings.ReplaceAll(t, "-", " ") },
	"percent":               func(t, _ string) string { return url.QueryEscape(t) },
	"percent, all":          func(t, _ string) string { return eachByte("%%%02X", t) },
	"percent twice":         func(t, _ string) string { return url.QueryEscape(eachByte("%%%02x", t)) },
	"decimal entities":      func(t, _ string) string { return each("&#%d;", t) },
	"hexadecimal entities":  func(t, _ string) string { return each("&#x%x;", t) },
	"named entities": func(t, _ string) string {
		return strings.NewReplacer("[", "&lbrack;", "]", "&rbrack;", "-", "&hyphen;").Replace(t)
	},
	"JSON escapes":          func(t, _ string) string { return each(`\u%04x`, t) },
	"Go escapes":            func(t, _ string) string { return eachByte(`\x%02x`, t) },
	"quoted-printable":      func(t, _ string) string { return eachByte("=%02X", t) },
	"soft line break":       func(t, n string) string { return strings.ReplaceAll(t, n, n[:4]+"=\r\n"+n[4:]) },
	"full width":            func(t, _ string) string { return wide(t) },
	"zero width":            func(t, _ string) string { return each("%c\u200b", t) },
	"soft hyphen":           func(t, n string) string { return strings.ReplaceAll(t, n, n[:3]+"\u00ad"+n[3:]) },
	"spelled apart":         func(t, _ string) string { return each("%c ", t) },
	"broken over lines":     func(t, n string) string { return strings.ReplaceAll(t, n, n[:5]+"\n"+n[5:]) },
	"cut before the number": func(t, n string) string { return t[:strings.Index(t, n)+len(n)] },
	"cut in the nonce":      func(t, n string) string { return t[:strings.Index(t, n)+6] },
	"cut to half a nonce":   func(t, n string) string { return t[:strings.Index(t, n)+4] },
	"cut before the nonce":  func(t, n string) string { before, _, _ := strings.Cut(t, n); return before },
	"the end of one":        func(t, n string) string { return t[strings.Index(t, n)+2:] },
	"nonce alone":           func(_, n string) string { return n },
	"number gone":           func(t, _ string) string { return strings.Replace(t, "-1]", "]", 1) },
	"hyphen gone":           func(t, _ string) string { return strings.Replace(t, "-1]", "1]", 1) },
	"other number":          func(t, _ string) string { return strings.Replace(t, "-1]", "-2]", 1) },
	"type in French":        func(t, _ string) string { return strings.Replace(t, "IBAN", "numéro", 1) },
	"one character wrong":   func(t, n string) string { return strings.Replace(t, n, n[:7]+other(n[7]), 1) },
	"two characters turned": func(t, n string) string { return strings.Replace(t, n, n[:3]+n[4:5]+n[3:4]+n[5:], 1) },
	"bold":                  func(t, _ string) string { return "**" + t + "**" },
	"code":                  func(t, _ string) string { return "`" + t + "`" },
	"quoted":                func(t, _ string) string { return `"` + t + `"` },
	"link":                  func(t, _ string) string { return t + "(https://bank.example)" },
	"in another token":      func(t, _ string) string { return "[" + t + "]" },
}

func other(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

// requireRevealedOrRefused: a text with a token in any form has the value after, or is
// refused. It is never passed on as it was.
func requireRevealedOrRefused(t testing.TB, v *redact.Vault, token, nonce, text string) {
	t.Helper()
	out, err := v.Reveal(text)
	if err != nil {
		require.ErrorIs(t, err, redact.ErrUnknownToken)
		require.Empty(t, out)
		return
	}
	require.Contains(t, text, token, "only a whole token is revealed: %q", text)
	require.Equal(t, strings.ReplaceAll(text, token, account), out)
	require.NotContains(t, out, nonce)
}

func TestATokenInAnyFormIsRevealedOrRefused(t *testing.T) {
	for name, rewrite := range rewritings {
		t.Run(name, func(t *testing.T) {
			v, token, nonce := token(t)
			for _, around := range []string{"%s", "pay %s now", "%s.", "a=%s&b=1", token + " and %s", "%s and " + token} {
				requireRevealedOrRefused(t, v, token, nonce, fmt.Sprintf(around, rewrite(token, nonce)))
			}
			_, err := v.RevealValue(map[string]any{"to": []any{rewrite(token, nonce)}})
			_, alone := v.Reveal(rewrite(token, nonce))
			require.Equal(t, alone, err, "a value is judged as its text")
		})
	}
}

// The same for tokens of a vault that is gone, of which the nonce is not known.
func TestATokenOfAnotherVaultIsRefused(t *testing.T) {
	_, token, nonce := token(t)
	for name, rewrite := range rewritings {
		switch name {
		case "blanks for hyphens", "spelled apart", "cut in the nonce", "cut to half a nonce", "the end of one", "nonce alone", "soft line break", "broken over lines":
			continue // these show neither "tok-" nor a whole nonce
		}
		_, err := redact.NewVault().Reveal(rewrite(token, nonce))
		require.ErrorIs(t, err, redact.ErrUnknownToken, name)
	}
}

func TestOrdinaryTextIsNoToken(t *testing.T) {
	v := redact.NewVault()
	for _, text := range []string{
		"", business, "a token: 123", "tok", "tok-", "user:tok-42", "tik-tok-tutorial", "https://blog.example/tik_tok_business?a=%20b&amp;c=\\n",
		"tok-1234567890abcdef", "Tok Pisin", "stock-abcdefgh", "[IBAN redacted]", "[IBAN:k3v9qy2mtw4a]", "tok-0189abcd", "100 % = 5 \\ & é 【】",
	} {
		out, err := v.Reveal(text)
		require.NoError(t, err, text)
		require.Equal(t, text, out)
	}
}

// FuzzReveal writes a token in one form on top of another, within other text.
func FuzzReveal(f *testing.F) {
	names := slices.Sorted(maps.Keys(rewritings))
	for i := range names {
		f.Add("pay ", " now", uint8(i), uint8(0))
	}
	f.Add("%", "", uint8(3), uint8(9))
	f.Fuzz(func(t *testing.T, before, after string, first, second uint8) {
		v, token, nonce := token(t)
		encodings := []string{"percent", "percent, all", "decimal entities", "JSON escapes", "quoted-printable", "full width", "zero width", "upper case", "escaped brackets", "quoted"}
		text := rewritings[names[int(first)%len(names)]](token, nonce)
		text = rewritings[encodings[int(second)%len(encodings)]](text, nonce)
		requireRevealedOrRefused(t, v, token, nonce, before+"\n"+text+"\n"+after)
	})
}
