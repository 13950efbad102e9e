// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/timeline"
	"github.com/gardefou/gardefou/internal/text"
)

func newJournalStatsCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "stats FILE|DIR...",
		Short: "Count calls, tokens, money and refusals per agent and tool",
		Long: `Counts what a journal holds: how runs ended; per agent calls, tokens, money, refusals,
landings (answers forced on the last call), the 50th and 95th percentile of its calls in
a run and the limit they suggest; per tool calls, errors and time; what guards refused;
turns; the slowest calls. Several files are counted as one.`,
		Example: "  duediligence journal stats runs.jsonl\n  duediligence journal stats dossiers/*/journal.jsonl --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := c.language()
			if err != nil {
				return err
			}
			s, err := journal.Count(journal.FileEntries(journalFiles(args)...))
			if err != nil {
				return refuse("%v", err)
			}
			if c.asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(s)
			} else {
				err = timeline.WriteStats(cmd.OutOrStdout(), s, string(lang))
			}
			if err != nil {
				return failed(err)
			}
			return nil
		},
	}
	c.register(cmd, onStats)
	return cmd
}

func newJournalShowCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "show FILE|DIR...",
		Short: "Show runs step by step, or as an HTML page",
		Long: `Shows each run of a journal: when, which agent, what it did, how that ended and why.
With --html it prints one page with a timeline per agent, what was refused and why, and
what each agent cost; it fetches nothing and needs no script.`,
		Example: "  duediligence journal show dossier/\n  duediligence journal show runs.jsonl --run ID\n  duediligence journal show runs.jsonl --html > runs.html",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := c.language()
			if err != nil {
				return err
			}
			runs, unreadable, err := timeline.Runs(journal.FileEntries(journalFiles(args)...))
			if err != nil {
				return refuse("%v", err)
			}
			if c.run != "" {
				runs = slices.DeleteFunc(runs, func(r *timeline.Run) bool { return r.ID != c.run })
				if len(runs) == 0 {
					return &exitError{exitNotFound, "duediligence: the journal holds no run " + c.run + "; show without --run lists all"}
				}
			}
			if !c.asHTML {
				err = timeline.WriteText(cmd.OutOrStdout(), runs, string(lang))
				if err == nil && len(runs) == 0 {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), text.Get(lang, text.TimelineEmpty))
				}
				if err == nil && unreadable > 0 {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), text.Get(lang, text.TimelineBad, unreadable))
				}
				if err != nil {
					return failed(err)
				}
				return nil
			}
			page, err := timeline.HTML(runs, unreadable, string(lang))
			if err == nil {
				_, err = cmd.OutOrStdout().Write(page)
			}
			if err != nil {
				return failed(err)
			}
			return nil
		},
	}
	c.register(cmd, onShow)
	return cmd
}
