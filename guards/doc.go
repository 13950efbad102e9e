// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guards is one guard a file, one idea a guard, to be put into a chain of
// package callbacks.
//
//	chain := callbacks.New(
//		guards.AllowTools("lookup_registry", "report_finding"),
//		guards.Args("lookup_registry", guards.Arg{Name: "supplier", Required: true, NotBlank: true, MaxLen: 80}),
//		guards.CallBudget(6),
//		guards.Redact(),
//		guards.Stash("lookup_"),
//		guards.Journal(os.Stderr),
//	)
//
// Every guard X has a constructor X for what has no good default. Where there is more to
// say, XOptions has all of it, and its method Guard returns the guard:
//
//	guards.RetryOptions{Attempts: 5, ToolFailures: 2}.Guard()
//
// A constructor that is given nonsense returns a Guard that carries the error, which the
// chain returns when it is attached. Guards are safe for concurrent use. Texts for people and models come in the language of the
// Run.
package guards
