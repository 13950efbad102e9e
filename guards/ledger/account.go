// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// AccountID names an account by its path from the task's root: "task-7/writer/draft". Segments
// hold letters, digits and . _ : - only. A task's id must not be used for another task.
type AccountID string

const maxIDLength, maxDepth = 256, 16

// Root is the task's own account.
func (id AccountID) Root() AccountID {
	root, _, _ := strings.Cut(string(id), "/")
	return AccountID(root)
}

// Parent is the account above, "" for a root.
func (id AccountID) Parent() AccountID {
	i := strings.LastIndexByte(string(id), '/')
	return id[:max(i, 0)]
}

// Child is the account of that name beneath id.
func (id AccountID) Child(name string) AccountID { return id + "/" + AccountID(name) }

// Within reports whether id is ancestor or beneath it.
func (id AccountID) Within(ancestor AccountID) bool {
	rest, ok := strings.CutPrefix(string(id), string(ancestor))
	return ok && (rest == "" || rest[0] == '/')
}

// Check says what is wrong with the name, if anything.
func (id AccountID) Check() error {
	if len(id) == 0 || len(id) > maxIDLength {
		return fmt.Errorf("account id must have 1 to %d characters", maxIDLength)
	}
	segment, depth := 0, 1
	for i := range len(id) {
		switch c := id[i]; {
		case c == '/':
			if segment == 0 {
				return errors.New("account id has an empty segment")
			}
			segment = 0
			depth++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
			segment++
		default:
			return errors.New("account id holds a character other than letters, digits and . _ : - /")
		}
	}
	switch {
	case segment == 0:
		return errors.New("account id has an empty segment")
	case depth > maxDepth:
		return fmt.Errorf("account id is more than %d accounts deep", maxDepth)
	}
	return nil
}

// Mode says how a child's money relates to its parent's. A root has none.
type Mode string

const (
	// Slice is the zero value. It sets the child's limit aside in the parent: guaranteed to the
	// child, out of reach of its siblings, and the unused rest returns when it closes.
	Slice Mode = ""
	// Cap makes the child a view of the parent's money with a limit of its own. Nothing is
	// set aside: siblings compete for what the parent has.
	Cap Mode = "cap"
)

// Limits are an account's three limits. Target ≤ Soft ≤ Hard.
type Limits struct {
	// Target is the expected cost; passing it is reported once. 0 is none.
	Target Nano `json:"target,omitempty"`
	// Soft is the most that may be spent or held without approval. 0 is none.
	Soft Nano `json:"soft,omitempty"`
	// Hard is the most that may be spent. Required: 0 never means unlimited.
	Hard Nano `json:"hard"`
}

func (l Limits) check() error {
	for _, n := range [...]Nano{l.Target, l.Soft, l.Hard} {
		if err := n.check(); err != nil {
			return err
		}
	}
	switch {
	case l.Soft > l.Hard:
		return errors.New("soft limit is above the hard limit")
	case l.Target > l.Hard, l.Soft > 0 && l.Target > l.Soft:
		return errors.New("target is above a limit")
	}
	return nil
}

// Opening asks for an account.
type Opening struct {
	// Account names it; its parent must be open.
	Account AccountID `json:"account"`
	// Mode is ignored for a root.
	Mode   Mode   `json:"mode,omitempty"`
	Limits Limits `json:"limits"`
}

// Check says what is wrong with the opening, if anything. It is for implementations.
func (o Opening) Check() error {
	if err := o.Account.Check(); err != nil {
		return invalid("open", o.Account, err)
	}
	if err := o.Limits.check(); err != nil {
		return invalid("open", o.Account, err)
	}
	if o.Limits.Hard == 0 {
		return invalid("open", o.Account, errors.New("a hard limit is required"))
	}
	if o.Mode != Slice && o.Mode != Cap {
		return invalid("open", o.Account, fmt.Errorf("unknown mode %q", string(o.Mode)))
	}
	return nil
}

// Adjustment replaces an account's limits.
type Adjustment struct {
	Account AccountID `json:"account"`
	// Approval identifies the decision, a ticket or a random id. Required, and good for one
	// adjustment of the task: it can't be used again for another.
	Approval string `json:"approval"`
	// Limits are the new limits, all three. A Hard of 0 stops the account.
	Limits Limits `json:"limits"`
}

// Check says what is wrong with the adjustment, if anything. It is for implementations.
func (a Adjustment) Check() error {
	if a.Approval == "" || len(a.Approval) > maxIDLength {
		return invalid("adjust", a.Account, fmt.Errorf("approval must have 1 to %d characters", maxIDLength))
	}
	if err := a.Limits.check(); err != nil {
		return invalid("adjust", a.Account, err)
	}
	return nil
}

// Balance is the state of an account at one moment.
type Balance struct {
	Account AccountID `json:"account"`
	Mode    Mode      `json:"mode,omitempty"`
	Limits  Limits    `json:"limits"`
	// Committed is what was charged: here, through capped views, and by slices since closed.
	Committed Nano `json:"committed"`
	// Reserved is held by calls under way.
	Reserved Nano `json:"reserved"`
	// Unsettled is held by calls whose lease ended without news. It stays charged.
	Unsettled Nano `json:"unsettled"`
	// Allocated is set aside for open slices.
	Allocated Nano `json:"allocated"`
	// Overrun is the part of Committed that no reservation covered: by so much, and no more,
	// can Used exceed the hard limit.
	Overrun Nano `json:"overrun"`
	// Spent is what was charged here and anywhere beneath, open slices included.
	Spent Nano `json:"spent"`
	// Held is reserved or unsettled here and anywhere beneath.
	Held   Nano `json:"held"`
	Closed bool `json:"closed,omitempty"`
	// Version rises with every change of the task.
	Version int64 `json:"version"`
}

// Used is what counts against the hard limit.
func (b Balance) Used() Nano { return b.Committed + b.Reserved + b.Unsettled + b.Allocated }

// Available is what the account's own hard limit leaves, 0 after an overrun. An ancestor of a
// capped view may leave less.
func (b Balance) Available() Nano { return max(0, b.Limits.Hard-b.Used()) }
