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
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

var formats = []string{"short", "md", "json", "html", "csv"}

// ratings are those --fail-on can name, from the least grave.
var ratings = []risk.Rating{risk.RatingLow, risk.RatingMedium, risk.RatingHigh, risk.RatingCritical, risk.RatingStop}

// check refuses what no run could make sense of, before anything is asked.
func (c *config) check() error {
	o := c.options
	switch {
	case o.MaxCalls < 1:
		return refuse("--max-calls must be at least 1, got %d", o.MaxCalls)
	case o.MaxTime <= 0:
		return refuse("--timeout must be more than 0, got %s", o.MaxTime)
	case c.format != "" && !slices.Contains(formats, c.format):
		return refuse("--format must be one of %s, got %q", strings.Join(formats, ", "), c.format)
	case c.failOn != "" && (c.threshold() < 1):
		return refuse("--fail-on must be medium, high, critical or stop, got %q", c.failOn)
	case c.journalSize < 0:
		return refuse("--journal-max-bytes must not be negative, got %d", c.journalSize)
	case o.AnnualPurchases < 0:
		return refuse("--annual-purchases must not be negative, got %d", o.AnnualPurchases)
	}
	return nil
}

// threshold is the place of --fail-on among the ratings; below 1 it is none.
func (c *config) threshold() int {
	return slices.Index(ratings, risk.Rating(strings.ToUpper(c.failOn)))
}

func (c *config) language() (text.Lang, error) {
	switch lang := c.options.Lang; lang {
	case "":
		for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if v := os.Getenv(name); v != "" {
				return text.Parse(v), nil
			}
		}
		return text.English, nil
	case string(text.English), string(text.French):
		return text.Lang(lang), nil
	default:
		return "", refuse("--lang must be en or fr, got %q", lang)
	}
}

// asked is the supplier that a run is about: as it was typed, and as it was read.
type asked struct {
	typed string
	query supplier.Query
}

// query reads the argument and --siren, which must mean the same company.
func (c *config) query(args []string) (asked, error) {
	lang, err := c.language()
	switch {
	case err != nil:
		return asked{}, err
	case len(args) > 1:
		typed := strings.Join(args, " ")
		return asked{}, refuse("one supplier per run, got %d; put a name with spaces in quotes: duediligence %q", len(args), typed)
	case len(args) == 0 && c.siren == "":
		return asked{}, refuse("which supplier? Example: duediligence \"Transports Kervalec\"\nTry: duediligence --help")
	}
	name := strings.Join(args, " ")
	q, err := supplier.NewQuery(name, c.siren)
	if err == nil && c.siren != "" && q.ID == (supplier.Identifier{}) {
		err = &supplier.RefusedError{Reason: supplier.ReasonNoNumber, Input: c.siren}
	}
	if refused, ok := errors.AsType[*supplier.RefusedError](err); ok {
		return asked{}, &exitError{exitRefused, text.Get(lang, text.CmdRefused, whyRefused(refused, lang))}
	}
	return asked{strings.TrimSpace(name + " " + c.siren), q}, err
}

// llm makes the model. A key in the environment never chooses one by itself.
func (c *config) llm(ctx context.Context, lang text.Lang) (model.LLM, error) {
	m, err := models.New(ctx, c.model)
	if plain, ok := errors.AsType[*models.PlainHTTPError](err); ok {
		return nil, refuseIn(lang, text.KeyOverHTTP, plain.Host)
	}
	if err != nil {
		return nil, refuse("--model: %s", strings.TrimPrefix(err.Error(), models.ErrOptions.Error()+": "))
	}
	return m, nil
}

// draftModel names the language model that sees the facts, for the report.
func (c *config) draftModel() string {
	if c.model.Name == models.Offline {
		return ""
	}
	return c.model.Name
}

// provider is what serves the model, as the GenAI semantic conventions name it.
func (c *config) provider() string {
	switch {
	case c.model.Name == models.Offline:
		return "gardefou.offline"
	case models.SpeaksOpenAI(c.model.Name):
		return "openai"
	default:
		return "gcp.gemini"
	}
}

