// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gardefou/gardefou/redact"
	"github.com/spf13/cobra"
)

// readSize is how much of the input is read and scanned at a time.
const readSize = 64 << 10

func newRedactCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "redact",
		Short: "Mask e-mail addresses and IBANs in what is piped through",
		Long: `redact copies standard input to standard output and masks personal data in it.
It reads a stream of any size and needs the same little memory for all.

With --jsonl each input line is {"id", "text"} or {"id", "chunks": [...]}, with
"end" other than "stop" for a text that was cut off, and each output line
{"id", "text", "findings": [{"type", "start", "end"}]} with byte offsets in the
input text.`,
		Example: `  duediligence redact < mail.txt
  duediligence redact --lang fr --strategy mask --pattern 'ID=EMP-\d{6}' < log.txt
  duediligence redact --findings < mail.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.redact.run(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	c.register(cmd, onRedact)
	cmd.MarkFlagsMutuallyExclusive(c.name(&c.redact.findings), c.name(&c.redact.jsonl))
	return cmd
}

// redactFilter is the command with its flags.
type redactFilter struct {
	types                   list
	patterns                []string
	strategy, keyFile, lang string
	findings, jsonl         bool
	chunk                   int
}

func (f *redactFilter) run(in io.Reader, out io.Writer) error {
	if f.chunk < 0 {
		return fmt.Errorf("--chunk %d is negative", f.chunk)
	}
	r, err := f.redactor()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, readSize)
	if f.jsonl {
		err = f.lines(r, in, w)
	} else {
		err = f.text(r, in, w)
	}
	return errors.Join(err, w.Flush())
}

func (f *redactFilter) redactor() (*redact.Redactor, error) {
	o := redact.Options{
		Types:    []redact.Type{},
		Strategy: redact.Strategy(f.strategy),
		Language: f.lang,
		Vault:    redact.NewVault(),
	}
	for _, t := range f.types {
		if t != "" {
			o.Types = append(o.Types, redact.Type(strings.ToUpper(t)))
		}
	}
	for _, p := range f.patterns {
		name, expr, ok := strings.Cut(p, "=")
		if !ok {
			return nil, fmt.Errorf("--pattern %q is not NAME=expression", p)
		}
		o.Patterns = append(o.Patterns, redact.Pattern{Name: name, Expr: expr})
	}
	if f.keyFile != "" {
		key, err := os.ReadFile(f.keyFile)
		if err != nil {
			return nil, fmt.Errorf("--key-file: %w", err)
		}
		o.Key = bytes.TrimSpace(key)
	}
	return redact.New(o)
}

// finding is a finding as the command prints it.
type finding struct {
	Type  redact.Type `json:"type"`
	Start int         `json:"start"`
	End   int         `json:"end"`
	// Error says why a pattern could not judge the stretch.
	Error string `json:"error,omitempty"`
}

func toFinding(f redact.Finding) finding {
	p := finding{Type: f.Type, Start: f.Start, End: f.End}
	if f.Err != nil {
		p.Error = f.Err.Error()
	}
	return p
}

// text filters a text; what is read is written before more is read.
func (f *redactFilter) text(r *redact.Redactor, in io.Reader, w *bufio.Writer) error {
	var failed error
	s := r.Stream()
	if f.findings {
		e := json.NewEncoder(w)
		s = r.StreamFunc(func(x redact.Finding) { failed = errors.Join(failed, e.Encode(toFinding(x))) })
	}
	put := func(text string) error {
		if !f.findings {
			if _, err := w.WriteString(text); err != nil {
				return err
			}
		}
		return errors.Join(failed, s.Err())
	}
	buf := make([]byte, readSize)
	for {
		n, err := in.Read(buf)
		if failed := feed(s, string(buf[:n]), f.chunk, put); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return put(s.Close(redact.Complete))
		}
		if err != nil {
			return errors.Join(err, put(s.Close(redact.CutOff)))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// feed writes text to s, size bytes at a time or, if size is zero, at once.
func feed(s *redact.Stream, text string, size int, put func(string) error) error {
	for text != "" {
		n := len(text)
		if size > 0 {
			n = min(size, n)
		}
		if err := put(s.Write(text[:n])); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

var errLine = errors.New(`not an object with "text" or "chunks"`)

// lines filters JSON lines. An error names the line, never what is on it.
func (f *redactFilter) lines(r *redact.Redactor, in io.Reader, w *bufio.Writer) error {
	lines := bufio.NewReaderSize(in, readSize)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var t task
			if json.Unmarshal(line, &t) != nil || (t.Text == nil) == (t.Chunks == nil) {
				return fmt.Errorf("line %d: %w", n, errLine)
			}
			if err := e.Encode(t.redact(r, f.chunk)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if lines.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// task is an input line; it has a text or chunks.
type task struct {
	ID     json.RawMessage `json:"id"`
	Text   *string         `json:"text"`
	Chunks []string        `json:"chunks"`
	End    string          `json:"end"`
}

// answer is an output line.
type answer struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Text     string          `json:"text"`
	Findings []finding       `json:"findings"`
}

// redact streams the chunks as they are given, or the whole text in chunks of
// size bytes if size is not zero.
func (t *task) redact(r *redact.Redactor, size int) answer {
	a := answer{ID: t.ID, Findings: []finding{}}
	chunks := t.Chunks
	if t.Text != nil {
		chunks = []string{*t.Text}
	}
	whole := strings.Join(chunks, "")
	if size > 0 {
		chunks = []string{whole}
	}
	s := r.StreamFunc(func(f redact.Finding) { a.Findings = append(a.Findings, toFinding(f)) })
	var out strings.Builder
	for _, chunk := range chunks {
		// A strings.Builder takes everything.
		_ = feed(s, chunk, size, func(text string) error { out.WriteString(text); return nil })
	}
	end := redact.Complete
	if t.End != "" && t.End != "stop" {
		end = redact.CutOff
	}
	out.WriteString(s.Close(end))
	a.Text = out.String()
	if s.Err() != nil {
		a.Text = r.String(whole)
	}
	return a
}
