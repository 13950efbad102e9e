// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sinks closes what hooks can't reach: sessions, artifacts and span exporters
// get masked data whatever path it came by. It uses the same engine as guards.Redact.
//
//	cfg, err := sinks.Wrap(runner.Config{…})           // sessions, artifacts, events
//	exporter := sinks.SpanExporter(exporter, redactor) // spans: ADK writes raw text there
//
// What is left: memory services, whose sessions are masked already; an agent used as a
// tool, which ADK runs on in-memory services of its own for the time of the call; a
// database's own log of its statements.
package sinks

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/redact"
)

// Options are the options of [WrapWith].
type Options struct {
	// Redact says what is found and what takes its place. The zero value finds e-mail
	// addresses and IBANs and puts English labels.
	Redact redact.Options
	// AllowBinary stores artifacts that are not text as they are. False refuses them:
	// nobody can say what is in them.
	AllowBinary bool
}

// ErrPluginFirst is the cause of a configuration whose plugins would switch the
// redaction off for a step by answering before it.
var ErrPluginFirst = errors.New("sinks: the redaction plugin must be the first, Wrap puts it there")

// ErrBinary is the cause of an artifact that was not stored.
var ErrBinary = errors.New("sinks: an artifact that is not text can't be looked into; see Options.AllowBinary")

// PluginName is the name of the plugin that Wrap adds.
const PluginName = "gardefou_redact"

// Wrap returns cfg with masked sessions, artifacts and events: the session and artifact
// services are decorated and a plugin with guards.Redact stands first. cfg itself is
// not changed. The session values of the inner service pass untouched.
//
// After a tool an agent's own guards come before a plugin's: where an agent has guards.Stash,
// or a hook that keeps results, put guards.Redact before it on that agent as well.
// callbacks.Check finds the lack of it where it is given callbacks.New(guards.Redact()) for
// this plugin.
//
// The name of an artifact that holds a value becomes a pseudonym, in every method of the
// service and in events: a label and a keyed hash of the name. The key is that of
// Options.Redact; without one it is drawn anew for each call of Wrap, and what another
// process saved under such a name is not found again.
//
// It fails closed: what can't be looked into is not stored.
func Wrap(cfg runner.Config) (runner.Config, error) { return WrapWith(cfg, Options{}) }

// WrapWith is [Wrap] with options.
func WrapWith(cfg runner.Config, o Options) (runner.Config, error) {
	if cfg.SessionService == nil {
		return runner.Config{}, errors.New("sinks: a runner needs a session service")
	}
	for _, p := range cfg.PluginConfig.Plugins {
		if p != nil && p.Name() == PluginName {
			return runner.Config{}, fmt.Errorf("%w: the configuration has been wrapped before", ErrPluginFirst)
		}
	}
	r, err := redact.New(o.Redact)
	if err != nil {
		return runner.Config{}, fmt.Errorf("sinks: %w", err)
	}
	names, err := newPseudonyms(o.Redact)
	if err != nil {
		return runner.Config{}, fmt.Errorf("sinks: %w", err)
	}
	p, err := callbacks.New(names.guard(), guards.RedactOptions{Options: o.Redact}.Guard()).Plugin(PluginName)
	if err != nil {
		return runner.Config{}, fmt.Errorf("sinks: %w", err)
	}
	cfg.PluginConfig.Plugins = append([]*plugin.Plugin{p}, cfg.PluginConfig.Plugins...)
	cfg.SessionService = &sessions{cfg.SessionService, r, names}
	if cfg.ArtifactService != nil {
		cfg.ArtifactService = &artifacts{cfg.ArtifactService, r, names, o.AllowBinary}
	}
	return cfg, nil
}

// sessions masks what is stored. Sessions themselves are the inner service's own: some
// services insist on that.
type sessions struct {
	session.Service
	r     *redact.Redactor
	names *pseudonyms
}

// Create implements session.Service.
func (s *sessions) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req != nil && len(req.State) > 0 {
		state, err := s.r.Map(req.State)
		if err != nil {
			return nil, err
		}
		c := *req
		c.State = state
		req = &c
	}
	return s.Service.Create(ctx, req)
}

// AppendEvent implements session.Service. The event is masked where it is, by replacing
// what it refers to: the one that is stored and the one that the caller sees are the
// same.
func (s *sessions) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if ev != nil {
		s.names.event(ev)
		if err := guards.MaskEvent(s.r, ev); err != nil {
			return fmt.Errorf("sinks: the event is not stored: %w", err)
		}
	}
	return s.Service.AppendEvent(ctx, sess, ev)
}
