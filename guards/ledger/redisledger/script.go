// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/gardefou/gardefou/guards/ledger"
)

//go:embed lua/*.lua
var sources embed.FS

var (
	openScript    = script("open")
	reserveScript = script("reserve")
	extendScript  = script("extend")
	commitScript  = script("commit")
	releaseScript = script("release")
	balanceScript = script("balance")
	entryScript   = script("entry")
	pendingScript = script("pending")
	closeScript   = script("close")
	adjustScript  = script("adjust")
)

func script(name string) *rueidis.Lua {
	read := func(name string) string {
		data, err := sources.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic(err) // it is embedded
		}
		return string(data)
	}
	return rueidis.NewLuaScript(read("prelude") + read(name))
}

func (l *Ledger) keys(root ledger.AccountID) []string {
	base := l.opts.Prefix + ":{" + string(root) + "}:"
	return []string{base + "accounts", base + "entries", base + "leases", base + "unsettled", base + "settled"}
}

// call is one operation on one account.
type call struct {
	op      string
	account ledger.AccountID
	key     ledger.Key
	need    ledger.Nano // what is asked for, for refusals
}

func (c call) fail(err error) error {
	return &ledger.OpError{Op: c.op, Account: c.account, Key: c.key, Err: err}
}

// run runs a script, again when the connection failed, and turns refusals into errors. The
// answer begins after its status.
func (l *Ledger) run(ctx context.Context, s *rueidis.Lua, c call, args ...string) ([]string, error) {
	root := c.account.Root()
	l.mu.Lock()
	seen := l.seen[root]
	l.mu.Unlock()
	args = append([]string{strconv.FormatInt(seen, 10), strconv.Itoa(l.opts.Remember), string(c.account)}, args...)
	var answer []string
	err := errors.New("no attempt was made")
	for range l.opts.Attempts {
		if cause := ctx.Err(); cause != nil {
			err = cause
			break
		}
		answer, err = l.attempt(ctx, s, l.keys(root), args)
		var reply *rueidis.RedisError
		if err == nil || errors.As(err, &reply) {
			break // an error that Redis itself reports won't go away in a moment
		}
	}
	if err != nil {
		return nil, c.fail(fmt.Errorf("%w: %w", ledger.ErrUnavailable, err))
	}
	return l.answered(c, answer)
}

func (l *Ledger) attempt(ctx context.Context, s *rueidis.Lua, keys, args []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.opts.Timeout)
	defer cancel()
	return s.Exec(ctx, l.client, keys, args).AsStrSlice()
}

// answered tells success from refusals.
func (l *Ledger) answered(c call, answer []string) ([]string, error) {
	if len(answer) == 0 {
		return nil, c.fail(fmt.Errorf("%w: empty answer", ledger.ErrUnavailable))
	}
	status, rest := answer[0], answer[1:]
	about := c
	if len(rest) > 0 {
		about.account = ledger.AccountID(rest[0])
	}
	switch status {
	case "ok":
		return rest, nil
	case "rolledback":
		l.mu.Lock()
		l.seen[c.account.Root()] = lost
		l.mu.Unlock()
		return nil, c.fail(ledger.ErrRolledBack)
	case "exceeded", "approval":
		return nil, c.denied(status, rest)
	case "noaccount":
		return nil, about.fail(ledger.ErrNoAccount)
	case "closed":
		return nil, about.fail(ledger.ErrClosed)
	case "conflict":
		return nil, c.fail(ledger.ErrConflict)
	case "noreservation":
		return nil, c.fail(ledger.ErrNoReservation)
	case "pending":
		return nil, c.fail(ledger.ErrPending)
	case "ended":
		return nil, c.fail(ledger.ErrLeaseEnded)
	case "range":
		return nil, c.fail(fmt.Errorf("%w: the account would exceed %s", ledger.ErrInvalid, ledger.MaxAmount))
	default:
		return nil, c.fail(fmt.Errorf("%w: unknown answer %q", ledger.ErrUnavailable, status))
	}
}

func (c call) denied(status string, rest []string) error {
	d := decoder{rest: rest}
	b := d.balance()
	if len(d.rest) > 0 {
		c.need = d.nano()
	}
	if d.err != nil {
		return c.fail(d.err)
	}
	e := &ledger.DeniedError{Code: ledger.ErrBudgetExceeded.Error(), Account: b.Account, Key: c.key, Need: c.need, Available: b.Available(), Balance: b}
	if status == "approval" {
		e.Code = ledger.ErrNeedsApproval.Error()
		e.Available = max(0, b.Limits.Soft-b.Spent-b.Held)
	}
	return e
}

// saw remembers a task's version.
func (l *Ledger) saw(b ledger.Balance) {
	root := b.Account.Root()
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.Closed && b.Account == root {
		delete(l.seen, root)
		return
	}
	l.seen[root] = max(l.seen[root], b.Version)
}
