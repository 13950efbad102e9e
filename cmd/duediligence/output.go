// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/pipeline/report"
)

// outputs are the files of one run. Those in the folder are written at the end, all
// under temporary names first: a run that is interrupted leaves none of them.
type outputs struct {
	dir  string
	file *os.File // --journal
	buf  syncBuffer

	mu         sync.Mutex
	journalErr error
}

func (f *flags) openOutputs() (*outputs, error) {
	o := &outputs{dir: f.out}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return nil, refuse("-o: %v", err)
		}
		// Better to fail now than after the work is paid for.
		probe, err := os.CreateTemp(f.out, ".duediligence-*")
		if err != nil {
			return nil, refuse("-o: the folder can't be written to: %v", err)
		}
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		if err != nil {
			return nil, refuse("-o: %v", err)
		}
	}
	if f.journal != "" {
		file, err := os.OpenFile(f.journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, refuse("--journal: %v", err)
		}
		o.file = file
	}
	return o, nil
}

// journal is where the journal's lines go, or nil where nobody wants them.
func (o *outputs) journal() io.Writer {
	switch {
	case o.dir != "" && o.file != nil:
		return io.MultiWriter(&o.buf, o.file)
	case o.dir != "":
		return &o.buf
	case o.file != nil:
		return o.file
	default:
		return nil
	}
}

func (o *outputs) journalFailed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.journalErr == nil {
		o.journalErr = err
	}
}

func (o *outputs) close() {
	if o.file != nil {
		o.journalFailed(o.file.Close())
	}
}

// write puts the report and the journal into the folder.
func (o *outputs) write(r report.Report, lang report.Lang) error {
	o.mu.Lock()
	err := o.journalErr
	o.mu.Unlock()
	if err != nil {
		return fmt.Errorf("the journal could not be written: %w", err)
	}
	if o.dir == "" {
		return nil
	}
	return files.Write(
		o.dir,
		files.File{Name: "report.md", Data: []byte(r.Markdown(lang))},
		files.File{Name: "report.html", Data: r.HTML(lang)},
		files.File{Name: "report.json", Data: r.JSON()},
		files.File{Name: "journal.jsonl", Data: o.buf.Bytes()},
	)
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}
