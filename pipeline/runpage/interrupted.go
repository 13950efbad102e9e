// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package runpage

import (
	"bytes"
	"fmt"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/timeline"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Interrupted returns index.html alone, for a run on s that was interrupted before it came
// to a report. lines is its closed journal, journalFile that journal's path from the page,
// head names its last line, goOn is the command that resumes the run. lang is "en" or "fr".
func Interrupted(s supplier.Subject, lines []byte, journalFile string, head journal.Head, lang, goOn string) (files.File, error) {
	t := text.Parse(lang)
	runs, _, err := timeline.Runs(journal.Entries(bytes.NewReader(lines)))
	if err != nil {
		return files.File{}, fmt.Errorf("runpage: %w", err)
	}
	data, err := page{
		Lang: string(t), t: t, Title: s.LegalName, Head: head.String(),
		Sentence: text.Get(t, text.PageInterrupted),
		Facts:    []pair{{text.Get(t, text.PageSupplier), s.LegalName + " " + s.SIREN}},
		Next:     []string{text.Get(t, text.PageNextResume, goOn)},
		Links:    []link{{journalFile, text.Get(t, text.PageLines)}},
	}.html(runs)
	return files.File{Name: IndexFile, Data: data}, err
}
