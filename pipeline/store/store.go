// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps a run on disk while it goes on, so that one that was stopped, by a
// budget, a signal or a crash, can be resumed: its events in ADK's own session service on
// an SQLite file, and beside them what the run was asked for. Nothing but the folder is
// needed, no server and no C compiler.
//
// A resumed run is played again from its stored events: each answer that a model gave
// and each look-up that was made comes from the store, at no cost, and passes the same
// guards as the first time, which rebuilds all they know; where the events end the run
// goes on live. So an answer is paid for twice at most where the process ended before it
// was stored.
//
// What is stored is what the guards let through: wrap the runner's configuration with
// package sinks, as pipeline.New does.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"

	"github.com/gardefou/gardefou/internal/filelock"
	"github.com/gardefou/gardefou/internal/files"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Folder is the usual name of a store in a run's output folder.
const Folder = "run"

// Names of the files in a store's folder.
const (
	RunFile     = "run.json"
	SessionFile = "session.db"
	// LedgerFile is where the command keeps what the run spent.
	LedgerFile = "ledger"
	// LockFile is empty and locked as long as the store is open.
	LockFile = "lock"
)

var (
	// ErrNoRun means that the folder holds no run.
	ErrNoRun = errors.New("no run is kept here")
	// ErrInUse means that another process has the run open.
	ErrInUse = errors.New("the run is in use by another process")
	// ErrBegun means that the folder holds a run that was begun.
	ErrBegun = errors.New("a run is kept here")
)

// version is of the format of run.json.
const version = 1

// A Run is what a kept run was asked for and how it stands.
type Run struct {
	Version int              `json:"version"`
	ID      string           `json:"id"`
	Query   string           `json:"query"`
	Subject supplier.Subject `json:"subject"`
	Started time.Time        `json:"started"`
	// Settings are the caller's own: what it needs to build the same pipeline again.
	Settings json.RawMessage `json:"settings"`
	// Status is how the last attempt ended; empty while one is under way, and after a
	// crash.
	Status string `json:"status,omitempty"`
	// Attempts counts the times the run was begun or resumed.
	Attempts int `json:"attempts"`
	// Ended is when the last attempt ended; zero while one is under way, and after a crash.
	Ended time.Time `json:"ended,omitzero"`
}

// A Store is the folder of one run, open in one process. Its sessions and Err are safe for
// concurrent use.
type Store struct {
	dir     string
	db      *sql.DB
	service session.Service
	run     Run
	lock    *os.File

	mu      sync.Mutex
	stored  map[string]session.Session // by id
	failure error
}

// Create begins a run in dir, to which only its owner has access from then on. What is left
// of an earlier run there is removed. The error matches [ErrInUse] where another process has
// that run open, [ErrUnsafe] where the folder is another user's.
func Create(dir string, r Run) (*Store, error) { return create(dir, r, true) }

// CreateNew is [Create] for a folder that holds no run that was begun. The error matches
// [ErrBegun] where it does.
func CreateNew(dir string, r Run) (*Store, error) { return create(dir, r, false) }

func create(dir string, r Run, replace bool) (*Store, error) {
	if err := claim(dir); err != nil {
		return nil, err
	}
	// A run that another process has open is not taken away from it.
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	if !replace {
		if old, err := readRun(dir); !errors.Is(err, ErrNoRun) && (err != nil || old.Attempts > 0) {
			return nil, errors.Join(fmt.Errorf("store: %s: %w", dir, ErrBegun), lock.Close())
		}
	}
	for _, name := range []string{RunFile, SessionFile, SessionFile + "-wal", SessionFile + "-shm", SessionFile + "-journal"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("store: %w", err), lock.Close())
		}
	}
	s, err := open(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	r.Version, r.Attempts, r.Ended = version, 0, time.Time{}
	s.run = r
	if err := s.save(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Read returns the run that dir holds, which may be under way, and changes nothing. The
// error matches [ErrNoRun] or [ErrUnsafe] where it is one of these.
func Read(dir string) (Run, error) {
	if err := holdsRun(dir); err != nil {
		return Run{}, err
	}
	return readRun(dir)
}

// holdsRun reports whether there is a run, and none that others could have written.
func holdsRun(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, RunFile)); err != nil {
		return runFileError(dir, err)
	}
	return private(dir)
}

