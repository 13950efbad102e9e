// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package keptrun_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/keptrun"
)

func TestPlaceOf(t *testing.T) {
	abs, err := filepath.Abs("books")
	require.NoError(t, err)
	for address, want := range map[string]keptrun.LedgerPlace{
		"":                                {},
		"memory":                          {Address: "memory"},
		"file:books":                      {Address: "file:" + abs},
		"redis://host:6379/1":             {Address: "redis://host:6379/1"},
		"redis://user:secret@host:6379":   {Address: "redis://host:6379", Login: true},
		"rediss://:secret@host":           {Address: "rediss://host", Login: true},
		"redis://user:sec%ret@host":       {Address: "redis://", Login: true},
		"redis://host:6379/?password=a@b": {Address: "redis://", Login: true},
	} {
		require.Equal(t, want, keptrun.PlaceOf(address), address)
	}
}

func TestALedgerIsRestored(t *testing.T) {
	const with, without, other = "redis://u:p@host:1", "redis://host:1", "redis://host:2"
	login, host := keptrun.LedgerPlace{Address: without, Login: true}, keptrun.LedgerPlace{Address: without}
	named := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		place       keptrun.LedgerPlace
		named       *string
		environment string
		free        bool
		want        string
		err         error
	}{
		"beside the run":               {},
		"in memory":                    {place: keptrun.LedgerPlace{Address: "memory"}, want: "memory"},
		"named with its login":         {place: login, named: named(with), want: with},
		"named without its login":      {place: login, named: named(without), want: without},
		"in the environment":           {place: login, environment: with, want: with},
		"named before the environment": {place: login, named: named(without), environment: with, want: without},
		"another is named":             {place: login, named: named(other), environment: with, err: keptrun.ErrOtherLedger},
		"none is named":                {place: host, named: named(""), err: keptrun.ErrOtherLedger},
		"another in the environment":   {place: host, environment: other, err: keptrun.ErrNoHost},
		"no login":                     {place: login, err: keptrun.ErrNoLogin},
		"no host":                      {place: host, err: keptrun.ErrNoHost},
		"no login is needed":           {place: login, free: true, want: without},
	} {
		got, err := c.place.Restore(c.named, c.environment, !c.free)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, c.want, got, name)
	}
}
