// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun

import (
	"errors"
	"net/url"
	"strings"

	"github.com/gardefou/gardefou/internal/files"
)

// Errors of [LedgerPlace.Restore].
var (
	// ErrOtherLedger means another ledger than the run's: it would know nothing of what was
	// spent.
	ErrOtherLedger = errors.New("keptrun: not the ledger of the run")
	// ErrNoLogin means that the ledger's user and password, which are not kept, are missing.
	ErrNoLogin = errors.New("keptrun: the ledger's login is missing")
	// ErrNoHost means that the ledger is on another host and was not named again: a folder
	// names no host that is believed.
	ErrNoHost = errors.New("keptrun: the ledger's host must be named again")
)

// A LedgerPlace is where a ledger is, as it may be kept.
type LedgerPlace struct {
	// Address is without user and password; a path in it means the same from another folder.
	Address string
	// Login says that the address had a user or password.
	Login bool
}

// PlaceOf is the place of the ledger at an address: "", "memory", "file:PATH" or a URL.
func PlaceOf(address string) LedgerPlace {
	if path, found := strings.CutPrefix(address, "file:"); found {
		return LedgerPlace{Address: "file:" + files.Absolute(path)}
	}
	if !strings.Contains(address, "@") {
		return LedgerPlace{Address: address}
	}
	u, err := url.Parse(address)
	if err != nil || u.User == nil { // which part of it is a password can't be seen
		scheme, _, _ := strings.Cut(address, ":")
		return LedgerPlace{scheme + "://", true}
	}
	u.User = nil
	return LedgerPlace{u.String(), true}
}

// Remote reports whether the ledger is on a host.
func (p LedgerPlace) Remote() bool { return strings.Contains(p.Address, "://") }

// Restore is the address of a kept run's ledger, with the login that named or, where it is
// nil, the environment gives again. A run without money, where priced is false, needs no
// ledger, nor its login or host.
func (p LedgerPlace) Restore(named *string, environment string, priced bool) (string, error) {
	switch {
	case named != nil && PlaceOf(*named).Address != p.Address:
		return "", ErrOtherLedger
	case named != nil:
		return *named, nil
	case environment != "" && PlaceOf(environment).Address == p.Address:
		return environment, nil
	case p.Login && priced:
		return "", ErrNoLogin
	case p.Remote() && priced:
		return "", ErrNoHost
	}
	return p.Address, nil
}
