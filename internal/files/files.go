// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package files writes files whole or not at all.
package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// A File is a name and what stands in it.
type File struct {
	Name string
	Data []byte
	// Mode are its permissions. Zero is for its owner alone.
	Mode os.FileMode
}

// Write writes files into dir, each under a temporary name first; only when all of
// them are on disk do they get their names, in the order given. Nobody ever sees half
// a file, and where the disk is full the files that stood there before stay.
func Write(dir string, files ...File) (err error) {
	var temps []string
	defer func() {
		for _, t := range temps {
			err = errors.Join(err, os.Remove(t))
		}
	}()
	for _, f := range files {
		temp, werr := writeTemp(dir, f)
		if temp != "" {
			temps = append(temps, temp)
		}
		if werr != nil {
			return fmt.Errorf("writing %s: %w", f.Name, werr)
		}
	}
	for _, f := range files {
		if rerr := os.Rename(temps[0], filepath.Join(dir, f.Name)); rerr != nil {
			return fmt.Errorf("writing %s: %w", f.Name, rerr)
		}
		temps = temps[1:]
	}
	return nil
}

func writeTemp(dir string, f File) (name string, err error) {
	tmp, err := os.CreateTemp(dir, "."+f.Name+"-*")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(f.Data)
	if err == nil && f.Mode != 0 {
		err = tmp.Chmod(f.Mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	return tmp.Name(), errors.Join(err, tmp.Close())
}

// SyncFolder makes a new file's name durable. Windows has nothing of the kind: it opens no
// folder to be flushed, and keeps names in the file system's own log.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
