// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"time"
)

// Ledger keeps accounts. Implementations are safe for concurrent use, and one that fails
// refuses: an error of Reserve or Open always means "make no call". Errors are [DeniedError] or
// [OpError]. Every operation ends in time by itself: Commit and Release are called under
// contexts without a deadline.
type Ledger interface {
	// Open makes an account, or finds the one that was opened with the same arguments. A slice
	// is set aside in its parent; [ErrBudgetExceeded] when it doesn't fit. No other operation
	// makes an account.
	Open(ctx context.Context, o Opening) (Balance, error)
	// Reserve takes the amount out of the account, and of the accounts it is a view of, in one
	// step, or changes nothing at all.
	Reserve(ctx context.Context, r Request) (Reservation, error)
	// Extend makes an open reservation's lease end no earlier than lease from now. A lease
	// that has ended gives [ErrLeaseEnded]; committing is still possible.
	Extend(ctx context.Context, k Key, lease time.Duration) error
	// Commit replaces a reservation, open or unsettled, by what the call cost. A cost above the
	// reservation is recorded in full and its excess as overrun. A cost under a key that isn't
	// known (never reserved, or forgotten since) is recorded as an orphan; an unknown cost
	// under such a key gives [ErrNoReservation]. On a closed account it is recorded too.
	Commit(ctx context.Context, k Key, c Charge) (Receipt, error)
	// Release gives a reservation, open or unsettled, back on proof that nothing was billed.
	Release(ctx context.Context, k Key, p Proof) error
	// Balance reads an account.
	Balance(ctx context.Context, id AccountID) (Balance, error)
	// Entry reads what is known of a reservation. Settled ones are forgotten in time.
	Entry(ctx context.Context, k Key) (Entry, error)
	// Pending lists the reservations, open and unsettled, of an account and of those beneath
	// it, by call and attempt.
	Pending(ctx context.Context, id AccountID) ([]Entry, error)
	// Close ends an account; [ErrPending] while reservations or open children remain. The unused
	// rest of a slice returns to its parent, once. Closing again changes nothing.
	Close(ctx context.Context, id AccountID) (Balance, error)
	// Adjust replaces an account's limits on the strength of an approval. A slice grows out of
	// its parent and shrinks into it. A hard limit below what is used stops the account: it
	// becomes what is used, since money that left can't be taken back.
	Adjust(ctx context.Context, a Adjustment) (Balance, error)
}
