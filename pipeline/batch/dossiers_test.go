// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/dossiers"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
)

// brittle is the offline model under another name. It fails or ends the batch at a call.
type brittle struct {
	offline.Model
	name   string
	calls  *atomic.Int64
	failAt int64 // no call is made from here on; 0 never fails
	end    func()
}

func (m brittle) Name() string { return m.name }

func (m brittle) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	if n := m.calls.Add(1); m.failAt > 0 && n >= m.failAt {
		if m.end != nil {
			m.end()
		}
		return func(yield func(*model.LLMResponse, error) bool) { yield(nil, errors.New("overloaded")) }
	}
	return m.Model.GenerateContent(ctx, req, stream)
}

// question is what a batch of these tests asks.
type question struct {
	Day    time.Time
	Replay bool
	Model  string
}

// ask returns the options of a batch on a question.
func (q question) ask(t testing.TB, dir string, recording sources.Options) batch.Options {
	t.Helper()
	so := sources.Options{}
	if q.Replay {
		so = recording
	}
	so.AsOf = q.Day
	c, err := sources.New(so)
	require.NoError(t, err)
	settings, err := json.Marshal(q)
	require.NoError(t, err)
	o := options(t, dir)
	o.Pipeline.Sources = c
	o.Pipeline.Model = brittle{name: q.Model, calls: new(atomic.Int64)}
	o.Keep = &batch.Keep{Settings: settings, Same: func(r store.Run) bool {
		var before question
		return json.Unmarshal(r.Settings, &before) == nil && before == q
	}}
	return o
}

// recorded records what a list asks for and returns how to replay it.
func recorded(t *testing.T, list string) sources.Options {
	t.Helper()
	srv := httptest.NewServer(sources.SampleHandler())
	t.Cleanup(srv.Close)
	so := sources.Options{
		Mode: sources.ModeRecord, Dir: t.TempDir(), AllowPrivateHosts: true, AsOf: sources.SampleDate,
		BaseURLs: sources.BaseURLs{RechercheEntreprises: srv.URL, BODACC: srv.URL, Ratios: srv.URL, AssetFreezes: srv.URL, GDELT: srv.URL, GLEIF: srv.URL, VIES: srv.URL},
	}
	c, err := sources.New(so)
	require.NoError(t, err)
	o := options(t, t.TempDir())
	o.Pipeline.Sources = c
	_, err = batch.Run(t.Context(), strings.NewReader(list), o)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	so.Mode = sources.ModeReplay
	return so
}

func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// finished are the files of the dossiers in the homes of dir that are finished.
func finished(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	homes, err := filepath.Glob(filepath.Join(dir, "[0-9]*"))
	require.NoError(t, err)
	for _, home := range homes {
		for _, d := range dossiers.Folders(home) {
			r, err := store.Read(filepath.Join(d, store.Folder))
			if _, serr := os.Stat(filepath.Join(d, "index.html")); serr != nil || err == nil && !(dossiers.Dossier{Dir: d, Run: r}).Whole() {
				continue
			}
			for path, data := range contents(t, d) {
				if !slices.ContainsFunc(dossiers.Folders(d)[1:], func(later string) bool { return strings.HasPrefix(path, later+string(filepath.Separator)) }) {
					files[path] = data
				}
			}
		}
	}
	return files
}

// reportIn is the report in the folder that a summary names.
func reportIn(t testing.TB, dir, folder string) report.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(folder), "report.json"))
	require.NoError(t, err)
	r, err := report.Parse(data)
	require.NoError(t, err)
	return r
}

