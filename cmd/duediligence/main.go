// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Command duediligence researches one supplier and writes a report that a buyer or
// a compliance officer can file.
//
//	duediligence "Transports Kervalec"
//	duediligence --source live 552081317 -o kervalec/
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes. They are part of the command's contract.
const (
	exitOK          = 0
	exitFailed      = 1
	exitRefused     = 2
	exitAmbiguous   = 3
	exitNotFound    = 4
	exitExhausted   = 5
	exitUnavailable = 6
	exitRating      = 7
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command with its surroundings handed in.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// ADK and its dependencies write to the standard logger; stderr is for people.
	log.SetOutput(io.Discard)
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		if exit.message != "" {
			fmt.Fprintln(stderr, exit.message)
		}
		return exit.code
	default:
		fmt.Fprintf(stderr, "duediligence: %v\nTry: duediligence --help\n", err)
		return exitRefused
	}
}

// exitError ends the command with a code and, where it has one, a message.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return fmt.Sprintf("exit %d: %s", e.code, e.message) }
