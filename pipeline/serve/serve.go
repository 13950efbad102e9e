// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serve puts ADK's web UI and REST API around the guarded pipeline, behind an
// http.Server of its own: ADK's launcher listens on every interface and asks for nothing.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/cmd/launcher"
	"google.golang.org/adk/v2/cmd/launcher/web"
	"google.golang.org/adk/v2/cmd/launcher/web/webui"
	"google.golang.org/adk/v2/server/adkrest"
	"google.golang.org/adk/v2/session"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
)

// Defaults of [Options].
const (
	DefaultMaxRuns     = 20
	DefaultMaxSessions = 200
	DefaultTimeout     = 5 * time.Minute
)

// Options configure a server.
type Options struct {
	// Pipeline is what every run is made with. Its Journal, JournalError and Sessions are
	// the server's own.
	Pipeline pipeline.Options
	// Token is what clients must show, of the form that [CheckToken] tells; empty asks for
	// nothing, and then only requests for a loopback host are answered.
	Token string
	// Dir keeps a folder for each run, served under /runs/. Empty keeps none.
	Dir string
	// Journal gets the lines of all runs. Nil keeps none but those in Dir.
	Journal *journal.File
	// MaxRuns is how many runs go on at once; more wait. Zero means 20.
	MaxRuns int
	// MaxSessions is how many sessions are kept; the oldest goes. Zero means 200.
	MaxSessions int
	// Timeout bounds one run. Zero means five minutes.
	Timeout time.Duration
	// OnError is told what could not be kept. Nil drops it.
	OnError func(error)
}

// A Server is an http.Handler.
type Server struct {
	http.Handler
	o     Options
	runs  *runs
	slots chan struct{}

	unwatch func()
}

// New builds the server. The error matches [ErrToken] where the token is no good.
func New(o Options) (*Server, error) {
	if o.Token != "" {
		if err := CheckToken(o.Token); err != nil {
			return nil, fmt.Errorf("serve: %w", err)
		}
	}
	if o.MaxRuns == 0 {
		o.MaxRuns = DefaultMaxRuns
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	s := &Server{o: o, slots: make(chan struct{}, o.MaxRuns)}
	s.runs = &runs{dir: o.Dir, lang: o.Pipeline.Lang, shared: o.Journal, open: make(map[string]*kept)}
	o.Pipeline.Journal, o.Pipeline.JournalError = s.runs, s.failed
	p, err := pipeline.New(o.Pipeline)
	if err != nil {
		return nil, err
	}
	desk, err := p.Desk(pipeline.DeskOptions{
		Admit: s.admit, Done: s.done,
		Bound: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, o.Timeout)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s.Handler, err = s.handler(desk)
	return s, err
}

func (s *Server) handler(desk agent.Agent) (http.Handler, error) {
	sessions := bounded(session.InMemoryService(), s.o.MaxSessions)
	loader := agent.NewSingleLoader(desk)
	rest, err := adkrest.NewServer(adkrest.ServerConfig{
		SessionService: sessions, AgentLoader: loader, SSEWriteTimeout: s.o.Timeout + time.Minute,
		DebugConfig: adkrest.DebugTelemetryConfig{TraceCapacity: s.o.MaxSessions},
	})
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s.unwatch = watch(rest.SpanProcessor())
	router := web.BuildBaseRouter()
	router.PathPrefix("/api/").Handler(http.StripPrefix("/api", rest))
	if s.o.Dir != "" {
		router.PathPrefix("/runs/").Handler(http.StripPrefix("/runs/", http.FileServerFS(visible(s.o.Dir))))
	}
	ui := webui.NewLauncher()
	if _, err := ui.Parse([]string{"--api_server_address", "/api"}); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if err := ui.SetupSubrouters(router, &launcher.Config{SessionService: sessions, AgentLoader: loader}); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return guarded(router, s.o.Token), nil
}

// watch shows spans in the web UI, with those that telemetry sends or alone, until the
// function it returns is called.
func watch(p sdktrace.SpanProcessor) func() {
	tp, ok := otel.GetTracerProvider().(*sdktrace.TracerProvider)
	if !ok {
		tp = sdktrace.NewTracerProvider()
		otel.SetTracerProvider(tp)
	}
	tp.RegisterSpanProcessor(p)
	return func() { tp.UnregisterSpanProcessor(p) }
}

// Drain waits until no run goes on, and lets none begin after. Call it when the http.Server
// is closed and before the journal and what else runs write to is. It fails where runs
// still go on when ctx is done, and may then be called again.
func (s *Server) Drain(ctx context.Context) error {
	for taken := range cap(s.slots) {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			for range taken {
				<-s.slots
			}
			return fmt.Errorf("serve: runs still go on: %w", ctx.Err())
		}
	}
	return nil
}

// Close lets go of what the server holds outside itself. Runs under way go on.
func (s *Server) Close() { s.unwatch() }

var errBusy = errors.New("serve: too many runs")

// admitWait is how long a run waits for another to end.
const admitWait = time.Minute

func (s *Server) admit(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, admitWait)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, errBusy
	}
}

// done keeps the folder of a run and tells where it is.
func (s *Server) done(run string, o *pipeline.Outcome) string {
	lang := text.Parse(s.o.Pipeline.Lang)
	path, err := s.runs.keep(run, o)
	switch {
	case err != nil:
		s.failed(err)
		return "\n" + text.Get(lang, text.DeskNotKept, err) + "\n"
	case path == "":
		return ""
	default:
		return "\n" + text.Get(lang, text.DeskPage, path) + "\n"
	}
}

func (s *Server) failed(err error) {
	if s.o.OnError != nil {
		s.o.OnError(err)
	}
}

// HTTPServer returns an http.Server for s with time-outs that fit its runs.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      s.o.Timeout + admitWait + time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}
