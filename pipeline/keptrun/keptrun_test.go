// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/pipelinetest"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// attempt makes an attempt and returns its report and how many answers were there already.
func attempt(t *testing.T, r *keptrun.Run) (report string, answers int) {
	t.Helper()
	c := pipelinetest.Sample(t)
	res := c.Resolve(t.Context(), r.Store.Run().Query)
	require.Equal(t, supplier.StatusResolved, res.Status)
	j, err := r.Journal()
	require.NoError(t, err)
	o := pipeline.Options{Setup: agents.Setup{Model: offline.Model{}}, Sources: c, Journal: j}
	answers, err = r.Attempt(t.Context(), &o)
	require.NoError(t, err)
	require.Equal(t, r.Store.Run().ID, o.AttemptOf)
	p, err := pipeline.New(o)
	require.NoError(t, err)
	out, err := p.Run(t.Context(), res.Subject, r.Store.Run().Query)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return string(out.Report.JSON()), answers
}

func TestAnAttemptGoesOnFromThoseBeforeIt(t *testing.T) {
	dir := t.TempDir()
	r, err := keptrun.Create(dir, store.Run{Query: pipelinetest.Kervalec}, false)
	require.NoError(t, err)
	require.NotEmpty(t, r.Store.Run().ID)
	require.False(t, r.Store.Run().Started.IsZero())
	first, answers := attempt(t, r)
	require.Zero(t, answers)
	account := r.Account()
	require.NoError(t, r.Store.Close())

	r, err = keptrun.Open(dir)
	require.NoError(t, err)
	second, answers := attempt(t, r)
	require.Equal(t, 8, answers)
	require.Equal(t, first, second)
	require.Equal(t, account, r.Account())
	require.NoError(t, r.Store.Close())

	s, err := journal.Count(journal.FileEntries(r.Path(runpage.JournalFile)))
	require.NoError(t, err)
	require.Equal(t, 1, s.Runs.Total, "the attempts are one run")
}

func TestARunThatWasBegunStays(t *testing.T) {
	dir := t.TempDir()
	r, err := keptrun.Create(dir, store.Run{Query: pipelinetest.Kervalec}, false)
	require.NoError(t, err)
	_, err = keptrun.Create(dir, store.Run{}, true)
	require.ErrorIs(t, err, store.ErrInUse)
	attempt(t, r)
	require.NoError(t, os.WriteFile(r.Path(store.LedgerFile), []byte("spent"), 0o600))
	require.NoError(t, r.Store.Close())
	_, err = keptrun.Create(dir, store.Run{}, false)
	require.ErrorIs(t, err, store.ErrInUse)
	require.FileExists(t, r.Path(store.LedgerFile))

	id := r.Store.Run().ID
	r, err = keptrun.Create(dir, store.Run{}, true)
	require.NoError(t, err)
	require.NotEqual(t, id, r.Store.Run().ID)
	require.NoFileExists(t, r.Path(store.LedgerFile))
	require.NoFileExists(t, r.Path(runpage.JournalFile))
	require.NoError(t, r.Store.Close())
	_, err = keptrun.Open(filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, store.ErrNoRun)
}

func TestAJournalInMemoryIsReadBack(t *testing.T) {
	j := keptrun.NewJournal()
	_, err := j.Write([]byte(`{"kind":"step"}` + "\n"))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	lines, err := j.Lines()
	require.NoError(t, err)
	res, err := journal.Verify(bytes.NewReader(lines), journal.VerifyOptions{Head: j.Head()})
	require.NoError(t, err)
	require.True(t, res.OK())
}
