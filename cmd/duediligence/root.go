// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

const longHelp = `Researches one supplier. On a terminal it prints the answer in a few lines, verdict last;
piped, or with --format md, the whole report; with -o DIR pages to open in a browser.

The supplier is a name, a SIREN, a SIRET, an EU VAT number or a LEI. A name that fits
several companies is never settled by guessing: on a terminal you are asked, elsewhere
the candidates are listed with the command to run again. One word that is nearly a command
is taken for a slip, in capitals too; a supplier of that name is researched with duediligence research NAME.

By default the facts come from a built-in set of fictional companies. With
--source live they come from public registers; no key is needed. --source record:DIR
keeps every answer, --source replay:DIR reads them again, byte for byte.

A run with -o DIR is kept in DIR while it goes on. One that was stopped goes on with
duediligence resume DIR; the same command again is refused until it is finished, or
begins anew with --fresh. A finished dossier stays as it is: the next one on the same
supplier stands beside it, in DIR/YYYY-MM-DD, and takes its place with --replace only. A
folder that holds anything else, or another supplier's dossier, is refused. Of several
dossiers in DIR, --since DIR means the newest that is finished, resume DIR the newest that
is not, journal verify DIR all.

Exit codes: 0 report written; 1 the run failed, a report was made from what was
there; 2 input refused; 3 ambiguous; 4 not found; 5 calls or time ran out, partial
report written; 6 source unavailable; 7 report written, rating at or above
--fail-on; 130 interrupted.`

const examples = `  duediligence "Transports Kervalec"
  duediligence --source live "Nom de l'entreprise" -o dossier/
  duediligence --source live --siren 552081317 --lang fr --format html > report.html
  duediligence "Transports Kervalec" --since dossier/ --fail-on high
  duediligence "Transports Kervalec" --model chat:qwen3 --base-url localhost:11434/v1
  duediligence "Transports Kervalec" --model gemini-2.5-flash --budget 0.10 -o dossier/
  duediligence resume dossier/ --budget +0.05
  duediligence batch suppliers.csv -o dossiers/ -j 4
  duediligence "Transports Kervalec" --journal run.jsonl --quiet > report.md`

func newRootCommand() *cobra.Command {
	cmd := newResearchCommand("duediligence SUPPLIER")
	cmd.Short, cmd.Version = "Supplier due diligence with guarded agents", version()+", "+platform()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	research := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := misspelt(cmd, args); err != nil {
			return err
		}
		return research(cmd, args)
	}
	// A slip takes the flags of the command that was meant, which the one found may not have.
	cmd.SetFlagErrorFunc(func(found *cobra.Command, err error) error {
		args := found.Flags().Args() // before that flag
		switch {
		case found == cmd:
			return cmp.Or(misspelt(cmd, args), err)
		case found.HasSubCommands():
			return cmp.Or(subcommands(found, args), err)
		}
		return err
	})
	cmd.AddCommand(newResearchCommand("research SUPPLIER"), newRedactCommand(), newBatchCommand(), newPricesCommand(), newJournalCommand(), newServeCommand(), newDoctorCommand(), newExplainCommand(), newResumeCommand(), newVersionCommand())
	return cmd
}

