// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// ledgerName is the ledger of a kept run.
const ledgerName = store.LedgerFile

// settings are the flags that a resumed run needs to be the same run.
type settings struct {
	Model        string            `json:"model"`
	BaseURL      string            `json:"base_url,omitempty"`
	ModelTimeout time.Duration     `json:"model_timeout"`
	Source       string            `json:"source"`
	SourceURLs   map[string]string `json:"source_urls,omitempty"`
	AllowPrivate bool              `json:"allow_private_hosts,omitempty"`
	Cache        string            `json:"cache,omitempty"`
	AsOf         string            `json:"as_of"`
	ModelFile    string            `json:"model_file,omitempty"`
	MaxCalls     int               `json:"max_calls"`
	Timeout      time.Duration     `json:"timeout"`
	Budget       string            `json:"budget,omitempty"`
	SoftBudget   string            `json:"soft_budget,omitempty"`
	TargetBudget string            `json:"target_budget,omitempty"`
	Ledger       string            `json:"ledger,omitempty"`
	LedgerLogin  bool              `json:"ledger_login,omitempty"` // Ledger had a user or password, which is not kept
	PriceFile    string            `json:"price_file,omitempty"`
	Lang         string            `json:"lang"`
	Since        string            `json:"since,omitempty"`
	Purchases    int64             `json:"annual_purchases,omitempty"`
	Journal      string            `json:"journal,omitempty"`
	JournalSize  int64             `json:"journal_max_bytes,omitempty"`
}

func (f *flags) settings(lang text.Lang, c *sources.Client) settings {
	source := f.source
	if mode, dir, found := strings.Cut(source, ":"); found {
		source = mode + ":" + absolute(dir)
	}
	place, login := ledgerPlace(f.ledger)
	return settings{
		Model: f.model, BaseURL: f.baseURL, ModelTimeout: f.modelTimeout, Source: source, SourceURLs: f.sourceURLs, AllowPrivate: f.allowPrivate,
		Cache: absolute(f.cache), AsOf: c.AsOf().Format(time.DateOnly), ModelFile: absolute(f.modelFile), MaxCalls: f.maxCalls, Timeout: f.timeout,
		Budget: f.budget, SoftBudget: f.softBudget, TargetBudget: f.targetBudget, Ledger: place, LedgerLogin: login, PriceFile: absolute(f.priceFile),
		Lang: string(lang), Since: absolute(f.since), Purchases: f.purchases, Journal: absolute(f.journal), JournalSize: f.journalSize,
	}
}

// ledgerPlace is a ledger as it may be kept: a path that means the same from another
// folder, an address without the user and password, and whether it had any.
func ledgerPlace(flag string) (place string, login bool) {
	if path, found := strings.CutPrefix(flag, "file:"); found {
		return "file:" + absolute(path), false
	}
	if !strings.Contains(flag, "@") {
		return flag, false
	}
	u, err := url.Parse(flag)
	if err != nil || u.User == nil { // what of it is a password nobody can tell
		scheme, _, _ := strings.Cut(flag, ":")
		return scheme + "://", true
	}
	u.User = nil
	return u.String(), true
}

// restoreLedger takes the ledger the run was begun with, and from the flag or the environment
// only the login that is not kept: another ledger would know nothing of what was spent.
func (f *flags) restoreLedger(s settings, lang text.Lang, given func(name string) bool) error {
	flag, fromEnv := f.ledger, os.Getenv(ledgerVariable)
	f.ledger = s.Ledger
	if given("ledger") {
		if place, _ := ledgerPlace(flag); place != s.Ledger {
			return refuseIn(lang, text.ResumeLedger, cmp.Or(s.Ledger, text.Get(lang, text.ResumeLedgerKept)))
		}
		f.ledger = flag
	} else if place, _ := ledgerPlace(fromEnv); place == s.Ledger && fromEnv != "" {
		f.ledger = fromEnv
	} else if s.LedgerLogin && s.Budget != "" {
		return refuseIn(lang, text.ResumeLogin, s.Ledger, ledgerVariable)
	} else if strings.Contains(s.Ledger, "://") && s.Budget != "" {
		return refuseIn(lang, text.ResumeHost, s.Ledger, "--ledger "+quotedAddress(s.Ledger))
	}
	return nil
}

// restoreHosts takes no host from the folder: whoever wrote it would get the prompts, the
// look-ups and the key of whoever resumes it. Each host that the run was begun with must be
// named again; a model's server may also have moved.
func (f *flags) restoreHosts(s settings, lang text.Lang, given func(name string) bool) error {
	missing := &hosts{}
	if s.BaseURL != "" && !given("base-url") {
		missing.add(s.BaseURL, "--base-url")
	}
	for _, name := range sourceNames {
		if url := s.SourceURLs[name]; url != "" && f.sourceURLs[name] != url {
			missing.add(url, "--source-url", name+"=")
		}
	}
	if s.AllowPrivate && !f.allowPrivate && len(s.SourceURLs) > 0 {
		missing.flags = append(missing.flags, "--allow-private-hosts")
	}
	if len(missing.flags) == 0 {
		return nil
	}
	return refuseIn(lang, text.ResumeHost, strings.Join(missing.named, ", "), strings.Join(missing.flags, " "))
}

// hosts are addresses, and the flags that name them.
type hosts struct{ named, flags []string }

