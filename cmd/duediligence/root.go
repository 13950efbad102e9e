// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"google.golang.org/adk/v2/model"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/report"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

type flags struct {
	model        string
	baseURL      string
	modelTimeout time.Duration
	source       string
	sourceURLs   map[string]string
	allowPrivate bool
	maxCalls     int
	timeout      time.Duration
	lang         string
	quiet        bool
	out          string
	journal      string
}

const longHelp = `Researches one supplier and writes a due-diligence report in Markdown to stdout.

The supplier is a name, a SIREN, a SIRET or a French VAT number. A name that fits
several companies is never settled by guessing: the candidates are listed with the
command to run again.

By default the facts come from a built-in set of fictional companies. With
--source live they come from public French registers; no key is needed.

Exit codes: 0 report written; 1 the run failed, a report was made from what was
there; 2 input refused; 3 ambiguous; 4 not found; 5 calls or time ran out, partial
report written; 6 source unavailable; 130 interrupted.`

const examples = `  duediligence "Transports Kervalec"
  duediligence --source live "Nom de l'entreprise" -o dossier/
  duediligence --source live 552081317 --lang fr
  duediligence "Transports Kervalec" --model openai:qwen3 --base-url http://localhost:11434/v1
  duediligence "Transports Kervalec" --journal run.jsonl --quiet > report.md`

func newRootCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:           "duediligence SUPPLIER",
		Short:         "Supplier due diligence with guarded agents",
		Long:          longHelp,
		Example:       examples,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 1:
				return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			case 0:
				return &exitError{exitRefused, "duediligence: which supplier? Example: duediligence \"Transports Kervalec\"\nTry: duediligence --help"}
			default:
				return &exitError{exitRefused, fmt.Sprintf("duediligence: one supplier per run, got %d; put a name with spaces in quotes: duediligence %q", len(args), strings.Join(args, " "))}
			}
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.source, "source", string(sources.ModeSample), "where facts come from: sample (fictional companies) or live (public registers)")
	fl.StringToStringVar(&f.sourceURLs, "source-url", nil, "read a source at another address, NAME=URL; names: recherche-entreprises, bodacc, ratios, asset-freezes, gdelt")
	fl.BoolVar(&f.allowPrivate, "allow-private-hosts", false, "let --source-url name any host, private ones too (for tests)")
	fl.StringVar(&f.model, "model", models.Offline, "model that writes: offline, gemini-NAME (key in GEMINI_API_KEY or GOOGLE_API_KEY) or openai:NAME")
	fl.StringVar(&f.baseURL, "base-url", "", "address of the model's server; required for openai:NAME")
	fl.DurationVar(&f.modelTimeout, "model-timeout", models.DefaultTimeout, "time allowed for one model call")
	fl.IntVar(&f.maxCalls, "max-calls", 25, "model calls allowed for the whole run")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "time allowed for the whole run")
	fl.StringVar(&f.lang, "lang", "", "language of the report, en or fr (default: from LANG)")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary on stderr")
	fl.StringVarP(&f.out, "output", "o", "", "also write report.md, report.json and journal.jsonl into this folder")
	fl.StringVar(&f.journal, "journal", "", "append the journal, a JSON line for each step, to this file")
	cmd.AddCommand(newRedactCommand())
	return cmd
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}

// run is one due diligence.
func (f flags) run(ctx context.Context, query string, stdout, stderr io.Writer) error {
	lang, err := f.language()
	if err != nil {
		return err
	}
	if f.maxCalls < 1 {
		return refuse("--max-calls must be at least 1, got %d", f.maxCalls)
	}
	if f.timeout <= 0 {
		return refuse("--timeout must be more than 0, got %s", f.timeout)
	}
	if _, err := supplier.ParseQuery(query); err != nil {
		return f.refusedQuery(err, lang)
	}
	client, err := f.client()
	if err != nil {
		return err
	}
	llm, err := f.llm(ctx)
	if err != nil {
		return err
	}
	p := &printer{w: stderr, quiet: f.quiet, lang: lang}
	if tty := terminal(stderr); tty != nil {
		p.color = true
		p.live = newDisplay(stderr, lang, func() int { return widthOf(tty) }, guards.DefaultAgentCalls, f.maxCalls)
	}
	p.source(client)

	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	res := client.Resolve(ctx, query)
	if err := f.interrupted(ctx); err != nil {
		return err
	}
	if res.Status != supplier.StatusResolved {
		return f.unresolved(res, client, lang)
	}
	return f.research(ctx, client, llm, res.Subject, query, p, stdout)
}