// newResearchCommand makes the command that researches one supplier, which is also what the
// program does where no command is named.
func newResearchCommand(use string) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     use,
		Short:   "Research one supplier, whatever its name",
		Long:    longHelp,
		Example: examples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			whom, err := f.query(args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), whom, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.siren, "siren", "", "the supplier's SIREN; with a name as well, both must mean the same company")
	fl.StringVar(&f.format, "format", "", "what stdout gets: short (the answer in a few lines), or the whole report as md, json, html or csv (default: short on a terminal, else md)")
	fl.StringVarP(&f.out, "output", "o", "", "also write index.html, the report and the journal into this folder, or a dated one in it where it holds a finished dossier")
	fl.BoolVar(&f.fresh, "fresh", false, "begin anew where the output folder holds a run that is not finished")
	fl.BoolVar(&f.replace, "replace", false, "replace the finished dossier of the same supplier in the output folder, in place of a dated one beside it")
	fl.StringVar(&f.journal, "journal", "", "append the journal, a JSON line for each step, to this file")
	fl.Int64Var(&f.journalSize, "journal-max-bytes", 0, "begin a new journal file when it would grow over this size; 0 for never")
	fl.StringVar(&f.since, "since", "", "the last report.json on this supplier, or the folder of its dossiers for the newest: say what changed")
	fl.StringVar(&f.failOn, "fail-on", "", "exit with 7 where the rating is at least this: medium, high, critical or stop")
	fl.Int64Var(&f.purchases, "annual-purchases", 0, "what you spend there in a year, in euros, to rate its dependency on you")
	for flag, values := range map[string][]string{"format": formats, "fail-on": {"medium", "high", "critical", "stop"}, "lang": {"en", "fr"}, "source": {"sample", "live", "record:", "replay:"}} {
		complete(cmd, flag, values)
	}
	return cmd
}

// oneWord is what a command looks like.
var oneWord = regexp.MustCompile(`^[A-Za-z][A-Za-z-]+$`)

// misspelt refuses arguments of which the first is nearly a command, of the program or of
// one of its commands: it is a slip, and no register is asked for a company of that name.
func misspelt(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	all := slices.Clone(root.Commands())
	for _, c := range root.Commands() {
		if c.Name() != "completion" { // whose commands are the names of shells
			all = append(all, c.Commands()...)
		}
	}
	near := nearestCommand(all, args[0])
	if near == nil {
		return nil
	}
	lang, err := languageOf(root)
	if err != nil {
		return err
	}
	return refuseIn(lang, text.DidYouMean, args[0], near.CommandPath(), quoted(strings.Join(args, " ")))
}

// nearestCommand is the command that a word is a slip in, or nil. In a longer name two letters
// may be wrong, in a short one, to which many words are close, one. A word with capitals, as
// names of companies have them, may have one wrong letter less.
func nearestCommand(commands []*cobra.Command, word string) *cobra.Command {
	if !oneWord.MatchString(word) {
		return nil
	}
	lower := strings.ToLower(word)
	var nearest *cobra.Command
	least := 3
	for _, c := range commands {
		wrong, most := wrongLetters(lower, c.Name()), 1
		if len(c.Name()) > 5 {
			most++
		}
		if word != lower {
			most--
		}
		if wrong <= most && wrong < least && !c.Hidden {
			least, nearest = wrong, c
		}
	}
	return nearest
}

// wrongLetters counts what must be changed, added or left out to make one word of another.
// Two letters in the wrong order count once.
func wrongLetters(a, b string) int {
	n := levenshtein.ComputeDistance(a, b)
	if n == 2 && sorted(a) == sorted(b) {
		return 1
	}
	return n
}

func sorted(word string) string {
	letters := []byte(word)
	slices.Sort(letters)
	return string(letters)
}

// languageOf is the language of a command whose own flags are not at hand.
func languageOf(cmd *cobra.Command) (text.Lang, error) {
	var f flags
	if flag := cmd.Flags().Lookup("lang"); flag != nil {
		f.lang = flag.Value.String()
	}
	return f.language()
}

// subcommands are the arguments of a command that only has others: none, or a slip.
func subcommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := nearestCommand(cmd.Commands(), args[0])
	if near == nil {
		return cobra.NoArgs(cmd, args)
	}
	lang, err := languageOf(cmd)
	if err != nil {
		return err
	}
	return refuseIn(lang, text.DidYouMeanSub, args[0], cmd.CommandPath(), near.Name())
}

