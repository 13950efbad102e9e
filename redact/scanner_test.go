// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"strings"
	"testing"

	"github.com/gardefou/gardefou/redact"
	"github.com/stretchr/testify/require"
)

// labels shortens expectations: E and I stand for the labels.
var labels = strings.NewReplacer("[email redacted]", "<E>", "[IBAN redacted]", "<I>")

func requireLabels(t *testing.T, cases map[string]string) {
	t.Helper()
	r := redact.Must(redact.New(redact.Options{}))
	for in, want := range cases {
		require.Equal(t, want, labels.Replace(r.String(in)), "%q", in)
		requireAllSplits(t, r, in)
	}
}

func TestEmail(t *testing.T) {
	requireLabels(t, map[string]string{
		// What stands around an address.
		"alice@example.com.":                           "<E>.",
		"**alice@example.com**, `alice@example.com`":   "**<E>**, `<E>`",
		"«alice@example.com» “alice@example.com”":      "«<E>» “<E>”",
		"l’adresse d’alice@example.com…":               "l’adresse d’<E>…",
		"...alice@example.com --alice@example.com":     "...<E> --<E>",
		"alice@example.com-Paris, alice@example.com--": "<E>-Paris, <E>--",
		"alice@example.com's, alice@example.com/inbox": "<E>'s, <E>/inbox",
		"_alice@example.com_":                          "<E>_",
		"a@x.com|b@x.com,c@x.com;d@x.com/e@x.com":      "<E>|<E>,<E>;<E>/<E>",
		"a@b.co@c.com":                                  "<E><E>",
		"https://user:s3cret@host.example.com/x":        "https://user:<E>/x",
		"alice@example.com2026":                         "<E>",
		"jean@exemple.frFR7630006000011234567890189":    "<E>",
		"o'brien@example.com":                           "<E>",
		"x@example..com x@.example.com x@example.com..": "x@example..com x@.example.com <E>..",
		// Escapes are not part of it, escaped letters are.
		`{"a":"x\nalice@example.com\r\n"}`:                             `{"a":"x\n<E>\r\n"}`,
		`\u003calice@example.com\u003e`:                                `\u003c<E>\u003e`,
		`\u00e9lodie@exemple.fr, jos\u00e9.d@exemple.fr`:               `<E>, <E>`,
		`%3Calice%40example.com%3E`:                                    `%3C<E>%3E`,
		`alice%2540example.com alice\\u0040example.com`:                `<E> <E>`,
		`alice&#064;example.com alice&#X40;example.com`:                `<E> <E>`,
		`{"x":"\"john\"@example.com"}`:                                 `{"x":"<E>"}`,
		"\x1b[31malice@example.com\x1b[0m \x1b[1;31malice@example.com": "\x1b[31m<E>\x1b[0m \x1b[1;31m<E>",
		`\u001b[31malice@example.com\u001b[0m [31malice@example.com]`:  `\u001b[31m<E>\u001b[0m [<E>]`,
		// Scripts.
		"邮箱123456@qq.com。":                "邮箱<E>。",
		"用户123@例子.公司":                     "<E>",
		"이메일은alice@example.com입니다":        "이메일은<E>입니다",
		"ติดต่อalice@example.comครับ":     "ติดต่อ<E>ครับ",
		"иван@пример.рф alice@пример.рф":  "<E> <E>",
		"δοκιμή@παράδειγμα.δοκιμή":        "<E>",
		"उदाहरण@उदाहरण.भारत":              "<E>",
		"مثال@مثال.السعودية":              "<E>",
		"e\u0301lodie@exemple.fr":         "<E>",
		"ali\u00adce@exam\u200bple.com":   "<E>",
		"\u200balice@example.com\u200b":   "\u200b<E>\u200b",
		"\xe9lodie@exemple.fr \x80a@b.fr": "<E> \x80<E>",
		// Bounds.
		strings.Repeat("x", 70) + "@example.com":                       "xxxxxx<E>",
		strings.Repeat("é", 40) + "@example.fr":                        strings.Repeat("é", 8) + "<E>",
		"a@" + strings.Repeat("b", 300) + ".com":                       "a@" + strings.Repeat("b", 300) + ".com",
		"a@" + strings.Repeat("abc.", 100) + "com":                     "<E>" + strings.Repeat(".abc", 37) + ".com",
		"user@[192.0.2.1] user@[IPv6:2001:db8::1] user@[x] a@[1.2.3.4": "<E> <E> user@[x] a@[1.2.3.4",
		// What is none.
		"git@github.com:org/repo ssh://git@github.com/org/repo": "git@github.com:org/repo ssh://git@github.com/org/repo",
		"ssh://hg@bitbucket.org:22/x git@github.com: no":        "ssh://hg@bitbucket.org:22/x <E>: no",
		"lodash@4.17.21 pkg@1.2.3.tar.gz gopls@v0.16.1":         "lodash@4.17.21 pkg@1.2.3.tar.gz gopls@v0.16.1",
		"python@3.11-slim.bookworm d3@7.x/dist std@0.224.0/x":   "python@3.11-slim.bookworm d3@7.x/dist std@0.224.0/x",
		"getty@tty1.service wg-quick@wg0.service":               "getty@tty1.service wg-quick@wg0.service",
		"user@1000.service.d/x.conf getty@.service pkg@7.x.dev": "user@1000.service.d/x.conf getty@.service pkg@7.x.dev",
		"alice@service.com alice@x.service.fr":                  "<E> <E>",
		"logo@2x.png logo@3x.webp":                              "logo@2x.png logo@3x.webp",
		"alice@2x.com":                                          "<E>",
		"root@localhost a@b @alice @bob.smith a @ b.co":         "root@localhost a@b @alice @bob.smith a @ b.co",
		"'@example.com .@example.com -@x.com":                   "'@example.com .@example.com -@x.com",
	})
}

