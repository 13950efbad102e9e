// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command loop runs an agent loop whose guard rails show one after the other: checked tool
// calls, a cap of eight model calls, an exact budget of ten cents a question, results and
// a history that are cut, a cheap model for the tools and a better one for the answer, and
// a person before what can't be undone. Models that follow rules stand in for real ones.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
)

// scenes are one conversation, in which each question shows something.
var scenes = [][2]string{
	{"What can you do?", "An answer without a tool call is the way out, not an error."},
	{"What will the weather be in Quimper?", "The model proposes, the guards dispose: it reads each fault and corrects itself."},
	{"Book me a ticket to Paris.", "What can't be undone waits until a person agrees to this very call."},
	{"Which trains go to Paris?", "A wall of data is cut before it is sent again with every turn."},
	{"Which town is the warmest of all?", "A model that never has enough meets the cap of calls."},
	{"Write a long report on the climate.", "One that writes and writes is refused the call that could pass the budget."},
	{"What did I ask you first?", "The session keeps all, the model reads the newest turns."},
}

// A desk answers questions.
type desk struct {
	agent         agent.Agent
	better, cheap model.LLM
	approver      guards.Approver
	calls         int
	budget        ledger.Nano
	accounts      ledger.Ledger
	prices        *prices.Table
	backend       string // who bills
	sessions      session.Service
	out, table    io.Writer
}

// chain is the guard rails, in the order in which they run.
func (d *desk) chain() *callbacks.Chain {
	route := callbacks.Guard{Name: "no route"}
	if d.cheap != nil {
		route = guards.Route(d.cheap)
	}
	return callbacks.New(
		guards.WindowWith(guards.WindowOptions{Tokens: 8000}),
		guards.AllowTools("get_weather", "list_trains", "book_ticket"),
		guards.DeclaredArgs(),
		guards.BusinessErrors(),
		guards.Confirm(d.approver, "book_ticket"),
		guards.Truncate(),
		route,
		guards.Reask(),
		guards.CallBudgetWith(guards.CallBudgetOptions{Calls: d.calls, Tokens: guards.Unlimited, Time: 2 * time.Minute}),
		guards.Spend(guards.SpendOptions{Ledger: d.accounts, Limits: ledger.Limits{Hard: d.budget}, Prices: d.prices, Backend: d.backend}),
		guards.StablePrefix(),
		callbacks.Guard{Name: "show", Observe: d.show},
	)
}

// ask answers a question in the one conversation that the session file keeps.
func (d *desk) ask(ctx context.Context, question, shows string) {
	fmt.Fprintf(d.out, "%s\n> %s\n", shows, question)
	r := must(runner.New(runner.Config{AppName: "loop", Agent: d.agent, SessionService: d.sessions, AutoCreateSession: true}))
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "traveller", "conversation", genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{})) {
		if err != nil {
			break // the outcome says why
		}
	}
	end := run.Outcome()
	fmt.Fprintf(d.out, "= %s %s\n\n", end.Status, end.Reason)
	var calls []string
	var sum guards.SpendLine
	for _, l := range guards.Spent(ctx) {
		calls = append(calls, fmt.Sprintf("%d %s", l.Calls, l.What))
		sum.TokensIn, sum.TokensCached, sum.TokensOut, sum.Charged = sum.TokensIn+l.TokensIn, sum.TokensCached+l.TokensCached, sum.TokensOut+l.TokensOut, sum.Charged+l.Charged
	}
	fmt.Fprintf(d.table, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%s\n", question, strings.Join(calls, ", "), sum.TokensIn, sum.TokensCached, sum.TokensOut, len(guards.PrefixChanges(ctx)), sum.Charged, end.Status)
}

