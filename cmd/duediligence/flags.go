// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

type flags struct {
	model        string
	baseURL      string
	allowHTTP    string
	modelTimeout time.Duration
	source       string
	sourceURLs   map[string]string
	allowPrivate bool
	cache        string
	asOf         string
	modelFile    string
	maxCalls     int
	timeout      time.Duration
	budget       string
	softBudget   string
	targetBudget string
	ledger       string
	priceFile    string

	approve       func(context.Context, *ledger.DeniedError) bool
	onTarget      func(context.Context, ledger.Receipt)
	closeLedger   func() error
	onTelemetry   func(error)
	onUnusable    func(rows int) // of the price file
	table         *prices.Table  // once it is read
	stopTelemetry func()
	kept          *store.Store // the run in the output folder; nil where there is none
	raise         string       // what a resumed run may spend, or how much more
	hard          ledger.Nano  // what the run may spend
	lang          string
	quiet         bool

	siren       string
	format      string
	out         string
	fresh       bool
	replace     bool
	journal     string
	journalSize int64
	since       string
	failOn      string
	purchases   int64
}

var formats = []string{"short", "md", "json", "html", "csv"}

// ratings are those --fail-on can name, from the least grave.
var ratings = []risk.Rating{risk.RatingLow, risk.RatingMedium, risk.RatingHigh, risk.RatingCritical, risk.RatingStop}

// check refuses what no run could make sense of, before anything is asked.
func (f *flags) check() error {
	switch {
	case f.maxCalls < 1:
		return refuse("--max-calls must be at least 1, got %d", f.maxCalls)
	case f.timeout <= 0:
		return refuse("--timeout must be more than 0, got %s", f.timeout)
	case f.format != "" && !slices.Contains(formats, f.format):
		return refuse("--format must be one of %s, got %q", strings.Join(formats, ", "), f.format)
	case f.failOn != "" && (f.threshold() < 1):
		return refuse("--fail-on must be medium, high, critical or stop, got %q", f.failOn)
	case f.journalSize < 0:
		return refuse("--journal-max-bytes must not be negative, got %d", f.journalSize)
	case f.purchases < 0:
		return refuse("--annual-purchases must not be negative, got %d", f.purchases)
	}
	_, err := f.prices() // also where nothing is priced: a file that was named is meant to be used
	return err
}

// threshold is the place of --fail-on among the ratings; below 1 it is none.
func (f *flags) threshold() int {
	return slices.Index(ratings, risk.Rating(strings.ToUpper(f.failOn)))
}

func (f *flags) language() (text.Lang, error) {
	switch f.lang {
	case "":
		for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if v := os.Getenv(name); v != "" {
				return text.Parse(v), nil
			}
		}
		return text.English, nil
	case string(text.English), string(text.French):
		return text.Lang(f.lang), nil
	default:
		return "", refuse("--lang must be en or fr, got %q", f.lang)
	}
}

// llm makes the model. A key in the environment never chooses one by itself.
func (f *flags) llm(ctx context.Context, lang text.Lang) (model.LLM, error) {
	m, err := models.New(ctx, models.Options{Name: f.model, BaseURL: f.baseURL, AllowHTTP: f.allowHTTP, Timeout: f.modelTimeout})
	var plain *models.PlainHTTPError
	if errors.As(err, &plain) {
		return nil, refuseIn(lang, text.KeyOverHTTP, plain.Host)
	}
	if err != nil {
		return nil, refuse("--model: %s", strings.TrimPrefix(err.Error(), models.ErrOptions.Error()+": "))
	}
	return m, nil
}

// draftModel names the language model that sees the facts, for the report.
func (f *flags) draftModel() string {
	if f.model == models.Offline {
		return ""
	}
	return f.model
}

func (f *flags) riskModel() (*risk.Model, error) {
	if f.modelFile == "" {
		return risk.DefaultModel(), nil
	}
	data, err := os.ReadFile(f.modelFile)
	if err != nil {
		return nil, refuse("--model-file: %v", err)
	}
	m, err := risk.ParseModel(data)
	if err != nil {
		return nil, refuse("--model-file: %v", err)
	}
	return m, nil
}

func (f *flags) previous() (*report.Report, error) {
	if f.since == "" {
		return nil, nil
	}
	if info, err := os.Stat(f.since); err == nil && info.IsDir() {
		lang, err := f.language()
		if err != nil {
			return nil, err
		}
		if f.since, err = latestReport(f.since, lang); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(f.since)
	if err != nil {
		return nil, refuse("--since: %v", err)
	}
	r, err := report.Parse(data)
	if err != nil {
		return nil, refuse("--since: %v", err)
	}
	return &r, nil
}

// checkSince refuses to compare with another supplier's report: no run could end with one.
func (f *flags) checkSince(previous *report.Report, subject supplier.Subject, lang text.Lang) error {
	if previous == nil || previous.Subject.Same(subject) {
		return nil
	}
	return refuseIn(lang, text.SinceOther, f.since, previous.Subject.LegalName, subject.LegalName)
}

// sourceNames are the names --source-url knows.
var sourceNames = []string{"recherche-entreprises", "bodacc", "ratios", "asset-freezes", "gdelt", "gleif", "vies"}

func (f *flags) client() (*sources.Client, error) {
	mode, dir, err := sources.ParseMode(f.source)
	if err != nil {
		return nil, refuse("--source must be sample, live, record:DIR or replay:DIR: %v", err)
	}
	o := sources.Options{Mode: mode, Dir: dir, CacheDir: f.cache, AllowPrivateHosts: f.allowPrivate}
	if f.asOf != "" {
		if o.AsOf, err = time.Parse(time.DateOnly, f.asOf); err != nil {
			return nil, refuse("--as-of must be a day such as 2026-11-15, got %q", f.asOf)
		}
	}
	urls := []*string{
		&o.BaseURLs.RechercheEntreprises, &o.BaseURLs.BODACC, &o.BaseURLs.Ratios, &o.BaseURLs.AssetFreezes,
		&o.BaseURLs.GDELT, &o.BaseURLs.GLEIF, &o.BaseURLs.VIES,
	}
	for name, url := range f.sourceURLs {
		i := slices.Index(sourceNames, name)
		if i < 0 {
			return nil, refuse("--source-url: unknown source %q; known: %s", name, strings.Join(sourceNames, ", "))
		}
		*urls[i] = url
	}
	c, err := sources.New(o)
	if errors.Is(err, sources.ErrNoRecording) {
		lang, lerr := f.language()
		if lerr != nil {
			return nil, lerr
		}
		return nil, refuseIn(lang, text.NoRecording, dir, recordCommand(dir))
	}
	if err != nil {
		return nil, refuse("%v", err)
	}
	return c, nil
}

// refuseIn refuses with a sentence of the catalogue.
func refuseIn(lang text.Lang, key text.Key, args ...any) error {
	return refuse("%s", text.Get(lang, key, args...))
}

func refuse(format string, args ...any) error {
	return &exitError{exitRefused, "duediligence: " + fmt.Sprintf(format, args...)}
}
