// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrBudgetExceeded is the hard limit's refusal; its text is a stable code. See [DeniedError].
	ErrBudgetExceeded = errors.New("task_budget_exceeded")
	// ErrNeedsApproval is the soft limit's refusal; its text is a stable code. See [DeniedError].
	ErrNeedsApproval = errors.New("task_budget_needs_approval")
	// ErrNoAccount means that nobody opened the account. It isn't an unlimited one.
	ErrNoAccount = errors.New("no such account")
	// ErrClosed means that the account takes no more reservations.
	ErrClosed = errors.New("account is closed")
	// ErrNoReservation means that nothing is known under the key.
	ErrNoReservation = errors.New("no such reservation")
	// ErrConflict means that the same name or key was used before with other arguments.
	// Nothing changed.
	ErrConflict = errors.New("used before with other arguments")
	// ErrLeaseEnded means that a lease can't be extended: the reservation is unsettled.
	ErrLeaseEnded = errors.New("lease has ended")
	// ErrPending means that an account can't close while it has reservations or open children.
	ErrPending = errors.New("account has unsettled reservations or open children")
	// ErrInvalid means that the arguments make no sense.
	ErrInvalid = errors.New("invalid argument")
	// ErrUnavailable means that the store can't be reached or can't keep its promise. Make no
	// call that bills. The same operation may be repeated.
	ErrUnavailable = errors.New("ledger is unavailable")
	// ErrRolledBack means that the store forgot changes it had acknowledged. It can't be
	// trusted for this task any more. It matches ErrUnavailable too.
	ErrRolledBack = fmt.Errorf("%w: it lost acknowledged changes", ErrUnavailable)
)

// DeniedError says which account refused a call or a slice, and by how much. It matches
// [ErrBudgetExceeded] or [ErrNeedsApproval]. Repeating the call is useless: Retryable is false.
type DeniedError struct {
	// Code is "task_budget_exceeded" or "task_budget_needs_approval".
	Code string `json:"code"`
	// Account refused; it may be an ancestor of the one asked.
	Account AccountID `json:"account"`
	// Key is the refused call, or zero where an opening or an adjustment was refused.
	Key Key `json:"key,omitzero"`
	// Need is the amount refused, Available what the limit left.
	Need      Nano `json:"need"`
	Available Nano `json:"available"`
	// Balance is the refusing account's. Where it holds reservations, money may come back
	// when they settle.
	Balance Balance `json:"balance"`
}

// Error implements error.
func (e *DeniedError) Error() string {
	limit := e.Balance.Limits.Hard
	if e.Code == ErrNeedsApproval.Error() {
		limit = e.Balance.Limits.Soft
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: account %s has %s left of %s, %s is needed", e.Code, e.Account, e.Available, limit, e.Need)
	fmt.Fprintf(&b, " (%s spent, %s held", e.Balance.Spent, e.Balance.Held)
	if e.Balance.Allocated > 0 {
		fmt.Fprintf(&b, ", %s set aside", e.Balance.Allocated)
	}
	b.WriteByte(')')
	return b.String()
}

// Unwrap gives the sentinel.
func (e *DeniedError) Unwrap() error {
	if e.Code == ErrNeedsApproval.Error() {
		return ErrNeedsApproval
	}
	return ErrBudgetExceeded
}

// Retryable is false: the same call will be refused again.
func (e *DeniedError) Retryable() bool { return false }

// Missing is how much the limit would have to rise for the call to fit now.
func (e *DeniedError) Missing() Nano { return e.Need - e.Available }

// OpError is any other refusal. Err wraps one of the package's sentinels.
type OpError struct {
	// Op is "open", "reserve", "extend", "commit", "release", "balance", "close", "adjust", "entry" or "pending".
	Op      string
	Account AccountID
	// Key is zero where the operation has none.
	Key Key
	Err error
}

// Error implements error.
func (e *OpError) Error() string {
	if e.Key != (Key{}) {
		return fmt.Sprintf("ledger: %s %s: %v", e.Op, e.Key, e.Err)
	}
	return fmt.Sprintf("ledger: %s %s: %v", e.Op, e.Account, e.Err)
}

// Unwrap gives the cause.
func (e *OpError) Unwrap() error { return e.Err }

// Retryable is false: a call that bills must not be tried again on the strength of this error.
// After [ErrUnavailable] the ledger's own operation may be repeated with the same arguments.
func (e *OpError) Retryable() bool { return false }

func invalid(op string, account AccountID, err error) error {
	return &OpError{Op: op, Account: account, Err: fmt.Errorf("%w: %w", ErrInvalid, err)}
}