func (f flags) research(ctx context.Context, client *sources.Client, llm model.LLM, subject supplier.Subject, query string, p *printer, stdout io.Writer) error {
	out, err := f.openOutputs()
	if err != nil {
		return err
	}
	defer out.close()
	p.subject(subject)
	pl, err := pipeline.New(pipeline.Options{
		Model: llm, Sources: client, Lang: string(p.lang), MaxCalls: f.maxCalls, ToolVersion: version(), DraftModel: f.draftModel(),
		Journal: out.journal(), JournalError: out.journalFailed, Observe: p.step,
	})
	if err != nil {
		return &exitError{exitFailed, "duediligence: " + err.Error()}
	}
	outcome, err := pl.Run(ctx, subject, query)
	if errors.Is(err, context.Canceled) {
		return interruptedError(p.lang)
	}
	if err != nil {
		return &exitError{exitFailed, "duediligence: " + err.Error()}
	}
	if err := out.write(outcome.Report, report.Lang(p.lang)); err != nil {
		return &exitError{exitFailed, "duediligence: " + err.Error()}
	}
	if _, err := io.WriteString(stdout, outcome.Report.Markdown(report.Lang(p.lang))); err != nil {
		return &exitError{exitFailed, "duediligence: writing the report: " + err.Error()}
	}
	p.summary(outcome, f.out)
	return exitFor(outcome)
}

// exitFor maps the closed set of statuses to exit codes.
func exitFor(o *pipeline.Outcome) error {
	switch o.Result.Status {
	case callbacks.StatusDone, callbacks.StatusLanded:
		return nil
	case callbacks.StatusCallsExhausted, callbacks.StatusTokensExhausted, callbacks.StatusTimeExhausted, callbacks.StatusBudgetExhausted:
		return &exitError{code: exitExhausted}
	case callbacks.StatusInterrupted:
		return &exitError{code: exitInterrupted}
	default:
		return &exitError{code: exitFailed}
	}
}

// llm makes the model. A key in the environment never chooses one by itself.
func (f flags) llm(ctx context.Context) (model.LLM, error) {
	m, err := models.New(ctx, models.Options{Name: f.model, BaseURL: f.baseURL, Timeout: f.modelTimeout})
	if err != nil {
		return nil, refuse("--model: %v", err)
	}
	return m, nil
}

// draftModel names the language model that sees the facts, for the report.
func (f flags) draftModel() string {
	if f.model == models.Offline {
		return ""
	}
	return f.model
}

func (f flags) language() (text.Lang, error) {
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

func (f flags) client() (*sources.Client, error) {
	o := sources.Options{Mode: sources.Mode(f.source), AllowPrivateHosts: f.allowPrivate}
	if o.Mode != sources.ModeSample && o.Mode != sources.ModeLive {
		return nil, refuse("--source must be sample or live, got %q", f.source)
	}
	for name, url := range f.sourceURLs {
		switch name {
		case "recherche-entreprises":
			o.BaseURLs.RechercheEntreprises = url
		case "bodacc":
			o.BaseURLs.BODACC = url
		case "ratios":
			o.BaseURLs.Ratios = url
		case "asset-freezes":
			o.BaseURLs.AssetFreezes = url
		case "gdelt":
			o.BaseURLs.GDELT = url
		default:
			return nil, refuse("--source-url: unknown source %q; known: recherche-entreprises, bodacc, ratios, asset-freezes, gdelt", name)
		}
	}
	c, err := sources.New(o)
	if err != nil {
		return nil, refuse("%v", err)
	}
	return c, nil
}

func (f flags) interrupted(ctx context.Context) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		lang, _ := f.language()
		return interruptedError(lang)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &exitError{exitExhausted, fmt.Sprintf("duediligence: the time allowed (%s) ran out before the supplier was identified; nothing was written. Raise it with --timeout.", f.timeout)}
	default:
		return nil
	}
}

func interruptedError(lang text.Lang) error {
	return &exitError{exitInterrupted, text.Get(lang, text.CmdInterrupted)}
}

func refuse(format string, args ...any) error {
	return &exitError{exitRefused, "duediligence: " + fmt.Sprintf(format, args...)}
}
