// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/serve"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/redact"
)

// A config is what the flags say, and no state of a run: each run gets a copy.
type config struct {
	model   models.Options
	sources sources.Options
	options pipeline.Options

	source       string
	sourceURLs   map[string]string // never changed, so that copies may share it
	asOf         string
	modelFile    string
	budget       string
	softBudget   string
	targetBudget string
	raise        string // what a resumed run may spend, or how much more
	ledger       string
	ledgerLogin  bool // of a kept run: the ledger had a user or password, which is not kept
	priceFile    string
	quiet        bool

	siren       string
	format      string
	out         string
	fresh       bool
	replace     bool
	journal     string
	journalSize int64
	since       string
	failOn      string

	jobs      int
	columns   []string
	address   string
	tokenFile string
	maxRuns   int
	replay    string

	asJSON bool
	asHTML bool
	head   string // of a journal
	run    string // in a journal
	prices prices.Filter
	redact redactFilter
}

// A list is the value of a flag that takes several, with commas between them.
type list []string

// commands is a set of commands that have a flag.
type commands uint

const (
	onResearch commands = 1 << iota
	onBatch
	onServe
	onDoctor
	onExplain
	onResume
	onPrices
	onVerify // of journal, as the next two
	onStats
	onShow
	onRedact

	onRuns    = onResearch | onBatch | onServe | onDoctor | onExplain
	onJournal = onVerify | onStats | onShow
)

// A flagRow is a row of the table. A flag that means or says something else in another command
// has a row of its own for that.
type flagRow struct {
	name, short string
	on          commands
	to          any      // where the value goes: a pointer into the config
	otherwise   any      // the value where it is not given; nil is the zero value
	variable    string   // of the environment, whose value is taken where the flag is not given
	values      []string // offered to a shell
	help        string

	// kept is the name under which a kept run has the value, for resume; with omitempty as in
	// the tag of a field. Empty where it is not kept.
	kept  string
	path  bool // kept as an absolute path
	limit bool // what a run may use, not what it asks: another value goes on with the same run
	host  bool // who gets prompts, look-ups and keys: never taken from a kept run
}

// flags is the table of all flags.
func (c *config) flags() []flagRow {
	return slices.Concat(c.keptFlags(), c.runFlags(), c.toolFlags())
}

