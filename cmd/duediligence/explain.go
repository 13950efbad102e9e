// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/gardefou/gardefou/callbacks/inspect"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/dossiers"
)

const explainHelp = `Prints which guards stand on each agent, in which order, with which limits, and what
is probably not meant in that set-up. No model is called and nothing is looked up.

With --replay DIR a recorded run is played again with guards that only watch, and what
they would have refused is printed: for trying other limits, such as --max-calls 5. A
folder is recorded with: duediligence SUPPLIER --source record:DIR`

func newExplainCommand() *cobra.Command {
	var f flags
	var replay string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [SUPPLIER]",
		Short: "Print the guards of each agent, or what they would refuse in a recorded run",
		Long:  explainHelp,
		Example: `  duediligence explain
  duediligence explain --model gemini-2.5-flash --budget 0.10
  duediligence explain "Transports Kervalec" --replay recorded/ --max-calls 5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if replay == "" {
				if len(args) > 0 {
					return refuse("explain takes a supplier only with --replay DIR")
				}
				return f.explain(cmd.Context(), asJSON, cmd.OutOrStdout())
			}
			f.source = "replay:" + replay
			if len(args) == 0 {
				return f.whichWasIt(replay)
			}
			whom, err := f.query(args)
			if err != nil {
				return err
			}
			return f.watch(cmd.Context(), whom, asJSON, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&replay, "replay", "", "play this recorded run with guards that only watch")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// whichWasIt refuses a replay without a supplier: a recording does not say whose it is.
func (f *flags) whichWasIt(replay string) error {
	lang, err := f.language()
	if err != nil {
		return err
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	closeSources(c)
	return refuseIn(lang, text.ExplainWhich, quoted(replay))
}

// recordCommand makes a recording of the run that dir holds, or of any.
func recordCommand(dir string) string {
	query := "SUPPLIER"
	if r, ok := dossiers.Recorded(dir); ok {
		query = quoted(r.Query)
	}
	return "duediligence " + query + " --source record:recorded/"
}

// agentExplanation is what stands on one agent.
type agentExplanation struct {
	Agent string `json:"agent"`
	inspect.Explanation
}

// explain prints the guards of the pipeline as it would run.
func (f *flags) explain(ctx context.Context, asJSON bool, w io.Writer) error {
	lang, o, err := f.prepare(ctx)
	if err != nil {
		return err
	}
	defer f.shut()
	defer closeSources(o.Sources)
	o.Journal = io.Discard // every run with an output has one
	pl, err := pipeline.New(o)
	if err != nil {
		return failed(err)
	}
	all := struct {
		Agents   []agentExplanation `json:"agents"`
		Problems []inspect.Problem  `json:"problems"`
	}{Problems: append([]inspect.Problem{}, pl.Check()...)}
	for _, c := range pl.Chains() {
		e := c.Chain.Explain()
		e.Warnings = nil // about forms of attachment that this pipeline does not use
		all.Agents = append(all.Agents, agentExplanation{c.Agent, e})
	}
	if asJSON {
		return encode(w, all)
	}
	for _, a := range all.Agents {
		if _, err := fmt.Fprintf(w, "%s\n%s\n", a.Agent, a.Explanation); err != nil {
			return failed(err)
		}
	}
	for _, p := range all.Problems {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return failed(err)
		}
	}
	if len(all.Problems) == 0 {
		_, err = fmt.Fprintln(w, text.Get(lang, text.ExplainClean))
	}
	return err
}

// wouldRefuse is one step that a guard would have refused.
type wouldRefuse struct {
	Agent  string             `json:"agent"`
	Step   callbacks.StepKind `json:"step"`
	Tool   string             `json:"tool,omitempty"`
	Guard  string             `json:"guard"`
	Code   string             `json:"code"`
	Reason string             `json:"reason"`
}

// watch plays a recorded run with guards that only watch.
func (f *flags) watch(ctx context.Context, whom asked, asJSON bool, stdin io.Reader, stdout, stderr io.Writer) error {
	lang, o, err := f.prepare(ctx)
	if err != nil {
		return err
	}
	defer f.shut()
	defer closeSources(o.Sources)
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	subject, err := f.resolve(ctx, o.Sources, whom.query, lang, stdin, stderr)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	refused := []wouldRefuse{}
	o.Monitor = true
	o.Observe = func(ev callbacks.Event) {
		if ev.Outcome == callbacks.OutcomeWouldRefuse {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, wouldRefuse{ev.Agent, ev.Step, ev.Tool, ev.Guard, string(ev.Code), ev.Reason})
		}
	}
	pl, err := pipeline.New(o)
	if err != nil {
		return failed(err)
	}
	if _, err := pl.Run(ctx, subject, whom.typed); err != nil {
		return failed(err)
	}
	if asJSON {
		return encode(stdout, refused)
	}
	if len(refused) == 0 {
		_, err = fmt.Fprintln(stdout, text.Get(lang, text.ExplainNone))
		return err
	}
	for _, r := range refused {
		if _, err := fmt.Fprintf(stdout, "%s: %s %s: %s, %s\n", r.Agent, r.Guard, text.Get(lang, text.ExplainWould), cmp.Or(r.Tool, string(r.Step)), cmp.Or(r.Reason, r.Code)); err != nil {
			return failed(err)
		}
	}
	return nil
}

// prepare checks the flags and makes the options of a pipeline from them.
func (f *flags) prepare(ctx context.Context) (text.Lang, pipeline.Options, error) {
	lang, err := f.language()
	if err != nil {
		return "", pipeline.Options{}, err
	}
	if err := f.check(); err != nil {
		return "", pipeline.Options{}, err
	}
	o, err := f.options(ctx, lang)
	return lang, o, err
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
