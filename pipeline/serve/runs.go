// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/runpage"
)

// runs sorts the lines of all runs: each into the shared journal, and into its own, which
// goes into the run's folder when the run has ended. It is safe for concurrent use.
type runs struct {
	dir    string
	lang   string
	shared *journal.File

	mu   sync.Mutex
	open map[string]*kept
}

type kept struct {
	buf   bytes.Buffer
	chain *journal.Writer
}

// Write takes one line.
func (r *runs) Write(line []byte) (int, error) {
	var errs []error
	if r.shared != nil {
		if _, err := r.shared.Write(line); err != nil {
			errs = append(errs, err)
		}
	}
	if r.dir != "" {
		if err := r.own(line); err != nil {
			errs = append(errs, err)
		}
	}
	return len(line), errors.Join(errs...)
}

func (r *runs) own(line []byte) error {
	var of struct {
		Run string `json:"run"`
	}
	if err := json.Unmarshal(line, &of); err != nil {
		return err
	}
	r.mu.Lock()
	k := r.open[of.Run]
	if k == nil {
		k = &kept{}
		k.chain = journal.NewWriter(&k.buf)
		r.open[of.Run] = k
	}
	r.mu.Unlock()
	_, err := k.chain.Write(line)
	return err
}

// keep writes the folder of a run that has ended and returns its address. A run without
// an outcome leaves its journal only.
func (r *runs) keep(run string, o *pipeline.Outcome) (string, error) {
	if r.dir == "" {
		return "", nil
	}
	r.mu.Lock()
	k := r.open[run]
	delete(r.open, run)
	r.mu.Unlock()
	if k == nil {
		k = &kept{}
		k.chain = journal.NewWriter(&k.buf)
	}
	if err := k.chain.Close(); err != nil {
		return "", err
	}
	all := []files.File{{Name: runpage.JournalFile, Data: k.buf.Bytes()}}
	if o != nil {
		var err error
		if all, err = runpage.Files(o, k.buf.Bytes(), k.chain.Head(), r.lang, ""); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(r.dir, run)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("serve: %w", err)
	}
	if err := files.Write(dir, all...); err != nil {
		return "", err
	}
	return "/runs/" + run + "/" + runpage.IndexFile, nil
}

// visible is a folder without its hidden files.
func visible(dir string) fs.FS { return visibleFS{os.DirFS(dir)} }

type visibleFS struct{ fs.FS }

// Open implements fs.FS.
func (v visibleFS) Open(name string) (fs.File, error) {
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 1 && part[0] == '.' {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	return v.FS.Open(name)
}
