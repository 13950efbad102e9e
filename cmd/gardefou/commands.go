// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/guards/killswitch"
)

func newStopCommand() *cobra.Command {
	var (
		at     stateFlags
		which  selectorFlags
		stop   killswitch.Stop
		length time.Duration
	)
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop runs by run, session, user, agent or app, or all",
		Long: `Stops runs that are at work, and refuses those that begin, until the same is allowed again or
the time of --for is over. Ids of runs are in the journal.

A stop of an agent ends every run that the agent has taken a step in; one of a session, a
user or an app also the agents that are used as tools in it.`,
		Example: `  gardefou stop --all --reason "provider answers nonsense"
  gardefou stop --agent clerk --for 30m --by "on-call desk"
  gardefou stop --run 5X3VJ4BDSJ2LRW6W2QHVCZKZWN --state redis://redis.internal:6379`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if stop.Selector, err = which.selector(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("for") {
				if length <= 0 {
					return fmt.Errorf("--for is %v, it must be more than zero, as in 30m", length)
				}
				stop.Since = time.Now()
				stop.Until = stop.Since.Add(length)
			}
			return at.answer(cmd, func(ctx context.Context, store killswitch.Store) (answer, error) {
				state, err := killswitch.Put(ctx, store, stop)
				return answer{Said: "Stopped: " + stop.String() + ".", State: state}, err
			})
		},
	}
	which.register(cmd)
	at.register(cmd)
	cmd.Flags().StringVar(&stop.Reason, "reason", "", "why, in one line; agents, their users and the journal read it, so no personal data")
	cmd.Flags().StringVar(&stop.By, "by", "", "who stops, for people who list the state")
	cmd.Flags().DurationVar(&length, "for", 0, "how long, such as 30m or 2h (default: until it is allowed again)")
	return cmd
}

func newAllowCommand() *cobra.Command {
	var at stateFlags
	var which selectorFlags
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Lift a stop",
		Long: `Lifts the stops that were made with the same flag. "allow --all" lifts the stops of everything;
those of a run, session, user, agent or app stay in force and are listed. Where there is no
state yet it makes one in which nothing is stopped.

Runs that were stopped stay stopped: what is allowed again is for later runs.`,
		Example: "  gardefou allow --all --state stops.json\n  gardefou allow --agent clerk",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sel, err := which.selector(cmd)
			if err != nil {
				return err
			}
			return at.answer(cmd, func(ctx context.Context, store killswitch.Store) (answer, error) {
				lifted, left, err := killswitch.Lift(ctx, store, sel)
				said := "Allowed: " + sel.String() + "."
				if len(lifted) == 0 {
					said = "There was no stop of " + sel.String() + "."
				}
				return answer{Said: said, Lifted: lifted, State: left}, err
			})
		},
	}
	which.register(cmd)
	at.register(cmd)
	return cmd
}

func newStateCommand() *cobra.Command {
	var at stateFlags
	cmd := &cobra.Command{
		Use:     "state",
		Short:   "List the stops that are in force",
		Long:    "Lists the stops that are in force: what is stopped, since when, until when, by whom and why.",
		Example: "  gardefou state --state stops.json\n  gardefou state --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return at.answer(cmd, func(ctx context.Context, store killswitch.Store) (answer, error) {
				state, err := killswitch.Read(ctx, store)
				state.Stops = state.At(time.Now())
				return answer{State: state}, err
			})
		},
	}
	at.register(cmd)
	return cmd
}

// selectorFlags say what is meant.
type selectorFlags struct {
	all   bool
	names [len(namedScopes)]string
}

var namedScopes = [...]killswitch.Scope{killswitch.ScopeRun, killswitch.ScopeSession, killswitch.ScopeUser, killswitch.ScopeAgent, killswitch.ScopeApp}

func (f *selectorFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, string(killswitch.ScopeAll), false, "everything")
	flags := []string{string(killswitch.ScopeAll)}
	for i, help := range [...]string{"the run with this `ID`", "the session with this `ID`", "the user with this `ID`", "the agent of this `NAME`", "the app of this `NAME`"} {
		cmd.Flags().StringVar(&f.names[i], string(namedScopes[i]), "", help)
		flags = append(flags, string(namedScopes[i]))
	}
	cmd.MarkFlagsOneRequired(flags...)
	cmd.MarkFlagsMutuallyExclusive(flags...)
}

// selector is what the one flag that is given selects.
func (f *selectorFlags) selector(cmd *cobra.Command) (killswitch.Selector, error) {
	for i, scope := range namedScopes {
		if cmd.Flags().Changed(string(scope)) {
			if f.names[i] == "" {
				return killswitch.Selector{}, fmt.Errorf("--%s is empty", scope)
			}
			return killswitch.Selector{Scope: scope, Name: f.names[i]}, nil
		}
	}
	if !f.all {
		return killswitch.Selector{}, errors.New("--all=false selects nothing")
	}
	return killswitch.Selector{Scope: killswitch.ScopeAll}, nil
}
