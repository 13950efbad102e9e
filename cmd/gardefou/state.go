// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/guards/killswitch"
	"github.com/gardefou/gardefou/guards/killswitch/rediskillswitch"
)

const stateVariable = "GARDEFOU_STATE"

// stateFlags say where the state is and how it is printed.
type stateFlags struct {
	state  string
	asJSON bool
}

func (f *stateFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.state, "state", "", "where the state is: a `FILE`, or redis://HOST:PORT (default: "+stateVariable+" of the environment, which keeps a password from others on the machine)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the answer as JSON")
}

// answer opens the state for do and prints its answer.
func (f *stateFlags) answer(cmd *cobra.Command, do func(context.Context, killswitch.Store) (answer, error)) error {
	f.state = cmp.Or(f.state, os.Getenv(stateVariable))
	store, shut := killswitch.File(f.state), func() {}
	switch {
	case f.state == "":
		return errors.New("where is the state? Give --state FILE or --state redis://HOST:PORT, or set " + stateVariable)
	case f.inRedis():
		var err error
		if store, shut, err = openRedis(f.state); err != nil {
			return &failedError{fmt.Errorf("%s: %w", f.shown(), err)}
		}
	case strings.Contains(f.state, "://"):
		return fmt.Errorf("--state %s is neither a file nor redis://HOST:PORT", f.shown())
	}
	defer shut()
	a, err := do(cmd.Context(), store)
	switch {
	case err == nil:
	case errors.Is(err, killswitch.ErrInvalid) && !errors.Is(err, killswitch.ErrForeign):
		return err
	default:
		return &failedError{fmt.Errorf("%s: %w%s", f.shown(), err, f.mend(err))}
	}
	if err := f.print(cmd.OutOrStdout(), a); err != nil {
		return &failedError{fmt.Errorf("done, but the answer can't be printed: %w", err)}
	}
	return nil
}

func openRedis(address string) (store killswitch.Store, shut func(), err error) {
	return rediskillswitch.Dial(address)
}

func (f *stateFlags) inRedis() bool {
	for _, scheme := range []string{"redis://", "rediss://", "unix://"} {
		if strings.HasPrefix(f.state, scheme) {
			return true
		}
	}
	return false
}

// shown is the state's place without a password.
func (f *stateFlags) shown() string {
	if !strings.Contains(f.state, "://") {
		return f.state
	}
	u, err := url.Parse(f.state)
	if err != nil {
		return "the state"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// mend says what to do about an error of the state.
func (f *stateFlags) mend(err error) string {
	begin := `"gardefou stop --all", in which all is stopped, or with "gardefou allow --all", in which nothing is.`
	switch {
	case errors.Is(err, killswitch.ErrNoState):
		return ".\nAgents that read it are refused. Begin one with " + begin
	case errors.Is(err, killswitch.ErrForeign) && f.inRedis():
		return ".\nAgents that read it are refused. Remove it (redis-cli DEL " + rediskillswitch.Key + "), then begin a new one with " + begin
	case errors.Is(err, killswitch.ErrForeign):
		return ".\nAgents that read it are refused. If the file is what you meant, remove it, then begin a new one with " + begin
	case errors.Is(err, killswitch.ErrFull):
		return ".\nLift stops that are no longer needed, or stop everything with \"gardefou stop --all\"."
	default:
		return ""
	}
}

// An answer is what a command prints.
type answer struct {
	Said   string            `json:"-"`
	Lifted []killswitch.Stop `json:"lifted,omitempty"`
	killswitch.State
}

func (f *stateFlags) print(w io.Writer, a answer) error {
	if f.asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(a)
	}
	var sb strings.Builder
	if a.Said != "" {
		sb.WriteString(a.Said + "\n")
	}
	if len(a.Stops) == 0 {
		sb.WriteString("Nothing is stopped.\n")
	} else {
		table(&sb, a.Stops)
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

func table(w io.Writer, stops []killswitch.Stop) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STOPPED\tSINCE\tUNTIL\tBY\tREASON")
	for _, s := range stops {
		until := "allowed again"
		if !s.Until.IsZero() {
			until = s.Until.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Selector, s.Since.UTC().Format(time.RFC3339), until, cmp.Or(s.By, "-"), cmp.Or(s.Reason, "-"))
	}
	table.Flush()
}
