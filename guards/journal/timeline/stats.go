// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
)

// WriteStats writes the figures of a journal as tables for a terminal.
func WriteStats(w io.Writer, s journal.Stats, lang string) error {
	t := texts{text.Parse(lang)}
	var sb strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&sb, format+"\n", args...) }
	line("%s", t.get(text.StatsRuns, s.Runs.Total, percent(s.Runs.OtherThanDone)))
	for _, status := range slices.SortedFunc(maps.Keys(s.Runs.ByStatus), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Runs.ByStatus[b], s.Runs.ByStatus[a]), cmp.Compare(a, b))
	}) {
		line("  %6d  %s", s.Runs.ByStatus[status], printable(t.get(text.Key("run."+status))))
	}
	if s.Reserved > 0 {
		line("%s", t.get(text.StatsMoney, s.Charged, s.Reserved))
	}
	if s.Unreadable > 0 {
		line("%s", t.get(text.TimelineBad, s.Unreadable))
	}
	if s.Lost > 0 {
		line("%s", t.get(text.JournalLost, s.Lost))
	}
	t.tables(&sb, s)
	if len(s.Turns) > 0 {
		line("\n%s", t.get(text.StatsTurns))
		for _, n := range slices.Sorted(maps.Keys(s.Turns)) {
			line("%s", t.get(text.StatsTurnsLine, n, s.Turns[n]))
		}
	}
	if len(s.Slowest) > 0 {
		line("\n%s", t.get(text.StatsSlowest))
		for _, e := range s.Slowest {
			line("  %6d ms  %-22s %s", e.MS, printable(e.Agent), printable(cmp.Or(e.Tool, e.Model)))
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

func (t texts) tables(sb *strings.Builder, s journal.Stats) {
	w := tabwriter.NewWriter(sb, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\n", t.get(text.StatsAgents))
	for _, a := range s.Agents {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%d (%s)\t%d\t%d\t%d\n", printable(a.Agent), a.Runs, a.Calls, a.In, a.Out+a.Thinking,
			percent(a.CacheShare), a.Charged, a.Refusals, a.Landings, percent(a.LandingRate), a.P50, a.P95, a.Suggested)
	}
	fmt.Fprintf(w, "\n%s\n", t.get(text.StatsTools))
	for _, a := range s.Tools {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", printable(a.Tool), a.Calls, a.Errors, a.Refusals, a.MeanMS, a.MaxMS, a.Charged)
	}
	if len(s.Guards) > 0 {
		fmt.Fprintf(w, "\n%s\n", t.get(text.StatsGuards))
		for _, g := range s.Guards {
			fmt.Fprintf(w, "%s\t%s\t%d\n", printable(cmp.Or(g.Guard, "-")), printable(g.Code), g.Refusals)
		}
	}
	w.Flush()
	fmt.Fprintf(sb, "\n%s\n", t.get(text.StatsSuggest))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