// keptFlags are in the order of a kept run's settings.
func (c *config) keptFlags() []flagRow {
	o := &c.options
	return []flagRow{
		{name: "model", on: onRuns, to: &c.model.Name, otherwise: models.Offline, kept: "model", help: "model that writes: offline, " +
			"gemini-NAME (key in GEMINI_API_KEY or GOOGLE_API_KEY), chat:NAME on a server of /chat/completions or openai:NAME on one of " +
			"/responses (key in " + models.OpenAIKeyVariable + ", where the server asks for one)"},
		{name: "base-url", on: onRuns, to: &c.model.BaseURL, kept: "base_url,omitempty", host: true, help: "address of the model's server, " +
			"with the path before /chat/completions or /responses; required for chat:NAME and openai:NAME"},
		{
			name: "model-timeout", on: onRuns, to: &c.model.Timeout, otherwise: models.DefaultTimeout, kept: "model_timeout", limit: true,
			help: "time allowed for one model call",
		},
		{
			name: "source", on: onRuns, to: &c.source, otherwise: string(sources.ModeSample), kept: "source",
			values: []string{"sample", "live", "record:", "replay:"},
			help:   "where facts come from: sample (fictional companies), live (public registers), record:DIR or replay:DIR",
		},
		{
			name: "source-url", on: onRuns, to: &c.sourceURLs, kept: "source_urls,omitempty", host: true,
			help: "read a source at another address, NAME=URL; names: " + sourceNames(),
		},
		{
			name: "allow-private-hosts", on: onRuns | onResume, to: &c.sources.AllowPrivateHosts, kept: "allow_private_hosts,omitempty", host: true,
			help: "let --source-url name any host, private ones too (for tests)",
		},
		{
			name: "cache", on: onRuns, to: &c.sources.CacheDir, kept: "cache,omitempty", path: true,
			help: "keep answers of live sources in this folder for a day",
		},
		{name: "as-of", on: onRuns, to: &c.asOf, kept: "as_of", help: "the day the facts are judged at, YYYY-MM-DD (default: today)"},
		{
			name: "model-file", on: onRuns, to: &c.modelFile, kept: "model_file,omitempty", path: true,
			help: "weights and bands of the risk model, in place of the built-in ones",
		},
		{
			name: "max-calls", on: onRuns, to: &o.MaxCalls, otherwise: 25, kept: "max_calls", limit: true,
			help: "model calls allowed for the whole run",
		},
		{
			name: "timeout", on: onRuns, to: &o.MaxTime, otherwise: 5 * time.Minute, kept: "timeout", limit: true,
			help: "time allowed for the whole run",
		},
		{
			name: "budget", on: onRuns, to: &c.budget, kept: "budget,omitempty", limit: true,
			help: "the most the run may spend on models, in USD, such as 0.10; it can't be exceeded",
		},
		{
			name: "soft-budget", on: onRuns, to: &c.softBudget, kept: "soft_budget,omitempty", limit: true,
			help: "what may be spent without approval, in USD",
		},
		{
			name: "target-budget", on: onRuns, to: &c.targetBudget, kept: "target_budget,omitempty", limit: true,
			help: "what the run is expected to cost, in USD",
		},
		{
			name: "ledger", on: onRuns, to: &c.ledger, variable: ledgerVariable, kept: "ledger,omitempty", host: true,
			help: "where spending is kept: memory, file:PATH or redis://HOST:PORT (default: " + ledgerVariable + " of the environment, " +
				"which keeps a password from others on the machine, else a file in the output folder, else memory)",
		},
		{to: &c.ledgerLogin, kept: "ledger_login,omitempty", host: true},
		{
			name: "price-file", on: onRuns | onPrices, to: &c.priceFile, kept: "price_file,omitempty", path: true, limit: true,
			help: "LiteLLM's model_prices_and_context_window.json, to override built-in prices",
		},
		{
			name: "lang", on: onRuns | onJournal, to: &o.Lang, kept: "lang", values: []string{"en", "fr"},
			help: "language of texts, en or fr (default: from LANG)",
		},
		{
			name: "since", on: onResearch, to: &c.since, kept: "since,omitempty", path: true,
			help: "the last report.json on this supplier, or the folder of its dossiers for the newest: say what changed",
		},
		{
			name: "annual-purchases", on: onResearch, to: &o.AnnualPurchases, kept: "annual_purchases,omitempty",
			help: "what you spend there in a year, in euros, to rate its dependency on you",
		},
		{
			name: "journal", on: onResearch, to: &c.journal, kept: "journal,omitempty", path: true,
			help: "append the journal, a JSON line for each step, to this file",
		},
		{
			name: "journal-max-bytes", on: onResearch, to: &c.journalSize, kept: "journal_max_bytes,omitempty",
			help: "begin a new journal file when it would grow over this size; 0 for never",
		},
	}
}