// show prints each step when it is over.
func (d *desk) show(_ context.Context, ev callbacks.Event) {
	if ev.Step == callbacks.StepTool {
		left, _ := ev.Result[guards.TruncatedKey].(string)
		fmt.Fprintf(d.out, "  %s %v %s\n    %.100s %s\n", ev.Tool, ev.Args, ev.Guard, asText(ev.Result), left)
	}
	if ev.Attempt > 1 {
		fmt.Fprintf(d.out, "  (%d model calls for this turn)\n", ev.Attempt)
	}
	if ev.Response != nil {
		for _, p := range ev.Response.Parts {
			if p.Text != "" {
				fmt.Fprintf(d.out, "  says %.100q\n", p.Text)
			}
		}
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	d := &desk{out: out, table: table, prices: prices.Default(), backend: "gemini", budget: 100_000_000}
	fl := flag.NewFlagSet("loop", flag.ExitOnError)
	better := fl.String("model", models.Offline, "`model` that answers: offline, chat:NAME, openai:NAME or gemini-NAME; the key is in OPENAI_API_KEY or GEMINI_API_KEY")
	cheap := fl.String("cheap", "", "cheaper `model` of the same server, for the tools")
	baseURL := fl.String("base-url", "", "`address` of the server, localhost:11434/v1 say")
	file := fl.String("sessions", "file:loop?mode=memory&cache=shared", "SQLite `file` that keeps the conversation for the next run; by default none does")
	own := fl.String("price", "", "`prices` beside the built-in ones: NAME=2.55/12.75 in USD per million tokens read and written, or NAME=free, separated by commas")
	fl.TextVar(&d.budget, "budget", d.budget, "most `USD` for a question")
	fl.IntVar(&d.calls, "calls", 8, "most model calls for a question")
	fl.Usage = func() {
		fmt.Fprintln(fl.Output(), "loop [flags] [question] shows the guard rails of an agent loop one after the other, or answers a question inside them.")
		fl.PrintDefaults()
	}
	_ = fl.Parse(args)
	if models.SpeaksOpenAI(*better) {
		d.backend = "openai"
	}
	d.better, d.approver = must(models.New(ctx, models.Options{Name: *better, BaseURL: *baseURL})), approvers.Terminal(in, out, "you")
	if *cheap != "" {
		d.cheap = must(models.New(ctx, models.Options{Name: *cheap, BaseURL: *baseURL}))
	}
	if *better == models.Offline {
		d.better, d.cheap, *own = &rules{name: "better"}, &rules{name: "cheap"}, "better=2.55/12.75,cheap=0.85/4.25"
		d.approver = approvers.NewScript(approvers.No, approvers.Yes) // not at that price
	}
	for p := range strings.FieldsFuncSeq(*own, func(r rune) bool { return r == ',' }) {
		name, price, _ := strings.Cut(p, "=")
		row := prices.Row{Backend: d.backend, Model: name, Source: []string{"--price"}, AsOf: prices.Date(time.Now().UTC().Format(time.DateOnly)), Free: price == "free"}
		if read, written, _ := strings.Cut(price, "/"); !row.Free {
			row.Rates = prices.Rates{Input: must(prices.ParsePerMillion(read)), Output: must(prices.ParsePerMillion(written))}
		}
		d.prices = d.prices.Override(must(prices.New("own", row.AsOf, row)))
	}
	d.accounts = must(ledger.NewMemory(ledger.MemoryOptions{})) // redisledger.New for several processes
	d.sessions = must(database.NewSessionService(sqlite.Open(*file), &gorm.Config{Logger: logger.Discard}))
	must(d.sessions, database.AutoMigrate(d.sessions))
	d.agent = must(d.chain().NewAgent(llmagent.Config{
		Name: "desk", Model: d.better, Tools: deskTools(),
		Instruction: "You help travellers. Use the tools where you need to know more; answer at once where you know enough.", // no clock in it
	}))
	asked := scenes
	if fl.NArg() > 0 {
		asked = [][2]string{{strings.Join(fl.Args(), " "), "Your question."}}
	}
	fmt.Fprintln(table, "QUESTION\tCALLS\tREAD\tCACHED\tWRITTEN\tPROMPT CHANGES\tCHARGED\tSTATUS")
	for ; len(asked) > 0 && ctx.Err() == nil; asked = asked[1:] {
		d.ask(ctx, asked[0][0], asked[0][1])
	}
	must(table, table.Flush())
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run(ctx, os.Args[1:], os.Stdin, os.Stdout)
}

func deskTools() []tool.Tool {
	return []tool.Tool{
		function("get_weather", `"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "minimum": 1, "maximum": 14}`, func(args map[string]any) (map[string]any, error) {
			if args["city"] == "Atlantis" {
				return nil, guards.Business(errors.New("no such town"))
			}
			return map[string]any{"city": args["city"], "sky": "clear"}, nil
		}),
		function("list_trains", `"to": {"type": "string"}`, func(args map[string]any) (map[string]any, error) {
			var rows []any
			for i := range 1000 {
				rows = append(rows, fmt.Sprintf("train %d to %v leaves at %02d:%02d, 2nd class", 8000+i, args["to"], 5+i/60, i%60))
			}
			return map[string]any{"trains": rows}, nil
		}),
		function("book_ticket", `"train": {"type": "string"}, "euros": {"type": "number", "minimum": 1}`, func(args map[string]any) (map[string]any, error) {
			return map[string]any{"booked": args["train"]}, nil
		}),
	}
}

// function is a tool that needs all of its parameters and takes no others.
func function(name, params string, do func(map[string]any) (map[string]any, error)) tool.Tool {
	schema := &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	must(schema, json.Unmarshal([]byte("{"+params+"}"), &schema.Properties))
	schema.Required = slices.Sorted(maps.Keys(schema.Properties)) // the same prompt each time
	return must(functiontool.New(functiontool.Config{Name: name, InputSchema: schema}, func(_ agent.Context, args map[string]any) (map[string]any, error) { return do(args) }))
}

// A rule says and calls something where its first words stand in the question and its
// second in what was read last: TOWN is one more each turn.
type rule struct{ asked, read, say, call, args string }

var book = []rule{
	{"weather", "could not be read", "", "get_weather", `{"city": "Quimper", "days": "three"}`},
	{"weather", "not allowed", "", "get_weather", `{"city": "Quimper", "days": `}, // not JSON
	{"weather", "has type", "", "get_weather", `{"city": "Quimper", "days": 99}`},
	{"weather", "maximum", "", "get_weather", `{"city": "Atlantis", "days": 3}`},
	{"weather", "no such town", "", "get_weather", `{"city": "Quimper", "days": 3}`},
	{"weather", "sky", "It will be clear in Quimper.", "", ""},
	{"weather", "", "", "get_wether", `{"city": "Quimper"}`},
	{"ticket", "booked", "You have a seat in train 8710, for 45 euros.", "", ""},
	{"ticket", "error", "", "book_ticket", `{"train": "8710", "euros": 45}`},
	{"ticket", "", "", "book_ticket", `{"train": "8700", "euros": 189}`},
	{"trains", "truncated", "Very many do; the first leaves at 05:00.", "", ""},
	{"trains", "", "", "list_trains", `{"to": "Paris"}`},
	{"warmest", "", "", "get_weather", `{"city": "TOWN", "days": 1}`},
	{"report", "", strings.Repeat("The climate is mild. ", 1000), "get_weather", `{"city": "TOWN", "days": 1}`},
	{"first", "", "You asked: FIRST", "", ""},
	{"", "", "I know the weather and the trains, and can book a ticket.", "", ""},
}

// rules is a model that follows rules and makes the slips that models make. It keeps to its
// output limit and counts tokens as a provider does: at four bytes, and what a prompt has in
// common with the one before as cached.
type rules struct{ name, before string }

func (m *rules) Name() string { return m.name }

func (m *rules) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		var question, last string
		turn := 0
		for _, c := range req.Contents {
			last = asText(c)
			for _, p := range c.Parts {
				if c.Role == genai.RoleModel {
					turn++
				} else if p.Text != "" && !strings.Contains(p.Text, "could not be read") {
					question, last, turn = p.Text, "", 0
				}
			}
		}
		r := book[slices.IndexFunc(book, func(r rule) bool { return strings.Contains(question, r.asked) && strings.Contains(last, r.read) })]
		fill := strings.NewReplacer("TOWN", fmt.Sprint("town ", turn+1), "FIRST", req.Contents[0].Parts[0].Text).Replace
		resp := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}, FinishReason: genai.FinishReasonStop}
		if r.say != "" {
			most := 4 * (int(req.Config.MaxOutputTokens) - 100)
			resp.Content.Parts = append(resp.Content.Parts, genai.NewPartFromText(fill(r.say[:min(most, len(r.say))])))
		}
		call := &genai.FunctionCall{Name: r.call}
		if r.call != "" && json.Unmarshal([]byte(fill(r.args)), &call.Args) != nil {
			resp.FinishReason, resp.ErrorCode = genai.FinishReasonMalformedFunctionCall, "MALFORMED_FUNCTION_CALL"
		} else if r.call != "" {
			resp.Content.Parts = append(resp.Content.Parts, &genai.Part{FunctionCall: call})
		}
		prompt, same := asText(req.Config.Tools)+asText(req.Contents), 0
		for same < min(len(prompt), len(m.before)) && prompt[same] == m.before[same] {
			same++
		}
		m.before = prompt
		in, out := int32(len(prompt)/4), int32(len(asText(resp.Content))/4)
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: in, CachedContentTokenCount: int32(same / 4), CandidatesTokenCount: out, TotalTokenCount: in + out}
		yield(resp, nil)
	}
}

func asText(v any) string { return string(must(json.Marshal(v))) }
