// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command gardefou operates agents that are guarded with this module, from another process than theirs.
//
//	gardefou stop --agent clerk --reason "wrong prices" --state /var/lib/agents/stops.json
//	gardefou state
//	gardefou allow --agent clerk
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes. They are part of the command's contract.
const (
	exitOK      = 0
	exitFailed  = 1
	exitRefused = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command with its surroundings handed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var failed *failedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		fmt.Fprintf(stderr, "gardefou: %v\n", err)
		return exitFailed
	default:
		fmt.Fprintf(stderr, "gardefou: %v\nTry: gardefou --help\n", err)
		return exitRefused
	}
}

// failedError is an error of the state; every other one is of the command line.
type failedError struct{ cause error }

func (e *failedError) Error() string { return e.cause.Error() }
func (e *failedError) Unwrap() error { return e.cause }

const rootHelp = `Stops agents that run in other processes, allows them again, and lists what is stopped.

The agents must have guards.KillSwitch in their chain, with the same state: a file that both
processes see, or Redis. A stop is effective within a second. A run that was stopped stays
stopped; what is allowed again is for later runs.

The state is begun with "gardefou allow --all", in which nothing is stopped, or with
"gardefou stop --all". Agents whose state is missing, not whole or out of reach are refused.

Exit codes: 0 done; 1 the state can't be read or changed; 2 the command line is refused.`

func newRootCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "gardefou", Short: "Operate guarded agents from another process", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStopCommand(), newAllowCommand(), newStateCommand())
	return cmd
}