func (c *config) riskModel() (*risk.Model, error) {
	if c.modelFile == "" {
		return risk.DefaultModel(), nil
	}
	data, err := os.ReadFile(c.modelFile)
	if err != nil {
		return nil, refuse("--model-file: %v", err)
	}
	m, err := risk.ParseModel(data)
	if err != nil {
		return nil, refuse("--model-file: %v", err)
	}
	return m, nil
}

type namedSource struct {
	name    string
	address func(*sources.BaseURLs) *string
}

// namedSources are those that --source-url knows, each with its address in the options.
var namedSources = []namedSource{
	{"recherche-entreprises", func(u *sources.BaseURLs) *string { return &u.RechercheEntreprises }},
	{"bodacc", func(u *sources.BaseURLs) *string { return &u.BODACC }},
	{"ratios", func(u *sources.BaseURLs) *string { return &u.Ratios }},
	{"asset-freezes", func(u *sources.BaseURLs) *string { return &u.AssetFreezes }},
	{"gdelt", func(u *sources.BaseURLs) *string { return &u.GDELT }},
	{"gleif", func(u *sources.BaseURLs) *string { return &u.GLEIF }},
	{"vies", func(u *sources.BaseURLs) *string { return &u.VIES }},
}

func sourceNames() string {
	names := make([]string, len(namedSources))
	for i, s := range namedSources {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// baseURLs reads --source-url.
func (c *config) baseURLs() (urls sources.BaseURLs, err error) {
	for name, url := range c.sourceURLs {
		i := slices.IndexFunc(namedSources, func(s namedSource) bool { return s.name == name })
		if i < 0 {
			return urls, refuse("--source-url: unknown source %q; known: %s", name, sourceNames())
		}
		*namedSources[i].address(&urls) = url
	}
	return urls, nil
}

func (c *config) client() (*sources.Client, error) {
	o := c.sources
	var err error
	if o.Mode, o.Dir, err = sources.ParseMode(c.source); err != nil {
		return nil, refuse("--source must be sample, live, record:DIR or replay:DIR: %v", err)
	}
	if c.asOf != "" {
		if o.AsOf, err = time.Parse(time.DateOnly, c.asOf); err != nil {
			return nil, refuse("--as-of must be a day such as 2026-11-15, got %q", c.asOf)
		}
	}
	if o.BaseURLs, err = c.baseURLs(); err != nil {
		return nil, err
	}
	client, err := sources.New(o)
	if errors.Is(err, sources.ErrNoRecording) {
		lang, lerr := c.language()
		if lerr != nil {
			return nil, lerr
		}
		return nil, refuseIn(lang, text.NoRecording, o.Dir, recordCommand(o.Dir))
	}
	if err != nil {
		return nil, refuse("%v", err)
	}
	return client, nil
}

// settled is the config as it is kept: with the language and the day that were found, paths
// that mean the same from another folder, and no password.
func (c config) settled(lang text.Lang, asOf time.Time) config {
	c.options.Lang, c.asOf = string(lang), asOf.Format(time.DateOnly)
	for _, f := range c.flags() {
		if path, ok := f.to.(*string); ok && f.path {
			*path = files.Absolute(*path)
		}
	}
	if mode, dir, found := strings.Cut(c.source, ":"); found {
		c.source = mode + ":" + files.Absolute(dir)
	}
	place := keptrun.PlaceOf(c.ledger)
	c.ledger, c.ledgerLogin = place.Address, place.Login
	return c
}

// refuseIn refuses with a sentence of the catalogue.
func refuseIn(lang text.Lang, key text.Key, args ...any) error {
	return refuse("%s", text.Get(lang, key, args...))
}

func refuse(format string, args ...any) error {
	return &exitError{exitRefused, "duediligence: " + fmt.Sprintf(format, args...)}
}
