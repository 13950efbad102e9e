// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/dossiers"
)

const journalHelp = `Reads the journal of runs: the file of --journal, or that of an output folder, also where the
run there was stopped before it wrote a report. A folder that holds several dossiers of a
supplier stands for the journals of all, the oldest first.

Every line of a journal carries the hash of the line before it. A journal that grew
into several files (run.000001.jsonl, …, run.jsonl) is named by its last, or by its
folder. Where several files are given each is read as it is, in that order.`

func newJournalCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "journal", Short: "Verify, count and show the journal of runs", Long: journalHelp, Args: subcommands, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newJournalVerifyCommand(), newJournalStatsCommand(), newJournalShowCommand())
	return cmd
}

// journalFiles are the files that the arguments name: a folder, and a file given alone,
// stands for all files of its journal. Of several files each is itself alone.
func journalFiles(args []string) []string {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err == nil && info.IsDir():
			for _, path := range dossiers.Journals(arg) {
				files = append(files, journal.Files(path)...)
			}
		case len(args) == 1:
			files = journal.Files(arg)
		default:
			files = append(files, arg)
		}
	}
	return files
}

func newJournalVerifyCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR...",
		Short: "Find edited, removed, inserted, moved and cut lines",
		Long: `Verifies the chain of a journal and says where it was edited, where lines were removed,
inserted or moved, and whether it was cut.

A chain can't show by itself that a journal was cut right after an earlier closing
record or was written anew as a whole. Note the head that a run prints somewhere else
and hand it to --head, with the folder of that very run.

Where a folder holds several dossiers the journal of each is verified, and with --json each
has a line.

Exit codes: 0 whole; 1 faults were found; 2 the file can't be read.`,
		Example: "  duediligence journal verify dossier/\n  duediligence journal verify runs.jsonl --head 42:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := c.language()
			if err != nil {
				return err
			}
			var o journal.VerifyOptions
			if c.head != "" {
				if o.Head, err = journal.ParseHead(c.head); err != nil {
					return refuse("--head: %v", err)
				}
			}
			return verify(cmd.OutOrStdout(), lang, o, args, c.asJSON)
		},
	}
	c.register(cmd, onVerify)
	return cmd
}

// verify verifies what the arguments name: files as one journal, and the journal of each
// dossier of a folder by itself.
func verify(w io.Writer, lang text.Lang, o journal.VerifyOptions, args []string, asJSON bool) error {
	journals := [][]string{journalFiles(args)}
	var names []string
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() && len(args) == 1 {
		if names = dossiers.Journals(args[0]); len(names) > 1 {
			journals = journals[:0]
			for _, path := range names {
				journals = append(journals, journal.Files(path))
			}
		}
	}
	if len(journals) > 1 && o.Head != (journal.Head{}) {
		return refuseIn(lang, text.JournalWhichHead, args[0], strings.Join(names, ", "))
	}
	ok := true
	for i, files := range journals {
		r, err := journal.VerifyFiles(o, files...)
		if err != nil {
			return refuse("%v", err)
		}
		ok = ok && r.OK()
		switch {
		case asJSON:
			err = json.NewEncoder(w).Encode(r)
		case len(journals) > 1:
			if _, err = fmt.Fprintln(w, names[i]); err == nil {
				err = printVerified(w, lang, r, false)
			}
		default:
			err = printVerified(w, lang, r, o.Head != (journal.Head{}))
		}
		if err != nil {
			return failed(err)
		}
	}
	if !ok {
		return &exitError{code: exitFailed}
	}
	return nil
}

func printVerified(w io.Writer, lang text.Lang, r journal.Report, headGiven bool) error {
	var sb strings.Builder
	if r.OK() {
		sb.WriteString(text.Get(lang, text.JournalWhole, r.Lines, r.Head) + "\n")
		if !headGiven {
			sb.WriteString(text.Get(lang, text.JournalNoHead) + "\n")
		}
	} else {
		sb.WriteString(text.Get(lang, text.JournalFaults, len(r.Faults), r.Lines) + "\n")
	}
	for _, f := range r.Faults {
		line, colon := "  ", ": "
		if lang == text.French {
			colon = " : "
		}
		if f.File != "" {
			line += f.File + ", "
		}
		line += text.Get(lang, text.JournalAt, f.Line) + colon + text.Get(lang, text.Key("journal.fault."+string(f.Kind)))
		if f.From > 0 {
			line += " (" + text.Get(lang, text.JournalMissing, f.From, max(f.From, f.To)) + ")"
		}
		sb.WriteString(line + "\n")
	}
	if r.Recovered > 0 {
		sb.WriteString(text.Get(lang, text.JournalRecovered, r.Recovered) + "\n")
	}
	if r.Lost > 0 {
		sb.WriteString(text.Get(lang, text.JournalLost, r.Lost) + "\n")
	}
	_, err := fmt.Fprint(w, sb.String())
	return err
}