// Whatever batches follow one another in a folder, with other days, models and sources,
// failing and interrupted, with runs kept and not: no byte of a finished dossier changes,
// and each row leads to the dossier that it sums up.
func TestNoByteOfAFinishedDossierChanges(t *testing.T) {
	list := "Transports Kervalec\nBâtisseurs du Menhir\n999 991 011\n"
	recording := recorded(t, list)
	for range 2 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		dir := t.TempDir()
		kept := map[string]string{}
		for range 8 {
			q := question{sources.SampleDate.AddDate(0, -rnd.IntN(3), 0), rnd.IntN(4) == 0, []string{"a", "b"}[rnd.IntN(2)]}
			if q.Replay {
				q.Day = sources.SampleDate
			}
			o := q.ask(t, dir, recording)
			o.Jobs = 1 + rnd.IntN(2)
			ctx, cancel := context.WithCancel(t.Context())
			m := brittle{name: q.Model, calls: new(atomic.Int64)}
			switch rnd.IntN(4) {
			case 0:
				m.failAt = 1 + rnd.Int64N(16)
			case 1:
				m.failAt, m.end = 1+rnd.Int64N(16), cancel
			case 2:
				o.Keep = nil
			}
			o.Pipeline.Model = m
			_, err := batch.Run(ctx, strings.NewReader(list), o)
			cancel()
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
			now := contents(t, dir)
			for path, data := range kept {
				if now[path] != data {
					t.Fatalf("seed %d: %+v changed %s", seed, q, path)
				}
			}
			maps.Copy(kept, finished(t, dir))
			if err != nil {
				continue
			}
			page, err := os.ReadFile(filepath.Join(dir, "index.html"))
			require.NoError(t, err)
			for _, row := range summary(t, dir) {
				r := reportIn(t, dir, row["folder"])
				require.Equal(t, row["siren"], r.Subject.SIREN)
				require.Equal(t, row["report_id"], r.ID)
				require.Equal(t, q.Day.Format(time.DateOnly), r.AsOf)
				require.Contains(t, string(page), `<a href="`+row["folder"]+`/index.html">`)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// A report of another day, or about other data, is made beside the one that is there.
func TestALaterBatchStandsBesideTheEarlier(t *testing.T) {
	const list = "Transports Kervalec\n"
	dir, recording := t.TempDir(), recorded(t, list)
	run := func(q question, want batch.Summary, folder string) {
		t.Helper()
		sum, err := batch.Run(t.Context(), strings.NewReader(list), q.ask(t, dir, recording))
		require.NoError(t, err)
		require.Equal(t, want, sum, summary(t, dir))
		require.Equal(t, folder, summary(t, dir)[0]["folder"], summary(t, dir)[0]["error"])
	}
	day := sources.SampleDate.Format(time.DateOnly)
	spring := question{Day: sources.SampleDate.AddDate(0, -6, 0)}
	today, replayed := question{Day: sources.SampleDate}, question{Day: sources.SampleDate, Replay: true}
	run(spring, batch.Summary{Done: 1}, "999991011")
	run(spring, batch.Summary{Kept: 1}, "999991011")
	run(today, batch.Summary{Done: 1}, "999991011/"+day)
	run(replayed, batch.Summary{Done: 1}, "999991011/"+day+"-2")
	run(today, batch.Summary{Kept: 1}, "999991011/"+day)
	run(replayed, batch.Summary{Kept: 1}, "999991011/"+day+"-2")
	run(spring, batch.Summary{Kept: 1}, "999991011")
}

// A run that failed goes on in its place where the next batch asks the same, and stays as it
// is where that asks something else.
func TestAnUnfinishedRunGoesOnInItsPlace(t *testing.T) {
	const list = "Transports Kervalec\n"
	dir := t.TempDir()
	run := func(q question, failAt int64) (sum batch.Summary, calls int64) {
		o := q.ask(t, dir, sources.Options{})
		m := brittle{name: q.Model, calls: new(atomic.Int64), failAt: failAt}
		o.Pipeline.Model = m
		sum, err := batch.Run(t.Context(), strings.NewReader(list), o)
		require.NoError(t, err)
		return sum, m.calls.Load()
	}
	a, b := question{sources.SampleDate, false, "a"}, question{sources.SampleDate.AddDate(0, 0, -1), false, "b"}
	sum, _ := run(a, 5)
	require.Equal(t, batch.Summary{Partial: 1}, sum)
	stopped := contents(t, filepath.Join(dir, "999991011"))
	sum, whole := run(b, 0)
	require.Equal(t, batch.Summary{Done: 1}, sum)
	now := contents(t, filepath.Join(dir, "999991011"))
	for path, data := range stopped {
		require.Equal(t, data, now[path], path)
	}
	sum, calls := run(a, 0)
	require.Equal(t, batch.Summary{Done: 1}, sum)
	require.Less(t, calls, whole, "what was answered is not asked again")
	require.Equal(t, "999991011", summary(t, dir)[0]["folder"])
	require.NoDirExists(t, filepath.Join(dir, "999991011", sources.SampleDate.Format(time.DateOnly)))
}

// What a folder of a supplier holds of others', or of a run that can't be read, stays as it is.
func TestWhatStandsInAHomeStays(t *testing.T) {
	for name, path := range map[string]string{"a contract": "contract.pdf", "a page": "index.html", "a broken run": "run/run.json", "a report": "report.json"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "999991011", path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
			for _, want := range []batch.Summary{{Done: 1}, {Kept: 1}} {
				sum, err := batch.Run(t.Context(), strings.NewReader("Transports Kervalec\n"), question{Day: sources.SampleDate}.ask(t, dir, sources.Options{}))
				require.NoError(t, err)
				require.Equal(t, want, sum, summary(t, dir))
				require.Equal(t, "999991011/"+sources.SampleDate.Format(time.DateOnly), summary(t, dir)[0]["folder"])
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, "{", string(data))
			}
		})
	}
}

