// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redisledger_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/ledger/ledgertest"
	"github.com/gardefou/gardefou/guards/ledger/redisledger"
)

func TestContract(t *testing.T) {
	s := startRedis(t, "--appendfsync", "no") // what is tested here is the books
	client := s.client()
	ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
		return ledgertest.Fixture{
			Ledger: s.ledger(redisledger.Options{AllowDelayedFsync: true}),
			Elapse: func(d time.Duration) { shiftLeases(t, client, d) },
			Reopen: func(*testing.T) ledger.Ledger { return s.ledger(redisledger.Options{AllowDelayedFsync: true}) },
		}
	})
}

// shiftLeases lets time pass by moving the end of every lease instead: Redis' clock is its own.
func shiftLeases(t *testing.T, c rueidis.Client, d time.Duration) {
	ctx := context.Background()
	script := rueidis.NewLuaScript(`
		for _, leases in ipairs(redis.call('KEYS', '*:leases')) do
			local entries = string.gsub(leases, 'leases$', 'entries')
			for _, key in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
				redis.call('ZINCRBY', leases, '-' .. ARGV[1], key)
				redis.call('HINCRBY', entries, key .. '|t', '-' .. ARGV[1])
			end
		end`)
	err := script.Exec(ctx, c, nil, []string{strconv.FormatInt(d.Milliseconds(), 10)}).Error()
	require.True(t, err == nil || rueidis.IsRedisNil(err), err)
}
