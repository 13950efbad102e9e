// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gardefou/gardefou/guards/ledger"
)

const crowdJob = "crowd\n"

// crowd makes 32 callers reserve at once when the parent says so, and prints how many were let
// through.
func crowd(spec string, open func(string) (ledger.Ledger, error)) error {
	parts := strings.Split(strings.TrimPrefix(spec, crowdJob), "\n")
	amount, err := strconv.ParseInt(parts[3], 10, 64)
	if err != nil {
		return err
	}
	l, err := open(parts[0])
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until it is closed
		return err
	}
	var wg sync.WaitGroup
	var admitted atomic.Int64
	failures := make([]error, 32)
	for i := range failures {
		wg.Go(func() {
			k := ledger.Key{Account: ledger.AccountID(parts[1]), Call: fmt.Sprintf("%s-%d", parts[2], i), Attempt: 1}
			switch _, err := l.Reserve(context.Background(), ledger.Request{Key: k, Amount: ledger.Nano(amount)}); {
			case err == nil:
				admitted.Add(1)
			case !errors.Is(err, ledger.ErrBudgetExceeded):
				failures[i] = err
			}
		})
	}
	wg.Wait()
	fmt.Println(admitted.Load())
	return errors.Join(failures...)
}

// Crowd lets 64 callers in two processes reserve the same amount at once, and gives the number
// that were let through.
func Crowd(t *testing.T, store string, account ledger.AccountID, amount ledger.Nano) int {
	t.Helper()
	type process struct {
		cmd   *exec.Cmd
		stdin io.Closer
		out   bytes.Buffer
	}
	var processes [2]process
	for i := range processes {
		p := &processes[i]
		p.cmd = exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec // the test binary itself
		p.cmd.Env = append(os.Environ(), workerVariable+"="+crowdJob+strings.Join([]string{store, string(account), fmt.Sprint(i), strconv.FormatInt(int64(amount), 10)}, "\n"))
		p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
		var err error
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for i := range processes {
		if err := processes[i].stdin.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range processes {
		p := &processes[i]
		err := p.cmd.Wait()
		n, parseErr := strconv.Atoi(strings.TrimSpace(p.out.String()))
		if err := errors.Join(err, parseErr); err != nil {
			t.Errorf("process %d: %v: %s", i, err, p.out.String())
		}
		total += n
	}
	return total
}
