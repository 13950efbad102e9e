// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench compares package redact with what else a Go programmer can find
// e-mail addresses and IBANs with: regular expressions, by three engines, and
// the IBAN detector of osv-scalibr. All see the same vectors and the same text.
//
// Run it in this folder: go run .
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	vectors, err := readVectors("../testdata/conformance/redaction.jsonl")
	if err != nil {
		return err
	}
	text, err := readText("../redact/testdata/business.txt", 1<<20)
	if err != nil {
		return err
	}
	engines, err := newEngines()
	if err != nil {
		return err
	}
	for _, kind := range []string{email, iban} {
		fmt.Printf("### %s\n\n", kind)
		fmt.Println("| engine | values | found whole | in part | missed | false finds | MB/s | x stdlib |")
		fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
		var reference time.Duration
		for _, e := range engines {
			find := e.find[kind]
			if find == nil {
				continue
			}
			s := score(vectors, kind, find)
			took := fastest(func() { find(text) })
			if e.name == standard {
				reference = took
			}
			fmt.Printf("| %s | %d | %d | %d | %d | %d | %.1f | %.1f |\n", e.name, s.values, s.whole, s.partly, s.missed, s.falseFinds,
				float64(len(text))/1e6/took.Seconds(), float64(reference)/float64(took))
		}
		fmt.Println()
	}
	return nil
}

// fastest is the least time of a few runs of f.
func fastest(f func()) time.Duration {
	least := time.Duration(1<<63 - 1)
	for range 5 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}
