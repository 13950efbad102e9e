// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crashtest kills processes that spend from a ledger, at the worst moments, against a
// provider that bills every call at the most it was allowed.
package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/httpclient"
)

const workerVariable = "GARDEFOU_CRASHTEST"

// Main is TestMain's body: in a worker process it spends, otherwise it runs the tests. Open gets
// what Torment was given as store.
func Main(m *testing.M, open func(store string) (ledger.Ledger, error)) {
	task := os.Getenv(workerVariable)
	if task == "" {
		os.Exit(m.Run())
	}
	job := work
	if strings.HasPrefix(task, crowdJob) {
		job = crowd
	}
	if err := job(task, open); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work spends until the account refuses. Ledgers that are down are asked again.
func work(spec string, open func(string) (ledger.Ledger, error)) error {
	parts := strings.Split(spec, "\n")
	store, account, name, provider := parts[0], ledger.AccountID(parts[1]), parts[2], parts[3]
	l, err := open(store)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := 1; ; i++ {
		k := ledger.Key{Account: account, Call: fmt.Sprintf("%s-%d", name, i), Attempt: 1}
		amount := ledger.Nano(1 + rand.Int64N(400)) //nolint:gosec // a test
		if err := ask(provider, "before", 0); err != nil {
			return err
		}
		err := again(func() error {
			_, err := l.Reserve(ctx, ledger.Request{Key: k, Amount: amount, Lease: 50 * time.Millisecond})
			return err
		})
		if errors.Is(err, ledger.ErrBudgetExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, stage := range []string{"reserved", "bill", "billed"} {
			if err := ask(provider, stage, amount); err != nil {
				return err
			}
		}
		charge := ledger.Charge{Source: ledger.SourceProvider, Actual: amount, ResponseID: k.Call}
		if i%7 == 0 {
			charge = ledger.Charge{} // the answer had no usage
		}
		if err := again(func() error { _, err := l.Commit(ctx, k, charge); return err }); err != nil {
			return err
		}
	}
}

// again repeats an operation of the ledger, never a call that bills, while the store is away.
func again(op func() error) error {
	var err error
	for range 2000 {
		if err = op(); !errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrRolledBack) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

func ask(provider, stage string, amount ledger.Nano) error {
	query := url.Values{"stage": {stage}, "pid": {strconv.Itoa(os.Getpid())}, "amount": {strconv.FormatInt(int64(amount), 10)}}
	resp, err := httpclient.New(0, nil).Get(provider + "?" + query.Encode()) //nolint:noctx // a worker has no context
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}

// Torment is one run.
type Torment struct {
	// Store is handed to the workers' open function.
	Store   string
	Account ledger.AccountID
	// Workers run at once; a killed one is replaced.
	Workers int
	// Kills is how many are killed. The workers run on until the account refuses.
	Kills int
	// Event, if any, is called with the number of calls billed so far, and may do harm of its own.
	Event func(calls int)
}

// Result is what the provider saw.
type Result struct {
	Billed ledger.Nano
	Calls  int
	Killed int
}

// Run runs the workers to the end of the money.
func (tm Torment) Run(t *testing.T) Result {
	t.Helper()
	var billed, calls, killed atomic.Int64
	var alive sync.Map // *os.Process by id; its Kill knows when the process is gone
	kill := func(pid int) {
		if process, ok := alive.Load(pid); ok && killed.Add(1) <= int64(tm.Kills) {
			_ = process.(*os.Process).Kill()
		}
	}
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		pid, err := strconv.Atoi(q.Get("pid"))
		amount, err2 := strconv.ParseInt(q.Get("amount"), 10, 64)
		if err != nil || err2 != nil {
			t.Error("the worker asked nonsense")
			return
		}
		if q.Get("stage") == "bill" {
			billed.Add(amount)
			if n := int(calls.Add(1)); tm.Event != nil {
				tm.Event(n)
			}
		}
		if rand.IntN(6) == 0 { //nolint:gosec // a test
			if rand.IntN(2) == 0 { //nolint:gosec // a test
				kill(pid) // between two steps
				return
			}
			// Within the next one.
			time.AfterFunc(time.Duration(rand.IntN(1500))*time.Microsecond, func() { kill(pid) }) //nolint:gosec // a test
		}
	}))
	defer provider.Close()

	var wg sync.WaitGroup
	for worker := range tm.Workers {
		wg.Go(func() {
			for life := 0; ; life++ {
				name := fmt.Sprintf("w%d-%d", worker, life)
				cmd := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // the test binary itself
				cmd.Env = append(os.Environ(), workerVariable+"="+strings.Join([]string{tm.Store, string(tm.Account), name, provider.URL}, "\n"))
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				alive.Store(cmd.Process.Pid, cmd.Process)
				err := cmd.Wait()
				alive.Delete(cmd.Process.Pid)
				if err == nil {
					return
				}
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != -1 { // not a signal
					t.Errorf("worker %s: %v: %s", name, err, out.String())
					return
				}
			}
		})
	}
	wg.Wait()
	return Result{Billed: ledger.Nano(billed.Load()), Calls: int(calls.Load()), Killed: int(min(killed.Load(), int64(tm.Kills)))}
}
