// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
	"github.com/gardefou/gardefou/pipeline/store"
)

// ledgerVariable names the ledger as --ledger does, where other users of the machine can't
// read its password.
const ledgerVariable = "DUEDILIGENCE_LEDGER"

// ledgerNamed is where the ledger in use was named.
func (j *job) ledgerNamed() string {
	if j.ledger != "" && j.ledger == os.Getenv(ledgerVariable) {
		return ledgerVariable
	}
	return "--ledger"
}

func (j *job) openLedger(ctx context.Context) (ledger.Ledger, error) {
	switch {
	case j.ledger == "" && j.kept != nil:
		return j.ledgerFile(j.kept.Path(store.LedgerFile))
	case j.ledger == "memory", j.ledger == "":
		return ledger.NewMemory(ledger.MemoryOptions{})
	case strings.HasPrefix(j.ledger, "file:") && len(j.ledger) > len("file:"):
		return j.ledgerFile(strings.TrimPrefix(j.ledger, "file:"))
	case strings.HasPrefix(j.ledger, "redis://"), strings.HasPrefix(j.ledger, "rediss://"):
		l, err := redisledger.New(ctx, redisledger.Options{URL: j.ledger})
		if err != nil {
			return nil, refuse("%s: %v", j.ledgerNamed(), err)
		}
		j.closes(func() error { l.Shutdown(); return nil })
		return l, nil
	default:
		return nil, refuse("%s must be memory, file:PATH or redis://HOST:PORT", j.ledgerNamed())
	}
}

func (j *job) ledgerFile(path string) (ledger.Ledger, error) {
	l, err := ledger.OpenFile(path, ledger.FileOptions{})
	if err != nil {
		return nil, refuse("%s: %v", j.ledgerNamed(), err)
	}
	j.closes(l.CloseFile)
	return l, nil
}