func TestADossierOfAnotherSupplierInAHomeIsRefused(t *testing.T) {
	dir := t.TempDir()
	q := question{Day: sources.SampleDate}
	_, err := batch.Run(t.Context(), strings.NewReader("Transports Kervalec\n"), q.ask(t, dir, sources.Options{}))
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "999991011"), filepath.Join(dir, "999991029")))
	before := contents(t, filepath.Join(dir, "999991029"))
	sum, err := batch.Run(t.Context(), strings.NewReader("Bâtisseurs du Menhir\n"), q.ask(t, dir, sources.Options{}))
	require.NoError(t, err)
	require.Equal(t, batch.Summary{Failed: 1}, sum)
	require.Contains(t, summary(t, dir)[0]["error"], "the dossier of another supplier, TRANSPORTS KERVALEC")
	require.Equal(t, before, contents(t, filepath.Join(dir, "999991029")))
}

// A batch replaces the summary and the overview of a batch, and no other file of its folder.
func TestAFolderOfSomebodyElseIsRefused(t *testing.T) {
	list := "Transports Kervalec\n"
	for name, path := range map[string]string{"a page": "index.html", "a table": "summary.csv", "a folder": "summary.csv/x", "a run": "run/run.json", "a dated run": "2026-11-15/run/run.json"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte("row,mine\n"), 0o600))
			before := contents(t, dir)
			var refused *batch.FolderError
			_, err := batch.Run(t.Context(), strings.NewReader(list), options(t, dir))
			require.ErrorAs(t, err, &refused)
			require.Contains(t, refused.Error(), dir)
			o := options(t, dir)
			o.Pipeline.Lang = "fr"
			_, err = batch.Run(t.Context(), strings.NewReader(list), o)
			require.ErrorContains(t, err, "donner un autre dossier")
			require.Equal(t, before, contents(t, dir))
		})
	}
	dir := t.TempDir()
	for _, name := range []string{"list.csv", ".rows-mine", ".seen-"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
	}
	for range 2 {
		_, err := batch.Run(t.Context(), strings.NewReader(list), options(t, dir))
		require.NoError(t, err)
		now := contents(t, dir)
		for _, name := range []string{"list.csv", ".rows-mine", ".seen-"} {
			require.Equal(t, "mine", now[filepath.Join(dir, name)])
		}
	}
}
