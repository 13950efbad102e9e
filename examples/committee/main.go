// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command committee splits a committee's question into isolated sub-agents with budgets; what
// one of them could not do is a gap in the answer and not the end of it.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/ledger"
)

//go:embed dossier.json *.tmpl
var files embed.FS

var errUsage = errors.New("wrong arguments, see --help")

// page.tmpl quotes what a model wrote: a terminal would obey some of it.
var pages = template.Must(template.ParseFS(files, "*.tmpl"))

// A committee is the request, its parts, and the documents there are.
type committee struct {
	Request, Instruction string
	SubAgents            []*subAgent
	Documents            []document
	Report               functiontool.Config // the finishing tool, with the schema of a finding
}

type document struct{ ID, Date, Type, Title, Text string }

type finding struct {
	Answer, Confidence string
	Sources, Gaps      []string
}

// A subAgent is one question, the documents assigned to it, and what became of it.
type subAgent struct {
	Name, Question string
	Scope          []string
	mu             sync.Mutex // the calls of one answer run at once
	read           []string
	Landed         bool
	Finding        *finding
	Gap            string // why there is no finding
	Spent          guards.SpendLine
}

// The tools reach all documents: what s may read and find is the guards' part. An error
// that is not marked for the model ends it.
func (c *committee) tools(s *subAgent) []tool.Tool {
	read := func(_ agent.Context, in struct{ DocID string }) (document, error) {
		i := slices.IndexFunc(c.Documents, func(d document) bool { return d.ID == in.DocID })
		if i < 0 || c.Documents[i].Text == "" {
			return document{}, fmt.Errorf("the archive has lost %s", in.DocID)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.read = append(s.read, in.DocID)
		return c.Documents[i], nil
	}
	search := func(_ agent.Context, in struct{ Word string }) (map[string][]document, error) {
		var found []document
		for _, d := range c.Documents {
			if strings.Contains(strings.ToLower(d.Title+" "+d.Text), strings.ToLower(in.Word)) {
				found = append(found, document{ID: d.ID, Date: d.Date, Type: d.Type, Title: d.Title})
			}
		}
		return map[string][]document{"found": found}, nil
	}
	report := func(_ agent.Context, f finding) (map[string]string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.IndexFunc(f.Sources, func(id string) bool { return !slices.Contains(s.read, id) }); i >= 0 {
			return nil, guards.Business(fmt.Errorf("%q is a source that you have not read", f.Sources[i]))
		}
		s.Finding = &f
		return map[string]string{"status": "reported"}, nil
	}
	return []tool.Tool{
		must(functiontool.New(functiontool.Config{Name: "read", Description: "Returns a document of your scope."}, read)),
		must(functiontool.New(functiontool.Config{Name: "search", Description: "Lists the documents of your scope that hold a word."}, search)),
		must(functiontool.New(c.Report, report)),
	}
}

func (c *committee) agent(s *subAgent, m model.LLM, spend callbacks.Guard) agent.Agent {
	prompt := "Question: " + s.Question + "\nYour scope:"
	for _, d := range c.Documents {
		if slices.Contains(s.Scope, d.ID) {
			prompt += "\n" + strings.Join([]string{d.ID, d.Date, d.Type, d.Title}, " | ")
		}
	}
	return must(callbacks.New(
		guards.Contain(),
		guards.Deadline(120*time.Second), // hard; the budget looks at the clock between calls
		guards.Isolate(prompt),
		guards.ScopeOptions{
			Arg: "DocID", Values: s.Scope, Tools: []string{"read"}, Unlisted: true, // the prompt lists them, with date and type
			Searches: []guards.ScopeSearch{{Tool: "search", List: "found", Field: "ID"}},
		}.Guard(),
		guards.Args("search", guards.Arg{Name: "Word", Required: true, NotBlank: true, MaxLen: 100}),
		guards.BusinessErrors(),
		guards.Finish(c.Report.Name, c.Report.InputSchema),
		guards.CallBudgetOptions{Calls: 6, Tokens: 40_000, Time: 90 * time.Second}.Guard(), // 2 calls are the normal course
		guards.Landing(),
		spend,
		callbacks.Guard{Name: "watch", Observe: func(_ context.Context, ev callbacks.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.Landed, s.Gap = s.Landed || ev.Landed, cmp.Or(ev.Reason, s.Gap)
		}},
	).NewAgent(llmagent.Config{
		Name: s.Name, Model: m, Instruction: c.Instruction, Tools: c.tools(s),
		GenerateContentConfig: &genai.GenerateContentConfig{MaxOutputTokens: 4096},
	}))
}

// ask returns what became of each sub-agent, also where ctx ends before they do.
func ask(ctx context.Context, m model.LLM, spend callbacks.Guard, oneByOne bool) (c *committee, err error) {
	must(0, json.Unmarshal(must(files.ReadFile("dossier.json")), &c))
	cfg := agent.Config{Name: "committee"}
	for _, s := range c.SubAgents {
		cfg.SubAgents = append(cfg.SubAgents, c.agent(s, m, spend))
	}
	root := must(parallelagent.New(parallelagent.Config{AgentConfig: cfg}))
	if oneByOne {
		root = must(sequentialagent.New(sequentialagent.Config{AgentConfig: cfg}))
	}
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	r := must(runner.NewInMemory("committee", root))
	for _, err = range run.Events(r.Run(ctx, "user", "session", genai.NewContentFromText(c.Request, genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			break // what goes wrong in a sub-agent is contained: this is the end of all
		}
	}
	for _, s := range c.SubAgents {
		for _, line := range guards.Records(ctx).Spent() {
			if line.Agent == s.Name {
				s.Spent = line
			}
		}
		for _, g := range guards.Records(ctx).Gaps() {
			if g.Agent == s.Name {
				s.Gap = cmp.Or(errors.Unwrap(g.Err), g.Err).Error() // the cause, which no model reads
			}
		}
	}
	return c, err
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("committee", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { _ = pages.ExecuteTemplate(out, "help.tmpl", nil); flags.PrintDefaults() }
	name := flags.String("model", models.Offline, "`NAME`: offline, or gemini-NAME or openai:NAME that has a price")
	baseURL := flags.String("base-url", "", "`URL` of the model's server")
	oneByOne := flags.Bool("one-by-one", false, "run the sub-agents one after the other")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errors.Join(err, fmt.Errorf("%w: %q", errUsage, args))
	}
	m := offline()
	if *name != models.Offline || *baseURL != "" {
		if m, err = models.New(ctx, models.Options{Name: *name, BaseURL: *baseURL}); err != nil {
			return err
		}
	}
	backend := map[bool]string{false: "gemini", true: "openai"}[models.SpeaksOpenAI(*name)]
	money := guards.SpendOptions{Ledger: must(ledger.NewMemory(ledger.MemoryOptions{})), Limits: ledger.Limits{Hard: 5e8}, Backend: backend}
	c, err := ask(ctx, m, guards.Spend(money), *oneByOne)
	if err == nil && !slices.ContainsFunc(c.SubAgents, func(s *subAgent) bool { return s.Finding != nil }) {
		err = fmt.Errorf("no sub-agent came to a finding: %.300q", c.SubAgents[0].Gap)
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	return errors.Join(err, pages.ExecuteTemplate(w, "page.tmpl", c), w.Flush())
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	if stop(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(map[bool]int{false: 1, true: 2}[errors.Is(err, errUsage)])
	}
}

// offline stands in for a small model, under its name and at its price.
func offline() model.LLM {
	return callbackstest.Script(callbackstest.Turn{Do: func(_ context.Context, req *model.LLMRequest) callbackstest.Turn {
		turn := callbackstest.Turn{Parts: decide(req)}
		in, out := must(json.Marshal(req.Contents)), must(json.Marshal(turn.Parts))
		return turn.WithUsage(int32(len(in)/4), int32(len(out)/4)) //nolint:gosec // far below 2^31
	}}).Repeat().Named("gemini-2.5-flash")
}

// decide, from the request alone, reads the whole scope, or searches for each topic in
// brackets and reads what it finds, and reports what is official and newest.
func decide(req *model.LLMRequest) (todo []*genai.Part) {
	results, asked, answered := map[string]any{}, []string{}, 0
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				asked = append(asked, fmt.Sprint(p.FunctionCall.Name, p.FunctionCall.Args))
			} else if p.FunctionResponse != nil {
				results[asked[answered]], answered = p.FunctionResponse.Response, answered+1
			}
		}
	}
	var answer, gaps, sources []string
	type result struct {
		document
		Found []document
		Error string
	}
	want := func(name, arg, value string) (r result) {
		args := map[string]any{arg: value}
		got, known := results[fmt.Sprint(name, args)]
		must(0, json.Unmarshal(must(json.Marshal(got)), &r))
		if !known && len(req.Config.Tools[0].FunctionDeclarations) > 1 {
			todo = append(todo, genai.NewPartFromFunctionCall(name, args))
		} else if !known || r.Error != "" {
			gaps = append(gaps, value+": "+cmp.Or(r.Error, "no call was left to "+name))
		}
		return r
	}
	question, scope, _ := strings.Cut(req.Contents[0].Parts[0].Text, "\nYour scope:\n")
	_, topics, _ := strings.Cut(strings.TrimRight(question, ")?"), "(")
	for topic := range strings.SplitSeq(topics, ", ") {
		ids := strings.Split(scope, "\n")
		if topic != "" {
			ids = nil
			for _, d := range want("search", "Word", strings.TrimSuffix(topic, "s")).Found {
				ids = append(ids, d.ID)
			}
		}
		top, official := document{}, false
		for i, n := 0, 0; i < len(ids); i++ {
			d := want("read", "DocID", ids[i][:len("doc-01")]).document
			if strings.Contains(d.Text, "next document") {
				must(fmt.Sscanf(d.ID, "doc-%d", &n))
				ids = append(ids, fmt.Sprintf("doc-%02d", n+1))
			}
			if is := d.ID != "" && d.Type != "blog" && d.Type != "forum post"; is && !official || is == official && d.Date > top.Date {
				top, official = d, is
			}
		}
		if len(todo) > 0 {
			return todo
		}
		if top.ID != "" {
			answer, sources = append(answer, top.Text), append(sources, top.ID)
			if !official {
				gaps = append(gaps, "only a "+top.Type+" says so")
			}
		}
	}
	confidence := map[bool]string{true: "high", false: "medium"}[gaps == nil]
	if gaps == nil && strings.Contains(fmt.Sprint(asked), "report_finding") {
		gaps = []string{} // small models write null until they are corrected
	}
	finding := map[string]any{"answer": strings.Join(answer, " "), "sources": sources, "gaps": gaps, "confidence": confidence}
	return []*genai.Part{genai.NewPartFromFunctionCall("report_finding", finding)}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
