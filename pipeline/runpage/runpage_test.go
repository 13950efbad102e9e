// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package runpage_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardefou/gardefou/callbacks/codes"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents"
	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/browsertest"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/sources"
)

// folder researches the sample supplier and writes the run's folder.
func folder(t *testing.T, name string, o pipeline.Options) (dir string, out *pipeline.Outcome) {
	t.Helper()
	var err error
	o.Sources, err = sources.New(sources.Options{})
	require.NoError(t, err)
	var lines bytes.Buffer
	chain := journal.NewWriter(&lines)
	o.Journal = chain
	if o.Model == nil {
		o.Model = offline.Model{}
	}
	p, err := pipeline.New(o)
	require.NoError(t, err)
	out, err = p.Run(t.Context(), o.Sources.Resolve(t.Context(), name).Subject, name)
	require.NoError(t, err)
	require.NoError(t, chain.Close())
	all, err := runpage.Files(out, lines.Bytes(), chain.Head(), o.Lang, "")
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, files.Write(dir, all...))
	return dir, out
}

// A person who sees only this page knows what happened, what it cost and what to do
// next; every link leads to a page that is there.
func TestRunPageInABrowser(t *testing.T) {
	b := browsertest.Start(t)
	s := standin.Gemini(t, offline.Model{}, nil)
	t.Setenv("GEMINI_API_KEY", standin.Key)
	real, err := models.New(t.Context(), models.Options{Name: "gemini-2.5-flash", BaseURL: s.URL})
	require.NoError(t, err)
	accounts, err := ledger.NewMemory(ledger.MemoryOptions{})
	require.NoError(t, err)
	gate := guards.Spend(guards.SpendOptions{Backend: "gemini", Ledger: accounts, Prices: prices.Default(), Limits: ledger.Limits{Hard: 2_000_000}})
	require.NoError(t, gate.Err)
	for name, tc := range map[string]struct {
		supplier string
		o        pipeline.Options
		want     []string
	}{
		"whole":  {"Transports Kervalec", pipeline.Options{}, []string{"ended as it should: done", "LOW RISK", "standard process", "8\t", "Look at this supplier again"}},
		"calls":  {"Bâtisseurs du Menhir", pipeline.Options{Setup: agents.Setup{MaxCalls: 4}, Lang: "fr"}, []string{"tours épuisés", "--max-calls", "Ce qui manque", "Données fictives"}},
		"budget": {"Transports Kervalec", pipeline.Options{Setup: agents.Setup{Model: real, Spend: gate}}, []string{"budget exhausted", "--budget", "$0.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := folder(t, tc.supplier, tc.o)
			index := (&url.URL{Scheme: "file", Path: filepath.Join(dir, runpage.IndexFile)}).String()
			b.Told()
			for _, width := range []int64{1000, 360} {
				browsertest.See(t, b, chromedp.EmulateViewport(width, 780))
				browsertest.See(t, b, chromedp.Navigate(index))
				require.LessOrEqual(t, browsertest.See(t, b, chromedp.Evaluate[float64](browsertest.Width)), float64(width))
				if width > 500 {
					require.Empty(t, browsertest.BrokenWords(t, b))
				}
			}
			seen := browsertest.Text(t, b, "main")
			for _, want := range append(tc.want, out.Result.Reason, out.Report.Answer(report.Lang(text.Parse(tc.o.Lang))).Next) {
				require.Contains(t, seen, want)
			}
			browsertest.Keep(t, b, "run-"+name)
			complaints, _ := b.Told()
			require.Empty(t, complaints)
			for _, link := range browsertest.See(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#files + ul a")].map(a => a.getAttribute("href"))`)) {
				require.FileExists(t, filepath.Join(dir, link))
				if !strings.HasSuffix(link, ".html") {
					continue
				}
				browsertest.See(t, b, chromedp.Navigate(index))
				browsertest.Follow(t, b, link)
				require.NotEmpty(t, browsertest.Text(t, b, "h1"))
			}
			data, err := os.ReadFile(filepath.Join(dir, runpage.JournalFile))
			require.NoError(t, err)
			r, err := journal.Verify(bytes.NewReader(data), journal.VerifyOptions{})
			require.NoError(t, err)
			require.True(t, r.OK())
			require.Contains(t, seen, r.Head.String())
		})
	}
}

// A ledger or counters that are gone ask for a look at their store, and not for more money
// or another model.
func TestRunPageWithoutAStore(t *testing.T) {
	_, out := folder(t, "Transports Kervalec", pipeline.Options{})
	for _, code := range []codes.Code{codes.LedgerFailed, codes.CountersFailed} {
		out.Result = callbacks.Result{Status: callbacks.StatusFailed, Code: code, Reason: "connection refused"}
		all, err := runpage.Files(out, nil, journal.Head{}, "en", "duediligence resume dossier")
		require.NoError(t, err)
		i := slices.IndexFunc(all, func(f files.File) bool { return f.Name == runpage.IndexFile })
		page := string(all[i].Data)
		require.Contains(t, page, "connection refused")
		require.Contains(t, page, "duediligence resume")
		require.NotContains(t, page, "more money")
		require.NotContains(t, page, "duediligence doctor")
	}
}

// Only a limit that was hit is advised to be raised, and none that no option raises.
func TestRunPageAfterAnAgentsOwnLimit(t *testing.T) {
	_, out := folder(t, "Transports Kervalec", pipeline.Options{})
	page := func(r callbacks.Result, lang string) string {
		out.Result = r
		all, err := runpage.Files(out, nil, journal.Head{}, lang, "")
		require.NoError(t, err)
		i := slices.IndexFunc(all, func(f files.File) bool { return f.Name == runpage.IndexFile })
		return string(all[i].Data)
	}
	for _, s := range []callbacks.Status{callbacks.StatusCallsExhausted, callbacks.StatusTokensExhausted} {
		own := callbacks.Result{Status: s, Guard: "call_budget", Agent: agents.Writer, Reason: "6 of 6"}
		require.NotContains(t, page(own, "en"), "--max-calls", s)
		require.Contains(t, page(own, "en"), "writer used all that one agent has", s)
		require.Contains(t, page(own, "fr"), "aucune option ne lui donne plus", s)
	}
	all := callbacks.Result{Status: callbacks.StatusCallsExhausted, Guard: agents.RunBudget, Agent: agents.Writer}
	require.Contains(t, page(all, "en"), "--max-calls")
	require.NotContains(t, page(all, "en"), "used all that one agent has")
}
