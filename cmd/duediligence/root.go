// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/internal/text"
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
	cmd.AddCommand(newResearchCommand("research SUPPLIER"), newRedactCommand(), newBatchCommand(), newPricesCommand(), newJournalCommand(),
		newServeCommand(), newDoctorCommand(), newExplainCommand(), newResumeCommand(), newVersionCommand())
	return cmd
}

// newResearchCommand makes the command that researches one supplier, which is also what the
// program does where no command is named.
func newResearchCommand(use string) *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:     use,
		Short:   "Research one supplier, whatever its name",
		Long:    longHelp,
		Example: examples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			whom, err := c.query(args)
			if err != nil {
				return err
			}
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			return j.run(cmd.Context(), whom, streamsOf(cmd))
		},
	}
	c.register(cmd, onResearch)
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
	var c config
	if lang := cmd.Flags().Lookup(c.name(&c.options.Lang)); lang != nil {
		c.options.Lang = lang.Value.String()
	}
	return c.language()
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
