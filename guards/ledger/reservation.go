// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gardefou/gardefou/guards/prices"
)

// Key identifies one attempt of one call. Call and Attempt are unique in the task; every retry,
// fallback and hedged copy is a further attempt with a reservation of its own.
type Key struct {
	Account AccountID `json:"account"`
	Call    string    `json:"call"`
	// Attempt counts from 1.
	Attempt int `json:"attempt"`
}

// String implements fmt.Stringer.
func (k Key) String() string { return fmt.Sprintf("%s#%s/%d", k.Account, k.Call, k.Attempt) }

// Check says what is wrong with the key, if anything. It is for implementations.
func (k Key) Check() error {
	if k.Call == "" || len(k.Call) > maxIDLength {
		return fmt.Errorf("call must have 1 to %d characters", maxIDLength)
	}
	if !utf8.ValidString(k.Call) {
		return errors.New("call must be UTF-8")
	}
	if k.Attempt < 1 || k.Attempt > 1<<30 {
		return errors.New("attempt counts from 1")
	}
	return nil
}

// Estimate says how an amount was found. It is kept as it was given.
type Estimate struct {
	// What is billed, for people: a model or a tool.
	What string `json:"what,omitempty"`
	// Quote holds the price rows the estimate used.
	Quote prices.Quote `json:"quote,omitzero"`
	// Bound is the most the call can use.
	Bound prices.Bound `json:"bound,omitzero"`
	// Method is how the bound on the input was found: "bytes", "count", "context_window", "declared".
	Method string `json:"method,omitempty"`
	// Proven says that the provider can't bill more.
	Proven bool `json:"proven,omitempty"`
}

// DefaultLease is how long a reservation is held open when a request doesn't say.
const DefaultLease = 10 * time.Minute

// Request asks for a reservation.
type Request struct {
	Key Key `json:"key"`
	// Amount is the most the call can cost. 0 is allowed, for free models.
	Amount Nano `json:"amount"`
	// Lease is how long the call may take, a margin included: afterwards the reservation
	// becomes unsettled. 0 is [DefaultLease]. It is no part of what makes two requests the same.
	Lease time.Duration `json:"lease,omitempty"`
	// Estimate is optional.
	Estimate Estimate `json:"estimate,omitzero"`
}