func TestIBAN(t *testing.T) {
	const plain = "FR7630006000011234567890189"
	requireLabels(t, map[string]string{
		// Separators.
		"FR76\u20073000\u20096000\u00a00112\u202f3456\u30007890\u200b189":               "<I>",
		"FR76\t3000\n6000\r\n   0112.3456-7890+189":                                     "<I>",
		"FR76\u20103000\u20116000\u20120112\u201334567890189":                           "<I>",
		"FR7 630 006 000 011 234 567 890 189":                                           "<I>",
		"FR%2076%203000%C2%A06000%0A0112%203456%207890%20189":                           "<I>",
		"FR&nbsp;76&#160;3000&#xA0;6000&thinsp;0112&#8239;3456&nbsp;7890&nbsp;189":      "<I>",
		`{"a":"FR76\u00a03000\u202f6000\u20090112\u20073456\n7890\t189"}`:               `{"a":"<I>"}`,
		"FR76 3000 6000 0112\n\n3456 7890 189":                                          "FR76 3000 6000 0112\n\n3456 7890 189",
		"FR76--3000 6000 0112 3456 7890 189":                                            "FR76--3000 6000 0112 3456 7890 189",
		"FR76" + strings.Repeat(" ", 18) + "30006000011234567890189":                    "<I>",
		"FR76" + strings.Repeat(" ", 19) + "30006000011234567890189":                    "FR76" + strings.Repeat(" ", 19) + "30006000011234567890189",
		`{"a":"{\"b\":\"FR\\u00a076\\u00a03000\\n6000\\u202f0112 3456 7890 189\\n\"}"}`: `{"a":"{\"b\":\"<I>\\n\"}"}`,
		"> FR76 3000 6000\r\n> 0112 3456\n>> 7890 189":                                  "> <I>",
		"\u200fFR76\u200e 3000 6000 0112 3456\u2069 7890 189":                           "\u200f<I>",
		"FR76 > 3000 6000 0112 3456 7890 189":                                           "FR76 > 3000 6000 0112 3456 7890 189",
		// Boundaries.
		plain + "," + plain + "-" + plain:              "<I>,<I>-<I>",
		"IBAN" + plain + " iban:" + plain:              "IBAN<I> iban:<I>",
		"é" + plain + "é _" + plain + "_":              "é<I>é _<I>_",
		"X" + plain + " 9" + plain + " " + plain + "X": "X" + plain + " 9" + plain + " " + plain + "X",
		`{"a":"\n` + plain + `\n"}`:                    `{"a":"\n<I>\n"}`,
		`\u00a0` + plain + ` iban%3D` + plain:          `\u00a0<I> iban%3D<I>`,
		plain + " 2 days, " + plain + "\n3":            "<I> 2 days, <I>\n3",
		"\x1b[1;31m" + plain + "\x1b[0m" + plain:       "\x1b[1;31m<I>\x1b[0m<I>",
		`\u001b[31m` + plain + ` [31m` + plain:         `\u001b[31m<I> [31m` + plain,
		// With an address.
		plain + "@example.com":                          "<E>",
		"FR76 3000 6000 0112 3456 7890 189@example.com": "<I><E>",
		"alice@" + plain + ".com":                       "<E>",
		// Company numbers are public.
		"TVA FR40303265045, SIREN 303 265 045, SIRET 303 265 045 00012": "TVA FR40303265045, SIREN 303 265 045, SIRET 303 265 045 00012",
		// Case.
		"fr76 3000 6000 0112 3456 7890 189 mc11 1273 9000 7000 1111 1000 H79": "<I> <I>",
	})
}

// TestVATWithSIRET takes pairs that have valid check digits as an IBAN.
func TestVATWithSIRET(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	siren, pairs := 303265045, 0
	for nic := 1; nic < 2000; nic++ {
		digits := pad(siren, 9) + pad(siren, 9) + pad(nic, 5)
		text := "FR" + checkDigits("FR", digits) + " " + digits[:9] + " " + digits[9:]
		require.Equal(t, text, r.String(text))
		pairs++
	}
	require.Positive(t, pairs)
}

// TestRegistry holds the table against the registry's own examples: each is
// found as printed and as stored, none with a character changed or added.
func TestRegistry(t *testing.T) {
	r := redact.Must(redact.New(redact.Options{}))
	examples := registryExamples(t)
	require.Len(t, examples, 89+16+22)
	for _, iban := range examples {
		for _, written := range []string{iban, strings.ToLower(iban), grouped(iban, " "), grouped(iban, "\u202f"), grouped(iban, "-")} {
			require.Equal(t, "pay <I> now", labels.Replace(r.String("pay "+written+" now")), written)
		}
		for i := 2; i < len(iban); i++ {
			changed := byte('A')
			switch c := iban[i]; {
			case c == 'A':
				changed = 'B'
			case c <= '9':
				changed = '0' + (c-'0'+1)%10
			}
			wrong := iban[:i] + string(changed) + iban[i+1:]
			require.Equal(t, wrong, r.String(wrong))
		}
		require.Equal(t, iban+"0", r.String(iban+"0"))
		require.Equal(t, iban[:len(iban)-1], r.String(iban[:len(iban)-1]))
	}
}
