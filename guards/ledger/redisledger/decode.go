// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/guards/ledger"
)

// field is what an entry is called inside Redis.
func field(k ledger.Key) string { return strconv.Itoa(k.Attempt) + ":" + k.Call }

func amount(n ledger.Nano) string { return strconv.FormatInt(int64(n), 10) }

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// mode is a word, unlike the zero value.
func mode(m ledger.Mode) string {
	if m == ledger.Slice {
		return "slice"
	}
	return string(m)
}

// text writes a value that is compared and kept as it is.
func text(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// decoder reads an answer value by value and remembers the first failure.
type decoder struct {
	rest []string
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s in Redis' answer", ledger.ErrUnavailable, what)
	}
}

func (d *decoder) next() string {
	if len(d.rest) == 0 {
		d.fail("a missing value")
		return ""
	}
	s := d.rest[0]
	d.rest = d.rest[1:]
	return s
}

func (d *decoder) number() int64 {
	s := d.next()
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		d.fail("a value that is no number")
	}
	return n
}

func (d *decoder) nano() ledger.Nano { return ledger.Nano(d.number()) }

func (d *decoder) time() time.Time {
	if ms := d.number(); ms != 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

func (d *decoder) json(v any) {
	if s := d.next(); s != "" && json.Unmarshal([]byte(s), v) != nil {
		d.fail("a damaged value")
	}
}

// balance reads what balance in prelude.lua wrote: the name, the account in one text, the version.
func (d *decoder) balance() ledger.Balance {
	b := ledger.Balance{Account: ledger.AccountID(d.next())}
	words := &decoder{rest: strings.Fields(d.next())}
	if mode := words.next(); mode == string(ledger.Cap) {
		b.Mode = ledger.Cap
	}
	b.Limits = ledger.Limits{Target: words.nano(), Soft: words.nano(), Hard: words.nano()}
	b.Committed, b.Reserved, b.Unsettled, b.Allocated, b.Overrun = words.nano(), words.nano(), words.nano(), words.nano(), words.nano()
	b.Spent, b.Held, b.Closed = words.nano(), words.nano(), words.number() == 1
	if words.err != nil {
		d.fail("a damaged account")
	}
	b.Version = d.number()
	return b
}

// entry reads a key and the parts of prelude.lua, in their order.
func (d *decoder) entry() ledger.Entry {
	var e ledger.Entry
	attempt, call, _ := strings.Cut(d.next(), ":")
	n, err := strconv.Atoi(attempt)
	if err != nil {
		d.fail("a damaged key")
	}
	e.State = ledger.State(d.next())
	e.Request.Key = ledger.Key{Account: ledger.AccountID(d.next()), Call: call, Attempt: n}
	e.Request.Amount = d.nano()
	d.json(&e.Request.Estimate)
	d.next() // nonce
	e.Expires = d.time()
	d.json(&e.Charge)
	e.Charged = d.nano()
	d.next() // overrun
	e.Orphan = d.next() == "1"
	d.json(&e.Proof)
	e.Request.Lease = time.Duration(d.number())
	d.next() // free
	return e
}
