// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/journal/timeline"
	"github.com/gardefou/gardefou/internal/browsertest"
)

// lines is a journal of two runs side by side, the second of which was killed, with what
// a hostile model or tool would like to put on the page.
const lines = `{"kind":"open","ts":"2026-11-15T09:00:00Z","format":"gardefou.journal/1"}
{"kind":"run","ts":"2026-11-15T09:00:00Z","run":"ONE"}
{"kind":"model","ts":"2026-11-15T09:00:01Z","run":"ONE","agent":"registry_researcher","model":"gemini-2.5-flash","attempts":1,"tokens_in":400,"tokens_out":30,"tokens_thinking":10,"outcome":"allowed","ms":900}
{"kind":"run","ts":"2026-11-15T09:00:01Z","run":"TWO\u001b[2J"}
{"kind":"tool","ts":"2026-11-15T09:00:01.5Z","run":"ONE","agent":"registry_researcher","tool":"lookup_registry","args":{"supplier":"</title><script>alert(1)</script>\u001b[2J\u202e"},"outcome":"allowed","ms":400}
{"kind":"tool","ts":"2026-11-15T09:00:02Z","run":"ONE","agent":"finance_researcher","tool":"pay","args":{},"error":true,"outcome":"refused","guard":"allow_tools","code":"tool_not_allowed","reason":"tool not allowed: <b>pay</b>","ms":0}
{"kind":"refusal","ts":"2026-11-15T09:00:02Z","run":"ONE","agent":"finance_researcher","step":"tool","tool":"pay","guard":"allow_tools","code":"tool_not_allowed","reason":"tool not allowed: <b>pay</b>","outcome":"refused"}
{"kind":"model","ts":"2026-11-15T09:00:02Z","run":"TWO\u001b[2J","agent":"writer","model":"m","attempts":1,"tokens_in":1,"outcome":"failed","ms":5}
{"kind":"refusal","ts":"2026-11-15T09:00:03Z","run":"ONE","agent":"writer","step":"model","guard":"spend","code":"budget_exhausted","reason":"$0.02 of $0.02","outcome":"refused","stop":true}
{"kind":"spend","ts":"2026-11-15T09:00:03Z","run":"ONE","agent":"registry_researcher","what":"gemini-2.5-flash","calls":1,"refused":0,"reserved":"0.02","charged":"0.0015","overrun":"0.00"}
{"kind":"end","ts":"2026-11-15T09:00:03Z","run":"ONE","status":"budget_exhausted","reason":"$0.02 of $0.02","model_calls":1,"tool_calls":2,"refusals":2}
half a line`

func runs(t *testing.T, in string) ([]*timeline.Run, int) {
	t.Helper()
	out, unreadable, err := timeline.Runs(journal.Entries(strings.NewReader(in)))
	require.NoError(t, err)
	return out, unreadable
}

func TestRuns(t *testing.T) {
	rs, unreadable := runs(t, lines)
	require.Equal(t, 1, unreadable)
	require.Len(t, rs, 2)
	require.Equal(t, "ONE", rs[0].ID)
	require.Equal(t, []string{"registry_researcher", "finance_researcher", "writer"}, rs[0].Agents())
	require.Equal(t, "budget_exhausted", rs[0].Last.Status)
	require.Equal(t, "unfinished", rs[1].Last.Status)
	cost := rs[0].Costs()[0]
	require.Equal(t, timeline.Cost{Agent: "registry_researcher", Calls: 1, Tokens: 440, Charged: 1_500_000}, cost)
	require.InDelta(t, 3, rs[0].End.Sub(rs[0].Start).Seconds(), 1e-9)
}

func TestText(t *testing.T) {
	rs, _ := runs(t, lines)
	for lang, want := range map[string][]string{
		"en": {"budget exhausted ($0.02 of $0.02)", "Cost: $0.0015.", "tool not allowed: <b>pay</b>", "refused [spend]", "unfinished"},
		"fr": {"budget épuisé", "Coût : $0.0015.", "refusé [spend]", "inachevé"},
	} {
		var out bytes.Buffer
		require.NoError(t, timeline.WriteText(&out, rs, lang))
		for _, w := range want {
			require.Contains(t, out.String(), w)
		}
		require.NotContains(t, out.String(), "\x1b")
		require.NotContains(t, out.String(), "\u202e")
		require.Equal(t, 1, strings.Count(out.String(), "<b>pay</b>"), "a refused call is one line")
	}
	var out bytes.Buffer
	s, err := journal.Count(journal.Entries(strings.NewReader(lines)))
	require.NoError(t, err)
	require.NoError(t, timeline.WriteStats(&out, s, "fr"))
	require.Contains(t, out.String(), "Exécutions : 2 ; fin autre que terminée : 100 %")
}

func TestManyRunsAreBounded(t *testing.T) {
	var sb strings.Builder
	for i := range 130 {
		fmt.Fprintf(&sb, `{"kind":"run","ts":"2026-11-15T09:00:00Z","run":"R%d"}`+"\n", i)
	}
	rs, _ := runs(t, sb.String())
	page, err := timeline.HTML(rs, 0, "en")
	require.NoError(t, err)
	require.Equal(t, 100, strings.Count(string(page), "<section>"))
	require.Contains(t, string(page), "30 older runs")
	empty, err := timeline.HTML(nil, 0, "fr")
	require.NoError(t, err)
	require.Contains(t, string(empty), "aucune exécution")
}

// The page in a real browser: nothing logged, nothing fetched, nothing of the journal
// taken for markup, a bar for each step.
func TestTimelineInABrowser(t *testing.T) {
	b := browsertest.Start(t)
	rs, unreadable := runs(t, lines)
	for _, lang := range []string{"en", "fr"} {
		page, err := timeline.HTML(rs, unreadable, lang)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), lang+".html")
		require.NoError(t, os.WriteFile(file, page, 0o600))
		address := (&url.URL{Scheme: "file", Path: file}).String()
		for _, width := range []int64{360, 1000} {
			b.Told()
			browsertest.See(t, b, chromedp.EmulateViewport(width, 780))
			browsertest.See(t, b, chromedp.Navigate(address))
			require.LessOrEqual(t, browsertest.See(t, b, chromedp.Evaluate[float64](browsertest.Width)), float64(width))
			require.InDelta(t, 5, browsertest.See(t, b, chromedp.Evaluate[float64]("document.querySelectorAll('svg.lanes rect').length")), 0)
			require.Contains(t, browsertest.Text(t, b, "table.refusals"), "<b>pay</b>")
			require.Contains(t, browsertest.Text(t, b, "p.ended"), "$0.0015")
			browsertest.Keep(t, b, fmt.Sprintf("journal-%s-%d", lang, width))
			complaints, requests := b.Told()
			require.Empty(t, complaints)
			for _, r := range requests {
				require.Equal(t, address, r)
			}
		}
	}
}
