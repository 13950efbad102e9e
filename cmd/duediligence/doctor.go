// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gardefou/gardefou/agents/models"
	"github.com/gardefou/gardefou/internal/httpclient"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

const doctorHelp = `Checks what a run with the same flags needs, and says what to do where it is not there:
the model's key (in GEMINI_API_KEY or GOOGLE_API_KEY, for chat:NAME and openai:NAME in
OPENAI_API_KEY) and server, the sources, the ledger (Redis), the disk, the clock and the
age of the price table. Nothing is paid for: the model's server is asked for its list of
models only.

Exit codes: 0 all is there; 1 something is missing; 2 a flag is wrong.`

const (
	doctorTimeout = 10 * time.Second
	// maxPriceAge is how old the price table may be: sellers change prices about twice a
	// year.
	maxPriceAge = 90 * 24 * time.Hour
	// maxClockError is what TLS and signed requests forgive.
	maxClockError = 2 * time.Minute
	geminiKey     = "x-goog-api-key"
	// probeSize is more than the files of one run.
	probeSize = 1 << 20
)

func newDoctorCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check key, network, Redis, disk, clock and prices",
		Long:    doctorHelp,
		Example: "  duediligence doctor\n  duediligence doctor --model gemini-2.5-flash --source live -o dossier/ --ledger redis://localhost:6379\n  DUEDILIGENCE_LEDGER=redis://USER:PASSWORD@HOST:6379 duediligence doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := newJob(c)
			if err != nil {
				return err
			}
			defer j.end()
			return j.doctor(cmd.Context(), cmd.OutOrStdout())
		},
	}
	c.register(cmd, onDoctor)
	return cmd
}

// findings print one line for each check of a job.
type findings struct {
	*job
	w   io.Writer
	bad bool
}

func (d *findings) say(mark string, what, key text.Key, args ...any) {
	fmt.Fprintf(d.w, "%-4s %s: %s\n", mark, text.Get(d.lang, what), text.Get(d.lang, key, args...))
}

func (d *findings) ok(what, key text.Key, args ...any)   { d.say("ok", what, key, args...) }
func (d *findings) warn(what, key text.Key, args ...any) { d.say("!", what, key, args...) }

func (d *findings) fail(what, key text.Key, args ...any) {
	d.bad = true
	d.say("FAIL", what, key, args...)
}

func (j *job) doctor(ctx context.Context, w io.Writer) error {
	if err := j.check(); err != nil {
		return err
	}
	limits, err := j.amounts()
	if err != nil {
		return err
	}
	d := &findings{job: j, w: w}
	fmt.Fprintf(w, "duediligence %s, %s\n", version(), platform())
	served := d.checkModel(ctx)
	if err := d.checkSources(ctx); err != nil {
		return err
	}
	d.checkLedger(ctx)
	d.checkDisk(j.out)
	d.checkClock(served)
	if err := d.checkPrices(limits.Hard > 0); err != nil {
		return err
	}
	if d.bad {
		return &exitError{code: exitFailed}
	}
	return nil
}

// checkModel asks the model's server for its models and returns when it answered, by its
// own clock.
func (d *findings) checkModel(ctx context.Context) (served time.Time) {
	if d.model.Name == models.Offline {
		d.ok(text.DoctorModel, text.DoctorOffline)
		return served
	}
	if _, err := d.llm(ctx, d.lang); err != nil {
		d.fail(text.DoctorModel, text.DoctorNoModel, strings.TrimPrefix(message(err), "duediligence: --model: "))
		return served
	}
	req, err := d.modelsRequest(ctx)
	if err != nil {
		d.fail(text.DoctorModel, text.DoctorNoModel, err)
		return served
	}
	resp, err := httpclient.New(doctorTimeout, nil).Do(req)
	if err != nil {
		d.fail(text.DoctorModel, text.DoctorUnreachable, req.URL.Host, reason(err))
		return served
	}
	defer func() { _ = resp.Body.Close() }() // what is of use was read
	served, _ = http.ParseTime(resp.Header.Get("Date"))
	switch code := resp.StatusCode; {
	case code < 300 && !isObject(resp.Body):
		d.fail(text.DoctorModel, text.DoctorNoAPI, req.URL.Host)
	case code < 300 && req.Header.Get("Authorization") == "" && req.Header.Get(geminiKey) == "":
		d.ok(text.DoctorModel, text.DoctorNoKey, req.URL.Host)
	case code < 300:
		d.ok(text.DoctorModel, text.DoctorReached, req.URL.Host)
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code == http.StatusNotImplemented: // a server may have no list
		d.warn(text.DoctorModel, text.DoctorNoList, req.URL.Host, code)
	case code == http.StatusTooManyRequests || code >= 500:
		d.fail(text.DoctorModel, text.DoctorBusy, req.URL.Host, code)
	default:
		d.fail(text.DoctorModel, text.DoctorKey, req.URL.Host, code)
	}
	return served
}