// runFlags are the other flags of commands that make runs.
func (c *config) runFlags() []flagRow {
	o := &c.options
	grave := []string{"medium", "high", "critical", "stop"}
	return []flagRow{
		{
			name: "allow-http", on: onRuns | onResume, to: &c.model.AllowHTTP,
			help: "let the model's key go to this host over plain http, where others can read it on the way (default: to this machine only)",
		},
		{name: "quiet", short: "q", on: onRuns | onResume, to: &c.quiet, help: "no progress and no summary on stderr"},
		{
			name: "fail-on", on: onResearch | onResume, to: &c.failOn, values: grave,
			help: "exit with 7 where the rating is at least this: medium, high, critical or stop",
		},
		{
			name: "fail-on", on: onBatch, to: &c.failOn, values: grave,
			help: "exit with 7 where a rating is at least this: medium, high, critical or stop",
		},
		{name: "output", short: "o", on: onResearch, to: &c.out, help: "also write index.html, the report and the journal into this folder, " +
			"or a dated one in it where it holds a finished dossier"},
		{name: "output", short: "o", on: onBatch, to: &c.out, help: "folder for the dossiers, index.html and summary.csv (required)"},
		{name: "output", short: "o", on: onServe, to: &c.out, help: "keep a folder for each run, and the journal of all, in this folder"},
		{name: "output", short: "o", on: onDoctor, to: &c.out, otherwise: ".", help: "folder that runs will write to"},

		{name: "siren", on: onResearch, to: &c.siren, help: "the supplier's SIREN; with a name as well, both must mean the same company"},
		{name: "format", on: onResearch, to: &c.format, values: formats, help: "what stdout gets: short (the answer in a few lines), " +
			"or the whole report as md, json, html or csv (default: short on a terminal, else md)"},
		{name: "fresh", on: onResearch, to: &c.fresh, help: "begin anew where the output folder holds a run that is not finished"},
		{
			name: "replace", on: onResearch, to: &c.replace,
			help: "replace the finished dossier of the same supplier in the output folder, in place of a dated one beside it",
		},

		{name: "jobs", short: "j", on: onBatch, to: &c.jobs, otherwise: 2, help: "suppliers researched at the same time"},
		{name: "column", on: onBatch, to: &c.columns, help: "header of a column that says who is meant, " +
			"or its number from 1 where the file has no header; may be repeated"},

		{name: "address", on: onServe, to: &c.address, otherwise: "127.0.0.1:8080", help: "where to listen, HOST:PORT; port 0 takes a free one"},
		{name: "token-file", on: onServe, to: &c.tokenFile, help: "file with the token that clients must show"},
		{name: "max-runs", on: onServe, to: &c.maxRuns, otherwise: serve.DefaultMaxRuns, help: "runs that go on at once; more wait"},
		{
			name: "journal-max-bytes", on: onServe, to: &c.journalSize, otherwise: int64(64 << 20),
			help: "begin a new journal file when it would grow over this size; 0 for never",
		},

		{name: "replay", on: onExplain, to: &c.replay, help: "play this recorded run with guards that only watch"},

		{name: "base-url", on: onResume, to: &c.model.BaseURL, help: "address of the model's server; required where the run was begun with one"},
		{name: "source-url", on: onResume, to: &c.sourceURLs, help: "the addresses of sources, NAME=URL, where the run was begun with some"},
		{
			name: "budget", on: onResume, to: &c.raise,
			help: "what the run may spend in all, in USD, or how much more with a + before it: +0.05",
		},
		{name: "ledger", on: onResume, to: &c.ledger, help: "the ledger the run was begun with; needed where its address holds a password, " +
			"which is not kept and may be given in " + ledgerVariable + " too"},
		{name: "timeout", on: onResume, to: &o.MaxTime, help: "time allowed from now on (default: as before)"},
		{name: "max-calls", on: onResume, to: &o.MaxCalls, help: "model calls allowed from now on (default: as before)"},
		{name: "journal", on: onResume, to: &c.journal, help: "append the journal to this file (default: as before)"},
		{
			name: "format", on: onResume, to: &c.format, otherwise: "md", values: formats[1:],
			help: "format of the report on stdout: md, json, html or csv",
		},
	}
}

// toolFlags are those of commands that make no run.
func (c *config) toolFlags() []flagRow {
	r := &c.redact
	return []flagRow{
		{name: "backend", on: onPrices, to: &c.prices.Backend, help: "only this seller: gemini, vertex_ai, openai, …"},
		{name: "json", on: onExplain, to: &c.asJSON, help: "print JSON"},
		{name: "json", on: onVerify, to: &c.asJSON, help: "print what was found as JSON"},
		{name: "json", on: onStats, to: &c.asJSON, help: "print the figures as JSON"},
		{name: "html", on: onShow, to: &c.asHTML, help: "print one HTML page"},
		{name: "head", on: onVerify, to: &c.head, help: "the head noted after a run, NUMBER:SHA-256: that line must be there"},
		{name: "run", on: onShow, to: &c.run, help: "only the run with this id"},

		{name: "types", on: onRedact, to: &r.types, otherwise: list{"email", "iban"}, help: "built-in types to mask; empty for none"},
		{name: "pattern", on: onRedact, to: &r.patterns, help: "a further type, as NAME=regular expression; repeatable"},
		{
			name: "strategy", on: onRedact, to: &r.strategy, otherwise: string(redact.Label),
			help: "label, mask, hmac, token (not reversible here) or block",
		},
		{name: "key-file", on: onRedact, to: &r.keyFile, help: "file with the secret of --strategy hmac, 16 bytes or more"},
		{name: "lang", on: onRedact, to: &r.lang, otherwise: "en", help: "language of the labels, en or fr"},
		{name: "findings", on: onRedact, to: &r.findings, help: "print where values stand, as JSON lines, instead of the text"},
		{name: "jsonl", on: onRedact, to: &r.jsonl, help: "read and write JSON lines"},
		{name: "chunk", on: onRedact, to: &r.chunk, help: "feed the scanner this many bytes at a time; 0 for as many as come"},
	}
}
