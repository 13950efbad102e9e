// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package files writes files whole or not at all.
package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A File is a name and what stands in it.
type File struct {
	Name string
	Data []byte
}

// Write writes f into dir under a temporary name and then renames it, so that nobody
// ever sees half a file.
func Write(dir string, f File) (err error) {
	tmp, err := os.CreateTemp(dir, "."+f.Name+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.Name, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", f.Name, errors.Join(err, os.Remove(tmp.Name())))
		}
	}()
	_, err = tmp.Write(f.Data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, f.Name))
}
