// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger keeps spend accounts that can't be overspent.
//
// A call that bills is admitted before it is made: [Ledger.Reserve] takes its worst case out
// of the account in one step, or refuses. Afterwards [Ledger.Commit] replaces the reservation
// by the real cost, or [Ledger.Release] gives it back on proof that nothing was billed. As long
// as no call bills more than it reserved, what is billed never exceeds the limit, whatever runs
// in parallel and whatever crashes:
//
//	used = committed + reserved + unsettled + allocated
//	a reservation is admitted if amount ≤ limit − used
//
// A reservation nobody settles before its lease ends becomes unsettled. It stays charged, since
// the provider may have billed, until a late commit or a release with proof. Nothing is ever
// given back because time passed.
//
// Accounts form a tree under one task, named by path: "task-7", "task-7/writer". A child is a
// [Slice], whose limit is set aside in its parent when it opens and whose unused rest returns
// when it closes, or a [Cap], a view of its parent's money with a lower limit of its own.
//
// Three limits: the hard one refuses with [ErrBudgetExceeded]; the soft one refuses with
// [ErrNeedsApproval] until [Ledger.Adjust] raises it with an approval; passing the target is
// only reported, once. The soft limit and the target look at all money spent or held at an
// account and beneath it; the hard limit looks at the account's own books, where a slice
// counts in full from the moment it opens.
//
// Every operation is idempotent: the same arguments again change nothing, so a caller that
// doesn't know whether an operation arrived repeats it. Other arguments under the same key give
// [ErrConflict].
//
// [NewMemory] keeps accounts in the process, [OpenFile] in a file that survives it, package
// redisledger on a Redis several processes share. Package ledgertest is the contract all three
// pass. The guarantee ends where the process does: code that holds the provider's key can bill
// without asking.
package ledger