// isObject reports whether a body is one JSON object, as every list of models is.
func isObject(body io.Reader) bool {
	var list map[string]any
	return json.NewDecoder(io.LimitReader(body, probeSize)).Decode(&list) == nil
}

func (d *findings) modelsRequest(ctx context.Context) (*http.Request, error) {
	base, path := models.GeminiURL, "/v1beta/models?pageSize=1"
	openAI := models.SpeaksOpenAI(d.model.Name)
	if openAI {
		path = "/models"
	}
	if d.model.BaseURL != "" {
		var err error
		if base, err = models.ServerURL(d.model.BaseURL); err != nil {
			return nil, err
		}
	}
	base = strings.TrimSuffix(base, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if key := os.Getenv(models.OpenAIKeyVariable); openAI && key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	} else if !openAI {
		key := os.Getenv("GEMINI_API_KEY")
		if key == "" {
			key = os.Getenv("GOOGLE_API_KEY")
		}
		req.Header.Set(geminiKey, key)
	}
	return req, nil
}

// knownCompany is one that every register knows: a company of the sample set, or
// Électricité de France.
func knownCompany(m sources.Mode) string {
	if m == sources.ModeSample {
		return "999991011"
	}
	return "552081317"
}

func (d *findings) checkSources(ctx context.Context) error {
	c, err := d.client()
	if err != nil {
		return err
	}
	defer closeSources(c)
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	if res := c.Resolve(ctx, knownCompany(c.Mode())); res.Status != supplier.StatusResolved {
		d.fail(text.DoctorSources, text.DoctorNoSources, string(res.Status), supplier.Clean(res.Detail, 300))
		return nil
	}
	d.ok(text.DoctorSources, text.DoctorSourcesOK, string(c.Mode()))
	return nil
}

func (d *findings) checkLedger(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	_, err := d.openLedger(ctx)
	defer d.end()
	kind, _, _ := strings.Cut(cmp.Or(d.ledger, "memory"), ":")
	if err != nil {
		d.fail(text.DoctorLedger, text.DoctorNoLedger, strings.TrimPrefix(message(err), "duediligence: "))
		return
	}
	d.ok(text.DoctorLedger, text.DoctorLedgerOK, kind)
}

// checkDisk writes what a run would. A folder that is not there is not made: what it would
// be made in is tried.
func (d *findings) checkDisk(dir string) {
	there := nearest(dir)
	if err := probe(there); err != nil {
		d.fail(text.DoctorDisk, text.DoctorNoDisk, reason(err))
		return
	}
	if there != dir {
		d.ok(text.DoctorDisk, text.DoctorDiskNew, dir, there)
		return
	}
	d.ok(text.DoctorDisk, text.DoctorDiskOK, dir)
}

// nearest is dir or the closest folder above it that is there.
func nearest(dir string) string {
	for {
		_, err := os.Stat(dir)
		above := filepath.Dir(filepath.Clean(dir))
		if !errors.Is(err, os.ErrNotExist) || above == dir {
			return dir
		}
		dir = above
	}
}

func probe(dir string) (err error) {
	file, err := os.CreateTemp(dir, ".duediligence-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(filepath.Clean(file.Name()))) }()
	if _, err := file.Write(bytes.Repeat([]byte("x"), probeSize)); err != nil {
		return err
	}
	return file.Sync()
}

func (d *findings) checkClock(served time.Time) {
	now := time.Now()
	switch {
	case served.IsZero():
		d.ok(text.DoctorClock, text.DoctorClockAlone, now.UTC().Format(time.DateTime))
	case now.Sub(served).Abs() > maxClockError:
		d.fail(text.DoctorClock, text.DoctorClockOff, now.Sub(served).Round(time.Second))
	default:
		d.ok(text.DoctorClock, text.DoctorClockOK, now.Sub(served).Round(time.Second))
	}
}

func (d *findings) checkPrices(needed bool) error {
	table, err := d.readPrices()
	if err != nil {
		return err
	}
	if needed {
		if err := d.priced(); err != nil {
			d.fail(text.DoctorPrices, text.DoctorNoPrice, strings.TrimPrefix(message(err), "duediligence: "))
			return nil
		}
	}
	if n := len(table.Refused()); n > 0 {
		d.warn(text.DoctorPrices, text.DoctorNoPrice, unusable(d.lang, d.priceFile, n))
	}
	age := table.Age(time.Now())
	days := int(age.Hours() / 24)
	switch {
	case age < 0:
		d.fail(text.DoctorPrices, text.DoctorPricesAhead, table.Generated().Format(time.DateOnly))
	case age > maxPriceAge:
		d.warn(text.DoctorPrices, text.DoctorPricesOld, days)
	default:
		d.ok(text.DoctorPrices, text.DoctorPricesOK, days)
	}
	return nil
}

// message is the text of an error of ours, without the exit code.
func message(err error) string {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.message
	}
	return err.Error()
}

// reason is the innermost error, which names no address with a key in it.
func reason(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