func (h *hosts) add(address, flag string, prefix ...string) {
	h.named = append(h.named, address)
	h.flags = append(h.flags, flag+" "+quotedAddress(strings.Join(prefix, "")+address))
}

// quotedAddress is an address as a shell takes it.
func quotedAddress(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-:=@") == "" {
		return s
	}
	return quoted(s)
}

// restore sets the flags to what the run was begun with, but for those given now.
func (f *flags) restore(s settings, given func(name string) bool) {
	f.model, f.modelTimeout, f.source = s.Model, s.ModelTimeout, s.Source
	f.cache, f.asOf, f.modelFile, f.softBudget, f.targetBudget = s.Cache, s.AsOf, s.ModelFile, s.SoftBudget, s.TargetBudget
	f.lang, f.since, f.purchases = s.Lang, s.Since, s.Purchases
	if s.Budget != "" { // else nothing is priced, and the file may be gone
		f.priceFile = s.PriceFile
	}
	if given("budget") {
		f.raise = f.budget
	}
	f.budget = s.Budget
	if !given("journal") {
		f.journal, f.journalSize = s.Journal, s.JournalSize
	}
	if !given("max-calls") {
		f.maxCalls = s.MaxCalls
	}
	if !given("timeout") {
		f.timeout = s.Timeout
	}
}

// absolute is a path that means the same from another folder; "" stays what it is.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// keep begins to keep a new run in its output folder, beside the dossiers that are there: one
// that is finished is replaced with --replace only, one that is not with --fresh only, one
// that is under way or another supplier's never. Where the run can't be kept for another
// reason it goes on without.
func (f *flags) keep(p *printer, c *sources.Client, subject supplier.Subject, query string) error {
	if f.out == "" {
		return nil
	}
	at, err := f.placeFor(subject, c.AsOf(), p.lang)
	if err != nil {
		return err
	}
	f.out = at.dir
	if err := writable(f.out); err != nil {
		return refuse("-o: %v", err)
	}
	own, err := json.Marshal(f.settings(p.lang, c))
	if err != nil {
		return failed(err)
	}
	dir := filepath.Join(f.out, store.Folder)
	begin := store.CreateNew
	if at.replaces.Dir != "" {
		begin = store.Create
	}
	kept, err := begin(dir, store.Run{ID: rand.Text(), Query: query, Subject: subject, Started: time.Now().UTC(), Settings: own})
	if err == nil {
		for _, name := range []string{ledgerName, journalName} {
			if rerr := os.Remove(filepath.Join(dir, name)); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
				err = errors.Join(rerr, kept.Close())
				break
			}
		}
	}
	switch {
	case errors.Is(err, store.ErrBegun): // another process was faster
		return keptError(p.lang, f.out, store.ErrInUse)
	case errors.Is(err, store.ErrInUse), errors.Is(err, store.ErrUnsafe):
		return keptError(p.lang, f.out, err)
	}
	p.placed(at)
	if err != nil {
		p.unkept = f.out
		p.line("%s", text.Get(p.lang, text.CmdNotKept, f.out, err))
		return nil
	}
	f.kept = kept
	return nil
}

// placed says where a run is kept, where that is not simply the folder that was named.
func (p *printer) placed(at place) {
	switch d := at.replaces; {
	case d.Dir != "" && d.Finished():
		p.line("%s", text.Get(p.lang, text.KeptReplaced, at.dir, d.Run.Subject.LegalName, ended(d, p.lang)))
	case at.beside.Dir != "":
		p.line("%s", text.Get(p.lang, text.KeptBeside, at.beside.Dir, at.beside.Run.Subject.LegalName, ended(at.beside, p.lang), at.dir))
	}
}

// keptPath is a file beside a kept run.
func (f *flags) keptPath(name string) string { return filepath.Join(f.out, store.Folder, name) }

func keptError(lang text.Lang, dir string, err error) error {
	var unsafe *store.UnsafeError
	switch {
	case errors.As(err, &unsafe) && unsafe.Foreign:
		return refuseIn(lang, text.KeptForeignOwner, unsafe.Path, quoted(filepath.Join(dir, store.Folder)))
	case errors.As(err, &unsafe) && !unsafe.Mode.IsRegular() && !unsafe.Mode.IsDir():
		return refuseIn(lang, text.KeptLink, unsafe.Path)
	case errors.As(err, &unsafe):
		return refuseIn(lang, text.KeptLoose, unsafe.Path, fmt.Sprintf("%04o", unsafe.Mode.Perm()), quoted(filepath.Join(dir, store.Folder)))
	case errors.Is(err, store.ErrInUse):
		return refuseIn(lang, text.KeptInUse, dir)
	case errors.Is(err, store.ErrNoRun):
		return refuseIn(lang, text.KeptNone, dir)
	default:
		return refuseIn(lang, text.KeptBroken, dir, err)
	}
}

// account names the run's account, the same whenever it is resumed.
func (f *flags) account() ledger.AccountID { return ledger.AccountID("run-" + f.kept.Run().ID) }

// done ends a kept run's attempt. What can't be kept is told, and costs the report nothing.
func (f *flags) done(p *printer, status string) {
	if f.kept == nil {
		return
	}
	if err := errors.Join(f.kept.Err(), f.kept.Finish(status)); err != nil {
		p.line("%s", text.Get(p.lang, text.KeptPart, f.out, err))
	}
}
