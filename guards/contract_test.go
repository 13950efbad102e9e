// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/callbacks/callbackstest"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/guards/ledger"
)

// Every guard keeps the laws of the chain.
func TestContract(t *testing.T) {
	hard, err := ledger.ParseUSD("1000000")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]callbackstest.Contract{
		"allow_tools":       {Guard: guards.AllowTools("lookup")},
		"allow_other":       {Guard: guards.AllowTools("report")},
		"declared_args":     {Guard: guards.DeclaredArgs()},
		"args":              {Guard: guards.Args("lookup", guards.Arg{Name: "supplier", Required: true, NotBlank: true, MaxLen: 3})},
		"business_errors":   {Guard: guards.BusinessErrors()},
		"call_budget":       {Guard: guards.CallBudgetOptions{Calls: 2, ToolCalls: 2, PerTool: map[string]int{"lookup": 2}, Tell: true}.Guard()},
		"run_call_budget":   {Guard: guards.CallBudgetOptions{Calls: 2, Scope: guards.ScopeRun}.Guard()},
		"checkpoint":        {Guard: guards.Checkpoint(func(context.Context, callbacks.Step) error { return nil }, "lookup")},
		"rate_limit":        {Guard: guards.RateLimit(2, time.Hour), KeepsState: true},
		"rate_limit_models": {Guard: guards.RateLimitOptions{Calls: 2, Every: time.Hour, Models: true}.Guard(), KeepsState: true},
		"retry":             {Guard: guards.RetryOptions{Delay: time.Nanosecond}.Guard()},
		"route":             {Guard: guards.Route(callbackstest.Script(callbackstest.Say("cheap")).Repeat())},
		"stable_prefix":     {Guard: guards.StablePrefix()},
		"window_tokens":     {Guard: guards.WindowOptions{Tokens: 100, Summarise: callbackstest.Script(callbackstest.Say("summary")).Repeat()}.Guard()},
		"confirm":           {Guard: guards.Confirm(yes{}, "lookup")},
		"contain":           {Guard: guards.Contain()},
		"deadline":          {Guard: guards.Deadline(time.Minute)},
		"finish":            {Guard: guards.Finish("report", map[string]any{"required": []string{"summary"}})},
		"confirm_by_adk":    {Guard: guards.ConfirmByADK("lookup")},
		"isolate_func":      {Guard: guards.IsolateFunc(func(context.Context) (string, error) { return "Is Acme solvent?", nil })},
		"isolate":           {Guard: guards.Isolate("Is Acme solvent?")},
		"journal":           {Guard: guards.Journal(io.Discard)},
		"kill_switch":       {Guard: guards.KillSwitch(killswitch.File(stopFile(t)))},
		"landing":           {Guard: guards.Landing()},
		"loop":              {Guard: guards.LoopOptions{Strict: true}.Guard()},
		"reask":             {Guard: guards.Reask()},
		"redact":            {Guard: guards.Redact()},
		"scope":             {Guard: guards.Scope("supplier", "Acme")},
		"spend":             {Guard: guards.Spend(guards.SpendOptions{Ledger: memory(t), Limits: ledger.Limits{Hard: hard}, Prices: dear(t)})},
		"stash":             {Guard: guards.Stash("look")},
		"truncate":          {Guard: guards.TruncateOptions{Characters: 200}.Guard()},
		"window":            {Guard: guards.Window(1)},
		"when":              {Guard: callbacks.When(func(s callbacks.Step) bool { return s.Args != nil }, guards.AllowTools("report"))},
		"for_tools":         {Guard: callbacks.ForTools(guards.AllowTools("report"), "lookup")},
		"for_agents":        {Guard: callbacks.ForAgents(guards.Redact(), callbackstest.AgentName)},
		"monitor":           {Guard: callbacks.Monitor(guards.AllowTools("report"))},
		"monitored_budget":  {Guard: callbacks.Monitor(guards.CallBudget(1))},
	} {
		t.Run(name, func(t *testing.T) { c.Assert(t) })
	}
}
