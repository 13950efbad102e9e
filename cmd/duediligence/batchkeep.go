// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/keptrun"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
)

// batchKeep keeps the runs of a batch as run keeps one, so that both the next batch and
// resume can go on with them.
func (j *job) batchKeep(ctx context.Context, client *sources.Client) (*batch.Keep, error) {
	own := j.settled(j.lang, client.AsOf())
	data, err := json.Marshal(own)
	if err != nil {
		return nil, failed(err)
	}
	var shared ledger.Ledger
	limits, err := j.limits()
	if err == nil && limits.Hard > 0 && j.ledger != "" {
		shared, err = j.openLedger(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &batch.Keep{
		Settings: data,
		Same: func(kept store.Run) bool {
			var before config
			return json.Unmarshal(kept.Settings, &before) == nil && before.question() == own.question()
		},
		Begin: func(ctx context.Context, kept *keptrun.Run) (batch.Attempt, error) {
			row := j.row(kept)
			var begun config
			if json.Unmarshal(kept.Store.Run().Settings, &begun) == nil && begun.budget != "" && j.budget != "" {
				// The account is known by the limits it was opened with.
				row.budget, row.softBudget, row.targetBudget, row.raise = begun.budget, begun.softBudget, begun.targetBudget, j.budget
			}
			gate, err := row.spend(ctx, shared)
			return batch.Attempt{Spend: gate, GoOn: row.goOnAfter, Close: row.close}, err
		},
	}, nil
}