// Open opens the run that dir holds. The error matches [ErrNoRun], [ErrInUse] or [ErrUnsafe]
// where it is one of these: a run is believed, look-ups, answers and all, so one that others
// could have written is not opened.
func Open(dir string) (*Store, error) {
	// A folder that holds no run gets no lock file.
	if err := holdsRun(dir); err != nil {
		return nil, err
	}
	// What is read before the folder is ours may be changed by who has it.
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	r, err := readRun(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s, err := open(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock, s.run = lock, r
	return s, nil
}

func readRun(dir string) (Run, error) {
	var r Run
	data, err := os.ReadFile(filepath.Join(dir, RunFile)) //nolint:gosec // the folder is the caller's to choose
	if err != nil {
		return r, runFileError(dir, err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("store: %s: %w", RunFile, err)
	}
	if r.Version != version || r.ID == "" {
		return r, fmt.Errorf("store: %s is of a version this program does not know: %d", RunFile, r.Version)
	}
	return r, nil
}

func runFileError(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("store: %s: %w", dir, ErrNoRun)
	}
	return fmt.Errorf("store: %w", err)
}

// open opens the sessions alone. The file is locked as long as it is open. It is its owner's
// only, and so are the files that SQLite makes beside it, which get its mode.
func open(dir string) (*Store, error) {
	f, err := os.OpenFile(filepath.Join(dir, SessionFile), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the folder is the caller's to choose
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, name := range []string{SessionFile, SessionFile + "-wal", SessionFile + "-shm", SessionFile + "-journal", RunFile, LockFile, LedgerFile} {
		if err := tighten(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(200)", "locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	path := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.Join(dir, SessionFile)}).EscapedPath(), RawQuery: pragmas.Encode()}).String()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{dir: dir, db: db, stored: make(map[string]session.Session)}
	s.service, err = database.NewSessionService(&sqlite.Dialector{Conn: db}, &gorm.Config{Logger: logger.Discard})
	if err == nil {
		err = database.AutoMigrate(s.service)
	}
	if err != nil {
		if strings.Contains(err.Error(), "SQLITE_BUSY") || strings.Contains(err.Error(), "locked") {
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		}
		return nil, errors.Join(fmt.Errorf("store: %s: %w", SessionFile, err), db.Close())
	}
	return s, nil
}

// Run returns what the run was asked for and how it stands.
func (s *Store) Run() Run { return s.run }

// Sessions is the service for the run at work. It stores every event before it
// acknowledges it, and masks nothing by itself.
func (s *Store) Sessions() session.Service { return mirror{session.InMemoryService(), s} }

// Begin begins the next attempt and returns the name of its session and what the
// attempts before it recorded.
func (s *Store) Begin(ctx context.Context, app, user string) (sessionID string, rec *Recording, err error) {
	rec = newRecording()
	for attempt := 1; attempt <= s.run.Attempts; attempt++ {
		id := s.sessionID(attempt)
		list, err := s.service.List(ctx, &session.ListRequest{AppName: app, UserID: user})
		if err != nil {
			return "", nil, fmt.Errorf("store: %w", err)
		}
		known := false
		for _, sess := range list.Sessions {
			known = known || sess.ID() == id
		}
		if !known {
			continue // the process ended before its first event
		}
		got, err := s.service.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
		if err != nil {
			return "", nil, fmt.Errorf("store: %w", err)
		}
		rec.add(got.Session.Events())
	}
	s.run.Attempts++
	s.run.Status, s.run.Ended = "", time.Time{}
	return s.sessionID(s.run.Attempts), rec, s.save()
}

func (s *Store) sessionID(attempt int) string { return s.run.ID + "-" + strconv.Itoa(attempt) }

// Finish records how the attempt ended.
func (s *Store) Finish(status string) error {
	s.run.Status, s.run.Ended = status, time.Now().UTC().Truncate(time.Second)
	return s.save()
}

func (s *Store) save() error {
	data, err := json.MarshalIndent(s.run, "", "  ")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := files.Write(s.dir, files.File{Name: RunFile, Data: append(data, '\n')}); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Close closes the sessions' file, for another process to open.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.lock.Close()) }

// lockFolder takes the folder for this process before anything in it is looked at: two
// that begin at once would each remove what the other made.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := filelock.Lock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(fmt.Errorf("store: %w: %w", ErrInUse, err), f.Close())
	}
	return f, nil
}

// mirror keeps the sessions in memory and stores what is appended before it is
// acknowledged. ADK's own session of a database is not for a run at work: it hands its
// list of events out without the lock that it is appended under, a data race wherever
// agents run in parallel.
//
// A run goes on that can't be stored any longer, on a full disk say: what it finds out is
// worth more than being able to resume it.
type mirror struct {
	session.Service // in memory
	s               *Store
}

// Create implements session.Service.
func (m mirror) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	made, err := m.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	stored, err := m.s.service.Create(context.WithoutCancel(ctx), &session.CreateRequest{
		AppName: req.AppName, UserID: req.UserID, SessionID: made.Session.ID(), State: req.State,
	})
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if err != nil {
		m.s.fail(err)
		return made, nil
	}
	m.s.stored[made.Session.ID()] = stored.Session
	return made, nil
}

// AppendEvent implements session.Service. An event is stored also when the run was
// cancelled meanwhile: it was paid for.
func (m mirror) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if err := m.Service.AppendEvent(ctx, sess, ev); err != nil {
		return err
	}
	if sess == nil || ev == nil {
		return nil
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	stored, ok := m.s.stored[sess.ID()]
	if !ok {
		return nil // Create has told why
	}
	event := *ev
	if err := m.s.service.AppendEvent(context.WithoutCancel(ctx), stored, &event); err != nil {
		m.s.fail(err)
	}
	return nil
}

// fail remembers the first failure. The lock is held.
func (s *Store) fail(err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// Err returns why events could not be stored, or nil. Such a run goes on, and repeats the
// calls after the last stored event when it is resumed.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}
