// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package killswitch keeps what people have stopped: runs, sessions, users, agents, apps or all.
// guards.KillSwitch asks it in every process that runs agents; the command gardefou changes it
// from any other. The state is one document in a [Store]: a file ([File]) or, in package
// rediskillswitch, Redis. It knows neither ADK nor the guards.
//
// It fails closed. A document that is missing, cut or foreign is an error of [Read], and
// only a stop or an allowance of everything makes a new one: a state that was lost is never taken for one in
// which nothing is stopped.
package killswitch

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Scope says what is stopped.
type Scope string

// The scopes. ScopeAll has no name, the others have that of one run, session, user, agent or app.
const (
	ScopeAll     Scope = "all"
	ScopeRun     Scope = "run"
	ScopeSession Scope = "session"
	ScopeUser    Scope = "user"
	ScopeAgent   Scope = "agent"
	ScopeApp     Scope = "app"
)

// A Selector says which runs are meant.
type Selector struct {
	Scope Scope `json:"scope"`
	// Name is the id of the run, session or user, or the name of the agent or app; empty with ScopeAll.
	Name string `json:"name,omitzero"`
}

// String returns the selector for people: everything, or agent "clerk".
func (s Selector) String() string {
	if s.Scope == ScopeAll {
		return "everything"
	}
	return fmt.Sprintf("%s %q", s.Scope, s.Name)
}

// A Stop is in force from when it is in the state until it is lifted, or Until.
type Stop struct {
	Selector
	// Since is when it was made.
	Since time.Time `json:"since"`
	// Until is when it ends by itself. Zero is never.
	Until time.Time `json:"until,omitzero"`
	// Reason is read by agents, their callers and the journal: no personal data. It is one line
	// of at most 300 characters, or empty.
	Reason string `json:"reason,omitzero"`
	// By says who made it, for people who read the state: one line of at most 100 characters, or empty.
	By string `json:"by,omitzero"`
}

// InForce reports whether the stop has not ended by itself at now.
func (s Stop) InForce(now time.Time) bool { return s.Until.IsZero() || now.Before(s.Until) }

// State is what is stopped.
type State struct {
	// Changed is when it was changed last. Of two states of one store the newer has the later one.
	Changed time.Time `json:"changed"`
	Stops   []Stop    `json:"stops"`
}

// At returns the stops that are in force at now.
func (s State) At(now time.Time) []Stop {
	stops := make([]Stop, 0, len(s.Stops))
	for _, stop := range s.Stops {
		if stop.InForce(now) {
			stops = append(stops, stop)
		}
	}
	return stops
}

// ErrInvalid is what the errors of a selector or a stop are that can't be.
var ErrInvalid = errors.New("not valid")

const (
	longestName   = 1024
	longestReason = 300
	longestBy     = 100
)

func (s Selector) check() error {
	switch s.Scope {
	case ScopeAll:
		if s.Name != "" {
			return fmt.Errorf("killswitch: %w: all has no name", ErrInvalid)
		}
		return nil
	case ScopeRun, ScopeSession, ScopeUser, ScopeAgent, ScopeApp:
	default:
		return fmt.Errorf("killswitch: %w: scope %q is none of all, run, session, user, agent and app", ErrInvalid, s.Scope)
	}
	switch {
	case s.Name == "":
		return fmt.Errorf("killswitch: %w: the name of the %s is empty", ErrInvalid, s.Scope)
	case len(s.Name) > longestName || !utf8.ValidString(s.Name):
		return fmt.Errorf("killswitch: %w: the name of the %s is not UTF-8 of at most %d bytes", ErrInvalid, s.Scope, longestName)
	}
	return nil
}

func (s Stop) check() error {
	if err := s.Selector.check(); err != nil {
		return err
	}
	if s.Since.IsZero() || !s.Until.IsZero() && !s.Until.After(s.Since) {
		return fmt.Errorf("killswitch: %w: a stop must begin, and end after it began", ErrInvalid)
	}
	return errors.Join(line("the reason", s.Reason, longestReason), line("who stopped it", s.By, longestBy))
}

// line refuses what is no single line: it is printed on terminals and read by models.
func line(what, s string, most int) error {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > most || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("killswitch: %w: %s is not one line of at most %d characters", ErrInvalid, what, most)
	}
	return nil
}
