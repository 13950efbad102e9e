// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/gardefou/gardefou/redact"
)

// Business text in French and English, and the JSON of tool calls.
//
//go:embed testdata/business.txt
var business string

var values = []string{
	"jean.dupont@exemple.fr", "FR76 3000 6000 0112 3456 7890 189", "accounts+q3@supplier.example.com",
	"DE89370400440532013000", "marie@compta.exemple.fr", "BE68 5390 0754 7034",
}

// corpus is n bytes of business text with one value per KB.
func corpus(n int) string {
	sentences := strings.SplitAfter(business, "\n")
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for planted := 0; b.Len() < n; {
		b.WriteString(sentences[rnd.IntN(len(sentences))])
		if b.Len() > planted*1024 {
			b.WriteString(values[planted%len(values)] + " ")
			planted++
		}
	}
	return b.String()[:n]
}

const (
	emailExpr = `[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}`
	ibanExpr  = `\b[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}\b`
)

// fastest is the least time of each function in a few rounds of all of them, so
// that a busy moment of the machine hits all alike.
func fastest(fs ...func()) []time.Duration {
	least := make([]time.Duration, len(fs))
	for round := range 10 {
		for i, f := range fs {
			start := time.Now()
			f()
			if took := time.Since(start); round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return least
}

// ratio reports how many times longer reference takes than f.
func ratio(b *testing.B, name string, f, reference func()) {
	least := fastest(f, reference)
	b.ReportMetric(float64(least[1])/float64(least[0]), name)
}

func BenchmarkString(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	text := corpus(1 << 20)
	run := func() { r.String(text) }
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	email, iban := regexp.MustCompile(emailExpr), regexp.MustCompile(ibanExpr)
	ratio(b, "x-stdlib", run, func() {
		email.FindAllStringIndex(text, -1)
		iban.FindAllStringIndex(text, -1)
	})
	email2, iban2 := regexp2.MustCompile(emailExpr), regexp2.MustCompile(ibanExpr)
	ratio(b, "x-regexp2/v2", run, func() {
		email2.FindAllStringIndex(text, -1)
		iban2.FindAllStringIndex(text, -1)
	})
}

// BenchmarkClean is text with neither an @ nor a digit, against one search for
// a byte that it doesn't have.
func BenchmarkClean(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	text := strings.Map(func(c rune) rune {
		if c == '@' || c >= '0' && c <= '9' {
			return 'o'
		}
		return c
	}, corpus(1<<20))
	raw := []byte(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(text)
	}
	ratio(b, "of-IndexByte", func() { r.String(text) }, func() { bytes.IndexByte(raw, 0) })
}

// BenchmarkMessage is one chat message of 256 bytes without a value.
func BenchmarkMessage(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	text := corpus(2 << 10)[256:512]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(text)
	}
}

// BenchmarkStream feeds five bytes at a time. Its budget is five times the
// batch cost of those bytes plus 300 ns.
func BenchmarkStream(b *testing.B) {
	const size = 5
	r := redact.Must(redact.New(redact.Options{}))
	text := corpus(1 << 20)
	stream := func() {
		s := r.Stream()
		for i := 0; i < len(text); i += size {
			s.Write(text[i:min(i+size, len(text))])
		}
		s.Close(redact.Complete)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		stream()
	}
	chunks := float64(len(text)) / size
	least := fastest(stream, func() { r.String(text) })
	chunk, batch := float64(least[0].Nanoseconds())/chunks, float64(least[1].Nanoseconds())/chunks
	b.ReportMetric(chunk, "ns/chunk")
	b.ReportMetric(chunk/(5*batch+300), "of-budget")
}

// BenchmarkHold prints how much a stream of tokens of 1 to 8 bytes holds back.
func BenchmarkHold(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	text := corpus(1 << 20)
	var held []int
	for b.Loop() {
		held = held[:0]
		rnd := rand.New(rand.NewPCG(3, 4))
		s := r.Stream()
		for i := 0; i < len(text); {
			n := min(1+rnd.IntN(8), len(text)-i)
			s.Write(text[i : i+n])
			held = append(held, s.Held())
			i += n
		}
	}
	slices.Sort(held)
	sum := 0
	for _, h := range held {
		sum += h
	}
	b.ReportMetric(float64(sum)/float64(len(held)), "mean-B")
	b.ReportMetric(float64(held[len(held)/2]), "p50-B")
	b.ReportMetric(float64(held[len(held)*99/100]), "p99-B")
	b.ReportMetric(float64(held[len(held)-1]), "max-B")
}

// hostile are texts of about 100 KB that make other scanners quadratic.
func hostile() map[string]string {
	random := rand.NewChaCha8([32]byte{})
	blob := make([]byte, 150_000)
	random.Read(blob)
	return map[string]string{
		"base64":        base64.StdEncoding.EncodeToString(blob),
		"a":             strings.Repeat("a", 100_000),
		"at":            strings.Repeat("@", 100_000),
		"labels":        strings.Repeat("aaaa.", 20_000) + "@",
		"a-at":          strings.Repeat("a@", 50_000),
		"hyphens":       "a@" + strings.Repeat("a-", 50_000),
		"one-letters":   "a@" + strings.Repeat("a.", 50_000),
		"check-digits":  strings.Repeat("FR76 ", 20_000),
		"check-digits2": strings.Repeat("FR76", 25_000),
		"almost-iban":   strings.Repeat("FR76 1111 2222 3333 4444 5555 666 ", 3_000),
		"letters-iban":  strings.Repeat("KW81 CBKU ", 10_000),
		"quotes":        strings.Repeat(`"`, 100_000),
		"backslashes":   strings.Repeat(`\`, 100_000),
		"percent":       strings.Repeat("%40", 33_000),
		"entities":      strings.Repeat("&#64;", 20_000),
		"continuations": strings.Repeat("\x80", 100_000),
		"latin1":        strings.Repeat("\xe9", 100_000),
		"han":           strings.Repeat("用", 33_000),
		"separators":    "FR" + strings.Repeat(" ", 100_000),
		"digits":        strings.Repeat("7", 100_000),
		"digit-letter":  strings.Repeat("FR7 ", 25_000),
		"nul":           strings.Repeat("\x00", 100_000),
		"literal":       strings.Repeat("a@[", 33_000),
		"local-and-at":  strings.Repeat(strings.Repeat("a", 64)+"@", 1_500),
	}
}

// BenchmarkHostile prints the worst hostile text's time relative to that of
// business text of the same size.
func BenchmarkHostile(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	plain := corpus(100_000)
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.String(text)
			}
			least := fastest(func() { r.String(text) }, func() { r.String(plain) })
			b.ReportMetric(float64(least[0])/float64(least[1])*float64(len(plain))/float64(len(text)), "x-plain")
		})
	}
}

func BenchmarkStrategies(b *testing.B) {
	text := corpus(64 << 10)
	for _, s := range []redact.Strategy{redact.Label, redact.Mask, redact.HMAC, redact.Token} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			r := redact.Must(redact.New(redact.Options{Strategy: s, Key: make([]byte, 32), Vault: redact.NewVault()}))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.String(text)
			}
		})
	}
}

// toolCall is the arguments of a call as a model makes it.
func toolCall(text string) map[string]any {
	return map[string]any{"to": "accounting", "subject": "Invoice 2026-118", "lines": []any{text, text[:200], 12.5, true}, "meta": map[string]any{"page": 3.0}}
}

func BenchmarkValue(b *testing.B) {
	r := redact.Must(redact.New(redact.Options{}))
	type invoice struct {
		Number string
		Cents  int
		Note   string
	}
	for name, v := range map[string]any{
		"map": toolCall(business), "struct": invoice{"2026-118", 1250, business}, "structs": []invoice{{"1", 1, business}, {"2", 2, business}},
		"strings": map[string][]string{"a": {business}, "b": {"c", "d"}}, "bytes": []byte(business),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, counts, err := r.Value(v); err != nil || counts != nil {
					b.Fatal(counts, err)
				}
			}
		})
	}
}

func BenchmarkReveal(b *testing.B) {
	v := redact.NewVault()
	r := redact.Must(redact.New(redact.Options{Strategy: redact.Token, Vault: v}))
	hidden, _, err := r.Value(toolCall("write to jean.dupont@exemple.fr about " + business))
	if err != nil {
		b.Fatal(err)
	}
	for name, args := range map[string]any{"clean": toolCall(business), "tokens": hidden} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(business)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.RevealValue(args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