// Check says what is wrong with the request, if anything. It is for implementations.
func (r *Request) Check() error {
	err := r.Key.Check()
	if err == nil {
		err = r.Amount.check()
	}
	if err == nil && r.Lease < 0 {
		err = errors.New("lease is negative")
	}
	if err != nil {
		return &OpError{Op: "reserve", Account: r.Key.Account, Key: r.Key, Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	return nil
}

func (r *Request) lease() time.Duration {
	if r.Lease == 0 {
		return DefaultLease
	}
	return r.Lease
}

// same reports whether o asks for the same thing.
func (r *Request) same(o *Request) bool {
	if r.Key != o.Key || r.Amount != o.Amount {
		return false
	}
	a, errA := json.Marshal(r.Estimate)
	b, errB := json.Marshal(o.Estimate)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// State is what became of a reservation.
type State string

// Every reservation is open, becomes unsettled when its lease ends, and ends committed or released.
const (
	StateOpen      State = "open"
	StateUnsettled State = "unsettled"
	StateCommitted State = "committed"
	StateReleased  State = "released"
)

// Reservation is the answer to a request.
type Reservation struct {
	Key    Key   `json:"key"`
	Amount Nano  `json:"amount"`
	State  State `json:"state"`
	// Duplicate says that this key was reserved before: the money is held once. Unless the
	// caller knows that the earlier request was its own and nothing was sent, it must not
	// make the call.
	Duplicate bool      `json:"duplicate,omitempty"`
	Expires   time.Time `json:"expires"`
	// Balance is the account's, after the reservation.
	Balance Balance `json:"balance"`
}

// Source says where a charge comes from.
type Source string

const (
	// SourceUnknown is the zero value. It charges the reservation: nobody knows what was billed.
	SourceUnknown Source = ""
	// SourceProvider charges Actual, computed from what the provider reported.
	SourceProvider Source = "provider"
	// SourceObserved charges Actual, computed from what arrived before a call was cut short.
	SourceObserved Source = "observed"
)

// Charge is what a call cost. The zero value charges the whole reservation.
type Charge struct {
	Source Source `json:"source,omitempty"`
	// Actual is the cost. It may exceed the reservation; the excess is an overrun. With
	// tokens in Usage an Actual of 0 is taken for unknown unless the quote is free.
	Actual Nano `json:"actual,omitempty"`
	// Usage is what the cost was computed from.
	Usage prices.Usage `json:"usage,omitzero"`
	// ResponseID is the provider's name for the response, to reconcile bills with.
	ResponseID string `json:"response_id,omitempty"`
	// Model is the model that answered, where the provider says.
	Model string `json:"model,omitempty"`
}

// Check says what is wrong with the charge, if anything. It is for implementations.
func (c *Charge) Check(k Key) error {
	err := k.Check()
	if err == nil {
		err = c.Actual.check()
	}
	switch {
	case err != nil:
	case c.Source == SourceUnknown && c.Actual != 0:
		err = errors.New("a charge from an unknown source has no actual cost")
	case c.Source != SourceUnknown && c.Source != SourceProvider && c.Source != SourceObserved:
		err = fmt.Errorf("unknown source %q", string(c.Source))
	}
	if err != nil {
		return &OpError{Op: "commit", Account: k.Account, Key: k, Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	return nil
}

// Chargeable is the charge with a zero cost that can't be true made unknown: tokens were used
// and the price isn't free. It is for implementations.
func (c Charge) Chargeable(free bool) Charge {
	if c.Actual == 0 && c.Usage.Tokens() > 0 && !free {
		c.Source = SourceUnknown
	}
	return c
}

func (c *Charge) same(o *Charge) bool {
	a, errA := json.Marshal(*c) // values: a pointer here would put every charge on the heap
	b, errB := json.Marshal(*o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Receipt is the answer to a charge.
type Receipt struct {
	Key      Key  `json:"key"`
	Reserved Nano `json:"reserved"`
	Charged  Nano `json:"charged"`
	// Overrun is what exceeded the reservation.
	Overrun Nano `json:"overrun,omitempty"`
	// Orphan says that no reservation was known under this key, so all of it is overrun.
	Orphan bool `json:"orphan,omitempty"`
	// TargetsPassed names the accounts that this charge took past their target.
	TargetsPassed []AccountID `json:"targets_passed,omitempty"`
	// Duplicate says that the same charge was recorded before.
	Duplicate bool `json:"duplicate,omitempty"`
	// Balance is the account's, after the charge.
	Balance Balance `json:"balance"`
}

// Proof says why a reservation may be given back. The zero value proves nothing and is refused.
type Proof struct {
	Reason ProofReason `json:"reason"`
	// Detail is required with ProviderUnbilled: the status, and the provider's promise that
	// it isn't billed.
	Detail string `json:"detail,omitempty"`
}

// ProofReason is a reason to give a reservation back.
type ProofReason string

const (
	// NotDispatched says the request never left the process.
	NotDispatched ProofReason = "not_dispatched"
	// ProviderUnbilled says the provider documents that it doesn't bill this outcome.
	ProviderUnbilled ProofReason = "provider_unbilled"
)

// Check says what is wrong with the proof, if anything. It is for implementations.
func (p Proof) Check(k Key) error {
	err := k.Check()
	switch {
	case err != nil:
	case p.Reason == ProviderUnbilled && p.Detail == "":
		err = errors.New("the proof has no detail")
	case p.Reason != NotDispatched && p.Reason != ProviderUnbilled:
		err = errors.New("a release needs a proof")
	}
	if err != nil {
		return &OpError{Op: "release", Account: k.Account, Key: k, Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	return nil
}

// Entry is all that is known of a reservation.
type Entry struct {
	Request Request   `json:"request"`
	State   State     `json:"state"`
	Expires time.Time `json:"expires,omitzero"`
	// Charge and Charged are set once committed.
	Charge  Charge `json:"charge,omitzero"`
	Charged Nano   `json:"charged,omitempty"`
	Orphan  bool   `json:"orphan,omitempty"`
	// Proof is set once released.
	Proof Proof `json:"proof,omitzero"`
}

// CheckExtend says what is wrong with the arguments of [Ledger.Extend], if anything. It is for
// implementations.
func CheckExtend(k Key, lease time.Duration) error {
	err := k.Check()
	if err == nil && lease <= 0 {
		err = errors.New("lease must be positive")
	}
	if err != nil {
		return &OpError{Op: "extend", Account: k.Account, Key: k, Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	return nil
}
