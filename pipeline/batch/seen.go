// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
)

// seen is a folder with a file for each supplier that this batch has a report on, so that
// memory does not grow with the rows.
type seen struct{ dir string }

func newSeen(dir string) (seen, error) {
	own, err := os.MkdirTemp(dir, ".seen-*")
	return seen{own}, err
}

func (s seen) close() error { return os.RemoveAll(s.dir) }

// find returns the folder of the dossier that another row brought, and its cells.
func (s seen) find(supplier string) (folder string, cells []string, ok bool) {
	data, err := os.ReadFile(filepath.Join(s.dir, supplier))
	if err != nil {
		return "", nil, false
	}
	fields, err := csv.NewReader(bytes.NewReader(data)).Read()
	if err != nil || len(fields) != 1+len(columns) {
		return "", nil, false
	}
	return fields[0], fields[1:], true
}

func (s seen) add(supplier, folder string, cells []string) {
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	_ = w.Write(append([]string{folder}, cells...)) // to memory
	w.Flush()
	// Without it another row of the supplier is taken for a kept one, nothing worse.
	_ = os.WriteFile(filepath.Join(s.dir, supplier), line.Bytes(), 0o600)
}
