// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/guards/journal"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/serve"
)

const serveHelp = `Serves ADK's web UI (/ui/) and REST API (/api/) with the guarded pipeline, so that a
person can research a supplier in a browser and see each step.

It listens on the loopback interface and answers for localhost only. To listen
elsewhere a token of 16 or more letters, digits and . _ ~ - is required ("openssl rand
-hex 24" makes one), in a file (--token-file) or in DUEDILIGENCE_TOKEN; put a proxy with TLS in front, since a token over plain HTTP can be
read on the way.

With -o DIR each run that has ended keeps a folder with its report, journal and page, shown
under /runs/. One whose client left, or that was cut off, leaves only its journal there. The
journal of all runs, journal.jsonl, is written as they go on and is all that a crash leaves;
runs of serve can't be resumed. The budgets of the flags hold for each run.

Ctrl-C gives runs under way 30 s to end, then cuts them off; a second one does so at once.`

// tokenVariable holds the token where no file does.
const tokenVariable = "DUEDILIGENCE_TOKEN"

const (
	// shutdownGrace is what runs under way have to end; the help tells it.
	shutdownGrace = 30 * time.Second
	// drainGrace is what runs have that were cut off, to tell their journal.
	drainGrace = 5 * time.Second
)

func newServeCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Research suppliers in a browser",
		Long:    serveHelp,
		Example: "  duediligence serve\n  duediligence serve -o runs/ --model gemini-2.5-flash --budget 0.10\n  duediligence serve --address 0.0.0.0:8080 --token-file token.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, err := readToken(c.tokenFile)
			if err != nil {
				return err
			}
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			return j.serve(cmd.Context(), token, cmd.ErrOrStderr())
		},
	}
	c.register(cmd, onServe)
	return cmd
}

func readToken(file string) (string, error) {
	token := os.Getenv(tokenVariable)
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", refuse("--token-file: %v", err)
		}
		token = string(data)
	}
	if file == "" && token == "" {
		return "", nil
	}
	token = strings.TrimSpace(token)
	if err := serve.CheckToken(token); err != nil {
		return "", refuse("%v", err)
	}
	return token, nil
}

func (j *job) serve(ctx context.Context, token string, stderr io.Writer) error {
	if err := j.check(); err != nil {
		return err
	}
	if j.maxRuns < 1 || j.maxRuns > 1000 {
		return refuse("--max-runs must be 1 to 1000, got %d", j.maxRuns)
	}
	if err := refuseDossier(j.out, "serve -o", j.lang); err != nil {
		return err
	}
	listener, err := listen(ctx, j.address, token)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server closes it first
	p := &printer{w: stderr, quiet: j.quiet, lang: j.lang}
	j.p = p
	o := serve.Options{Token: token, Dir: j.out, MaxRuns: j.maxRuns, Timeout: j.options.MaxTime, OnError: func(err error) { p.line("duediligence: %v", err) }}
	if o.Pipeline, err = j.prepareWithMoney(ctx); err != nil {
		return err
	}
	defer closeSources(o.Pipeline.Sources)
	if j.out != "" {
		if err := writable(j.out); err != nil {
			return refuse("-o: %v", err)
		}
		if o.Journal, err = journal.OpenFile(j.out+"/"+journalName, journal.FileOptions{MaxBytes: j.journalSize}); err != nil {
			return refuse("-o: %v", err)
		}
	}
	s, err := serve.New(o)
	if err != nil {
		return errors.Join(failed(err), closeJournal(o.Journal))
	}
	defer s.Close()
	p.source(o.Pipeline.Sources)
	p.line("%s", text.Get(j.lang, text.ServeListening, "http://"+listener.Addr().String()+"/"))
	if token != "" {
		p.line("%s", text.Get(j.lang, text.ServeToken, "http://"+listener.Addr().String()))
	}
	err = errors.Join(serveUntil(ctx, s, listener, shutdownGrace, func() {
		p.line("%s", text.Get(j.lang, text.ServeStopping, shutdownGrace))
	}), closeJournal(o.Journal))
	if err != nil {
		return failed(err)
	}
	if o.Journal != nil {
		p.line("%s", text.Get(j.lang, text.JournalHead, o.Journal.Head()))
	}
	return nil
}

func closeJournal(j *journal.File) error {
	if j == nil {
		return nil
	}
	return j.Close()
}

// listen opens the address; one that others can reach needs a token.
func listen(ctx context.Context, address, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, refuse("--address must be HOST:PORT, such as 127.0.0.1:8080: %v", err)
	}
	if token == "" && !serve.Loopback(host) {
		return nil, refuse("--address %s can be reached by others: give a token in --token-file or %s", address, tokenVariable)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, refuse("--address: %v", err)
	}
	return l, nil
}

// serveUntil serves until ctx is done, then lets requests under way end, and cuts off those
// that have not ended after the grace or a second signal. When it returns no run goes on, or its error says so.
func serveUntil(ctx context.Context, s *serve.Server, l net.Listener, grace time.Duration, stopping func()) error {
	srv := s.HTTPServer()
	failure := make(chan error, 1)
	go func() { failure <- srv.Serve(l) }()
	select {
	case err := <-failure:
		return errors.Join(fmt.Errorf("serving: %w", err), srv.Close(), drain(ctx, s))
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	end, ignore := signal.NotifyContext(end, os.Interrupt, syscall.SIGTERM) // a second one
	defer ignore()
	stopping()
	if err := srv.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("stopping: %w", err), srv.Close(), drain(ctx, s))
	}
	return drain(ctx, s)
}

func drain(ctx context.Context, s *serve.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainGrace)
	defer cancel()
	return s.Drain(ctx)
}
