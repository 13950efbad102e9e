// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command loop runs an agent loop whose guard rails show one after the other: checked tool
// calls, a cap of eight model calls, an exact budget of ten cents a question, results and
// a history that are cut, a cheap model for the tools and a better one for the answer, and
// a person before what can't be undone. Models that follow rules stand in for real ones.
package main

import (
	"context"
	"embed"
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

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
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
)

//go:embed *.json
var files embed.FS

// scenes are one conversation, in which each question shows something.
var scenes, book = parsed[[][2]string]("scenes.json"), parsed[[]rule]("rules.json")

// A conversation answers questions, each in an agent loop.
type conversation struct {
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
func (c *conversation) chain() *callbacks.Chain {
	route := callbacks.Guard{Name: "no route"}
	if c.cheap != nil {
		route = guards.Route(c.cheap)
	}
	return callbacks.New(
		guards.WindowOptions{Tokens: 8000}.Guard(),
		guards.AllowTools("get_weather", "list_trains", "book_ticket"),
		guards.DeclaredArgs(),
		guards.BusinessErrors(),
		guards.Confirm(c.approver, "book_ticket"),
		guards.Truncate(),
		route,
		guards.Reask(),
		guards.CallBudgetOptions{Calls: c.calls, Tokens: guards.Unlimited, Time: 2 * time.Minute}.Guard(),
		guards.Spend(guards.SpendOptions{Ledger: c.accounts, Limits: ledger.Limits{Hard: c.budget}, Prices: c.prices, Backend: c.backend}),
		guards.StablePrefix(),
		callbacks.Guard{Name: "show", Observe: c.show},
	)
}

// ask answers a question in the one conversation that the session file keeps.
func (c *conversation) ask(ctx context.Context, question, shows string) callbacks.Status {
	fmt.Fprintf(c.out, "\n%s\n> %s\n", shows, question)
	r := must(runner.New(runner.Config{AppName: "loop", Agent: c.agent, SessionService: c.sessions, AutoCreateSession: true}))
	ctx, run := callbacks.Start(ctx)
	defer run.Close()
	for _, err := range run.Events(r.Run(ctx, "traveller", "conversation", genai.Text(question)[0], agent.RunConfig{})) {
		if err != nil {
			break // the outcome says why
		}
	}
	end := run.Outcome()
	fmt.Fprintf(c.out, "= %s %s\n", end.Status, end.Reason)
	if end.Err != nil {
		fmt.Fprintf(c.out, "  %.300q\n", end.Err.Error())
	}
	var calls []string
	var sum guards.SpendLine
	for _, l := range guards.Records(ctx).Spent() {
		calls = append(calls, fmt.Sprintf("%d %s", l.Calls, l.What))
		sum.TokensIn, sum.TokensCached = sum.TokensIn+l.TokensIn, sum.TokensCached+l.TokensCached
		sum.TokensOut, sum.Charged = sum.TokensOut+l.TokensOut, sum.Charged+l.Charged
	}
	fmt.Fprintf(c.table, "%s\t%s\t%d\t%d\t%d\t%d\t%v\t%s\n", question, strings.Join(calls, ", "),
		sum.TokensIn, sum.TokensCached, sum.TokensOut, len(guards.Records(ctx).PrefixChanges()), sum.Charged, end.Status)
	return end.Status
}

// show prints each step when it is over.
func (c *conversation) show(_ context.Context, ev callbacks.Event) {
	if ev.Step == callbacks.StepTool {
		left, _ := ev.Result[guards.TruncatedKey].(string)
		fmt.Fprintf(c.out, "  %s %v %s\n    %.100s %s\n", ev.Tool, ev.Args, ev.Guard, asText(ev.Result), left)
	}
	if ev.Attempt > 1 {
		fmt.Fprintf(c.out, "  (%d model calls for this turn)\n", ev.Attempt)
	}
	if ev.Response != nil {
		for _, p := range ev.Response.Parts {
			if p.Text != "" {
				fmt.Fprintf(c.out, "  says %.100q\n", p.Text)
			}
		}
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	c := &conversation{out: out, table: table, prices: prices.Default(), backend: "gemini", budget: 100_000_000}
	fl := flag.NewFlagSet("loop", flag.ExitOnError)
	better := fl.String("model", models.Offline, "`model` that answers: offline, chat:NAME, openai:NAME or gemini-NAME;\n"+
		"its key is in OPENAI_API_KEY or GEMINI_API_KEY")
	cheap := fl.String("cheap", "", "cheaper `model` of the same server, for the tools")
	baseURL := fl.String("base-url", "", "`address` of the server, localhost:11434/v1 say")
	file := fl.String("sessions", "file:loop?mode=memory&cache=shared", "SQLite `file` that keeps the conversation; by default none does")
	own := fl.String("price", "", "`prices` beside the built-in ones: NAME=2.55/12.75 in USD per million tokens\n"+
		"read and written, or NAME=free, separated by commas")
	fl.TextVar(&c.budget, "budget", c.budget, "most `USD` for a question")
	fl.IntVar(&c.calls, "calls", 8, "most model calls for a question")
	fl.Usage = func() {
		fmt.Fprintln(fl.Output(), "loop [flags] [question] shows the guard rails of an agent loop, or answers a question inside them.")
		fl.PrintDefaults()
	}
	_ = fl.Parse(args)
	if models.SpeaksOpenAI(*better) {
		c.backend = "openai"
	}
	c.better, c.approver = must(models.New(ctx, models.Options{Name: *better, BaseURL: *baseURL})), approvers.Terminal(in, out, "you")
	if *cheap != "" {
		c.cheap = must(models.New(ctx, models.Options{Name: *cheap, BaseURL: *baseURL}))
	}
	if *better == models.Offline {
		c.better, c.cheap, *own = &rules{name: "better"}, &rules{name: "cheap"}, "better=2.55/12.75,cheap=0.85/4.25"
		c.approver = approvers.NewScript(approvers.No, approvers.Yes) // not at that price
	}
	for p := range strings.FieldsFuncSeq(*own, func(r rune) bool { return r == ',' }) {
		name, price, _ := strings.Cut(p, "=")
		today := prices.Date(time.Now().UTC().Format(time.DateOnly))
		row := prices.Row{Backend: c.backend, Model: name, Source: []string{"--price"}, AsOf: today, Free: price == "free"}
		if read, written, _ := strings.Cut(price, "/"); !row.Free {
			row.Rates = prices.Rates{Input: must(prices.ParsePerMillion(read)), Output: must(prices.ParsePerMillion(written))}
		}
		c.prices = c.prices.Override(must(prices.New("own", row.AsOf, row)))
	}
	c.accounts = must(ledger.NewMemory(ledger.MemoryOptions{})) // redisledger.New for several processes
	c.sessions = must(database.NewSessionService(sqlite.Open(*file), &gorm.Config{Logger: logger.Discard}))
	must(c.sessions, database.AutoMigrate(c.sessions))
	c.agent = must(c.chain().NewAgent(llmagent.Config{
		Name: "traveller_help", Model: c.better, Tools: tools(),
		Instruction: "You help travellers. Use the tools where you need to know more; answer at once where you know enough.", // no clock in it
	}))
	asked := scenes
	if fl.NArg() > 0 {
		asked = [][2]string{{strings.Join(fl.Args(), " "), "Your question."}}
	}
	ended := map[callbacks.Status]int{}
	fmt.Fprintln(table, "\nQUESTION\tCALLS\tREAD\tCACHED\tWRITTEN\tPROMPT CHANGES\tCHARGED\tSTATUS")
	for i := 0; i < len(asked) && ctx.Err() == nil; i++ {
		ended[c.ask(ctx, asked[i][0], asked[i][1])]++
	}
	must(table, table.Flush())
	held := ended[callbacks.StatusCallsExhausted] + ended[callbacks.StatusBudgetExhausted] // as a guard rail should
	if done := ended[callbacks.StatusDone]; done == 0 || done+held < len(asked) {
		return fmt.Errorf("of %d questions %d were answered: %v", len(asked), done, ended)
	}
	return nil
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
	must(0, run(ctx, os.Args[1:], os.Stdin, os.Stdout))
}

func tools() []tool.Tool {
	return []tool.Tool{
		function("get_weather", `"city": {"type": "string", "minLength": 1},
			"days": {"type": "integer", "minimum": 1, "maximum": 14}`, func(args map[string]any) (map[string]any, error) {
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
		function("book_ticket", `"train": {"type": "string"}, "euros": {"type": "number", "minimum": 1}`,
			func(args map[string]any) (map[string]any, error) { return map[string]any{"booked": args["train"]}, nil }),
	}
}

// function is a tool that needs all of its parameters and takes no others.
func function(name, params string, do func(map[string]any) (map[string]any, error)) tool.Tool {
	schema := &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	must(schema, json.Unmarshal([]byte("{"+params+"}"), &schema.Properties))
	schema.Required = slices.Sorted(maps.Keys(schema.Properties)) // the same prompt each time
	return must(functiontool.New(functiontool.Config{Name: name, InputSchema: schema},
		func(_ agent.Context, args map[string]any) (map[string]any, error) { return do(args) }))
}

// A rule says and calls something where its first words stand in the question and its
// second in what was read last: TOWN is one more each turn, REPORT goes on and on.
type rule struct{ Asked, Read, Say, Call, Args string }

func parsed[T any](name string) (v T) {
	must(0, json.Unmarshal(must(files.ReadFile(name)), &v))
	return v
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
		fits := func(r rule) bool { return strings.Contains(question, r.Asked) && strings.Contains(last, r.Read) }
		r := book[slices.IndexFunc(book, fits)]
		fill := strings.NewReplacer("TOWN", fmt.Sprint("town ", turn+1), "FIRST", req.Contents[0].Parts[0].Text,
			"REPORT", strings.Repeat("The climate is mild. ", 1000)).Replace
		resp := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}, FinishReason: genai.FinishReasonStop}
		if say := fill(r.Say); say != "" {
			most := 4 * (int(req.Config.MaxOutputTokens) - 100)
			resp.Content.Parts = append(resp.Content.Parts, genai.NewPartFromText(say[:min(most, len(say))]))
		}
		call := &genai.FunctionCall{Name: r.Call}
		if r.Call != "" && json.Unmarshal([]byte(fill(r.Args)), &call.Args) != nil {
			resp.FinishReason, resp.ErrorCode = genai.FinishReasonMalformedFunctionCall, "MALFORMED_FUNCTION_CALL"
		} else if r.Call != "" {
			resp.Content.Parts = append(resp.Content.Parts, &genai.Part{FunctionCall: call})
		}
		prompt, same := asText(req.Config.Tools)+asText(req.Contents), 0
		for same < min(len(prompt), len(m.before)) && prompt[same] == m.before[same] {
			same++
		}
		m.before = prompt
		in, out := int32(len(prompt)/4), int32(len(asText(resp.Content))/4)
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: in, CachedContentTokenCount: int32(same / 4), CandidatesTokenCount: out, TotalTokenCount: in + out,
		}
		yield(resp, nil)
	}
}

func asText(v any) string { return string(must(json.Marshal(v))) }
