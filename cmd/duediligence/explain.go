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
	var c config
	cmd := &cobra.Command{
		Use:   "explain [SUPPLIER]",
		Short: "Print the guards of each agent, or what they would refuse in a recorded run",
		Long:  explainHelp,
		Example: `  duediligence explain
  duediligence explain --model gemini-2.5-flash --budget 0.10
  duediligence explain "Transports Kervalec" --replay recorded/ --max-calls 5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.replay == "" && len(args) > 0:
				return refuse("explain takes a supplier only with --replay DIR")
			case c.replay != "":
				c.source = "replay:" + c.replay
			}
			var whom asked
			var err error
			if len(args) > 0 {
				if whom, err = c.query(args); err != nil {
					return err
				}
			}
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			switch {
			case c.replay == "":
				return j.explain(cmd.Context(), cmd.OutOrStdout())
			case len(args) == 0:
				return j.whichWasIt()
			}
			return j.watch(cmd.Context(), whom, streamsOf(cmd))
		},
	}
	c.register(cmd, onExplain)
	return cmd
}

// whichWasIt refuses a replay without a supplier: a recording does not say whose it is.
func (j *job) whichWasIt() error {
	client, err := j.client()
	if err != nil {
		return err
	}
	closeSources(client)
	return refuseIn(j.lang, text.ExplainWhich, quoted(j.replay))
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
func (j *job) explain(ctx context.Context, w io.Writer) error {
	o, err := j.checked(ctx)
	if err != nil {
		return err
	}
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
	if j.asJSON {
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
		_, err = fmt.Fprintln(w, text.Get(j.lang, text.ExplainClean))
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
func (j *job) watch(ctx context.Context, whom asked, std streams) error {
	o, err := j.checked(ctx)
	if err != nil {
		return err
	}
	defer closeSources(o.Sources)
	ctx, cancel := context.WithTimeout(ctx, o.MaxTime)
	defer cancel()
	subject, err := j.resolve(ctx, o.Sources, whom.query, j.lang, std)
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
	if j.asJSON {
		return encode(std.out, refused)
	}
	if len(refused) == 0 {
		_, err = fmt.Fprintln(std.out, text.Get(j.lang, text.ExplainNone))
		return err
	}
	for _, r := range refused {
		if _, err := fmt.Fprintf(std.out, "%s: %s %s: %s, %s\n", r.Agent, r.Guard, text.Get(j.lang, text.ExplainWould), cmp.Or(r.Tool, string(r.Step)), cmp.Or(r.Reason, r.Code)); err != nil {
			return failed(err)
		}
	}
	return nil
}

// checked checks the flags and makes the options of a pipeline from them.
func (j *job) checked(ctx context.Context) (pipeline.Options, error) {
	if err := j.check(); err != nil {
		return pipeline.Options{}, err
	}
	return j.prepareWithMoney(ctx)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
