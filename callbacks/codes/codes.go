// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package codes lists the codes of refusals: the stable, machine-readable reasons of the
// chain and of the guards of this module. Journals, telemetry, refusals and Outcome carry
// them. A code never changes its meaning; new ones may come. It imports nothing.
//
// A guard of your own takes a code from here where one fits, and else a Code of its own, in
// lower case with underscores.
package codes

// A Code is why a step was refused or failed. The empty Code is that of a step that was
// neither.
type Code string

// Codes that the chain itself uses.
const (
	GuardFailed   Code = "guard_failed"   // a hook returned an error of its own
	GuardPanicked Code = "guard_panicked" // a hook panicked
	GuardFaulty   Code = "guard_faulty"   // a hook broke a rule of the chain
	RunStopped    Code = "run_stopped"    // the Run was stopped before the step
	ToolFailed    Code = "tool_failed"
	ToolPanicked  Code = "tool_panicked"
	UnknownTool   Code = "unknown_tool"        // the agent has no tool of that name
	AmbiguousArgs Code = "ambiguous_arguments" // two names of arguments differ in case alone
	ModelFailed   Code = "model_failed"
	ModelPanicked Code = "model_panicked"
	AgentFailed   Code = "agent_failed"
	AgentPanicked Code = "agent_panicked"
	// ConfirmationRejected is a call that a person refused in ADK's own confirmation.
	ConfirmationRejected Code = "confirmation_rejected"
	FinishUnknown        Code = "finish_unknown" // it is not known whether the last answer is whole
)

// Codes that are statuses of a Run, too.
const (
	CallsExhausted  Code = "calls_exhausted"  // guards.CallBudget: model calls
	TokensExhausted Code = "tokens_exhausted" // guards.CallBudget: tokens
	TimeExhausted   Code = "time_exhausted"   // guards.CallBudget and guards.Deadline
	BudgetExhausted Code = "budget_exhausted" // guards.Spend: money
	LoopDetected    Code = "loop_detected"    // guards.Loop
)

// Codes of guards.
const (
	ToolCallsExhausted Code = "tool_calls_exhausted" // guards.CallBudget
	CountersFailed     Code = "counters_failed"      // guards.CallBudget: the shared store
	ToolNotAllowed     Code = "tool_not_allowed"     // guards.AllowTools
	InvalidArgument    Code = "invalid_argument"     // guards.Args
	OutOfScope         Code = "out_of_scope"         // guards.Scope
	ValueUnavailable   Code = "value_unavailable"    // guards.Redact: a token without its value
	CheckpointFailed   Code = "checkpoint_failed"    // guards.Checkpoint
	ApprovalRejected   Code = "approval_rejected"    // guards.Confirm and guards.ConfirmByADK
	ApprovalTimeout    Code = "approval_timeout"
	ApprovalInvalid    Code = "approval_invalid"
	ApprovalFailed     Code = "approval_failed"
	ToolTimeout        Code = "tool_timeout"   // guards.Deadline: one tool call
	InvalidFinish      Code = "invalid_finish" // guards.Finish
	NotFinished        Code = "not_finished"
	RepeatedCall       Code = "repeated_call"      // guards.Loop: one call
	RateLimited        Code = "rate_limited"       // guards.RateLimit
	Killed             Code = "killed"             // guards.KillSwitch: a person stopped it
	KillSwitchFailed   Code = "kill_switch_failed" // guards.KillSwitch: its state is unknown
	ToolExhausted      Code = "tool_exhausted"     // guards.Retry: failed too often in a row
	CostUnbounded      Code = "cost_unbounded"     // guards.Spend: no worst case is known
	LedgerFailed       Code = "ledger_failed"      // guards.Spend: the ledger can't be written
)
