// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/batch"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/store"
)

// batchKeep keeps the runs of a batch as run keeps one, so that both the next batch and
// resume can go on with them.
func (f *flags) batchKeep(ctx context.Context, lang text.Lang, c *sources.Client) (*batch.Keep, error) {
	own := f.settings(lang, c)
	data, err := json.Marshal(own)
	if err != nil {
		return nil, failed(err)
	}
	var shared ledger.Ledger
	limits, err := f.limits()
	if err == nil && limits.Hard > 0 && f.ledger != "" {
		shared, err = f.openLedger(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &batch.Keep{
		Settings: data,
		Same: func(kept store.Run) bool {
			var before settings
			return json.Unmarshal(kept.Settings, &before) == nil && reflect.DeepEqual(before.question(), own.question())
		},
		Begin: func(ctx context.Context, dir string, kept *store.Store) (batch.Attempt, error) {
			r := *f
			r.kept, r.out, r.closeLedger = kept, dir, nil
			var begun settings
			if json.Unmarshal(kept.Run().Settings, &begun) == nil && begun.Budget != "" && f.budget != "" {
				// The account is known by the limits it was opened with.
				r.budget, r.softBudget, r.targetBudget, r.raise = begun.Budget, begun.SoftBudget, begun.TargetBudget, f.budget
			}
			gate, err := r.spendOn(ctx, shared)
			return batch.Attempt{Spend: gate, GoOn: r.goOnAfter, Close: r.closeLedger}, err
		},
	}, nil
}

// question is what a run is about, without what it may use.
func (s settings) question() settings {
	s.MaxCalls, s.Timeout, s.ModelTimeout = 0, 0, 0
	s.Budget, s.SoftBudget, s.TargetBudget, s.PriceFile = "", "", "", ""
	if len(s.SourceURLs) == 0 {
		s.SourceURLs = nil
	}
	return s
}