// register adds the flags that one run and a batch share.
func (f *flags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.source, "source", string(sources.ModeSample), "where facts come from: sample (fictional companies), live (public registers), record:DIR or replay:DIR")
	fl.StringToStringVar(&f.sourceURLs, "source-url", nil, "read a source at another address, NAME=URL; names: "+strings.Join(sourceNames, ", "))
	fl.BoolVar(&f.allowPrivate, "allow-private-hosts", false, "let --source-url name any host, private ones too (for tests)")
	fl.StringVar(&f.cache, "cache", "", "keep answers of live sources in this folder for a day")
	fl.StringVar(&f.asOf, "as-of", "", "the day the facts are judged at, YYYY-MM-DD (default: today)")
	fl.StringVar(&f.modelFile, "model-file", "", "weights and bands of the risk model, in place of the built-in ones")
	fl.StringVar(&f.model, "model", models.Offline, "model that writes: offline, gemini-NAME (key in GEMINI_API_KEY or GOOGLE_API_KEY), chat:NAME on a server of /chat/completions or openai:NAME on one of /responses (key in "+models.OpenAIKeyVariable+", where the server asks for one)")
	fl.StringVar(&f.baseURL, "base-url", "", "address of the model's server, with the path before /chat/completions or /responses; required for chat:NAME and openai:NAME")
	fl.StringVar(&f.allowHTTP, "allow-http", "", "let the model's key go to this host over plain http, where others can read it on the way (default: to this machine only)")
	fl.DurationVar(&f.modelTimeout, "model-timeout", models.DefaultTimeout, "time allowed for one model call")
	fl.IntVar(&f.maxCalls, "max-calls", 25, "model calls allowed for the whole run")
	fl.StringVar(&f.budget, "budget", "", "the most the run may spend on models, in USD, such as 0.10; it can't be exceeded")
	fl.StringVar(&f.softBudget, "soft-budget", "", "what may be spent without approval, in USD")
	fl.StringVar(&f.targetBudget, "target-budget", "", "what the run is expected to cost, in USD")
	fl.StringVar(&f.ledger, "ledger", "", "where spending is kept: memory, file:PATH or redis://HOST:PORT (default: "+ledgerVariable+" of the environment, which keeps a password from others on the machine, else a file in the output folder, else memory)")
	f.ledger = os.Getenv(ledgerVariable) // not as the flag's default: the help prints that
	fl.StringVar(&f.priceFile, "price-file", "", "LiteLLM's model_prices_and_context_window.json, to override built-in prices")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "time allowed for the whole run")
	f.registerLang(cmd)
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no summary on stderr")
}

// complete offers the values of a flag to a shell.
func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag
	}
}

// registerLang adds the language of texts for people.
func (f *flags) registerLang(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.lang, "lang", "", "language of texts, en or fr (default: from LANG)")
}

// asked is the supplier that a run is about: as it was typed, and as it was read.
type asked struct {
	typed string
	query supplier.Query
}

// query reads the argument and --siren, which must mean the same company.
func (f *flags) query(args []string) (asked, error) {
	lang, err := f.language()
	switch {
	case err != nil:
		return asked{}, err
	case len(args) > 1:
		return asked{}, &exitError{exitRefused, fmt.Sprintf("duediligence: one supplier per run, got %d; put a name with spaces in quotes: duediligence %q", len(args), strings.Join(args, " "))}
	case len(args) == 0 && f.siren == "":
		return asked{}, &exitError{exitRefused, "duediligence: which supplier? Example: duediligence \"Transports Kervalec\"\nTry: duediligence --help"}
	}
	name := strings.Join(args, " ")
	q, err := supplier.NewQuery(name, f.siren)
	if err == nil && f.siren != "" && q.ID == (supplier.Identifier{}) {
		err = &supplier.RefusedError{Reason: supplier.ReasonNoNumber, Input: f.siren}
	}
	if refused, ok := errors.AsType[*supplier.RefusedError](err); ok {
		return asked{}, &exitError{exitRefused, text.Get(lang, text.CmdRefused, whyRefused(refused, lang))}
	}
	return asked{strings.TrimSpace(name + " " + f.siren), q}, err
}
