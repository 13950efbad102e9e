// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	"github.com/gardefou/gardefou/guards/ledger"
	"github.com/gardefou/gardefou/guards/prices"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline"
	"github.com/gardefou/gardefou/pipeline/keptrun"
)

// A job is what one command, or one row of a batch, does with its config: the state that no
// other shares.
type job struct {
	config
	lang text.Lang
	p    *printer // nil where nothing is reported on stderr

	approve  func(context.Context, *ledger.DeniedError) bool
	onTarget func(context.Context, ledger.Receipt)
	table    *prices.Table // once it is read
	unusable bool          // that rows of it can't be used was reported
	kept     *keptrun.Run  // nil where the run is not kept
	hard     ledger.Nano   // what the run may spend, once its account is open
	ends     []func() error
}

// newJob refuses what no command could make sense of.
func newJob(c config) (*job, error) {
	lang, err := c.language()
	return &job{config: c, lang: lang}, err
}

// row is the job of one row of a batch, with the prices that are read already.
func (j *job) row(kept *keptrun.Run) *job {
	row := &job{config: j.config, lang: j.lang, p: j.p, table: j.table, unusable: j.unusable, kept: kept}
	row.out = kept.Dir
	return row
}

// check refuses what no run could make sense of, before anything is asked.
func (j *job) check() error {
	if err := j.config.check(); err != nil {
		return err
	}
	_, err := j.readPrices() // also where nothing is priced: a file that was named is meant to be used
	return err
}

// closes has something closed at the end, before what was opened earlier.
func (j *job) closes(end func() error) { j.ends = append(j.ends, end) }

// close closes what the job opened. It may be called more than once.
func (j *job) close() error {
	var errs []error
	for _, end := range slices.Backward(j.ends) {
		errs = append(errs, end())
	}
	j.ends = nil
	return errors.Join(errs...)
}

// end is close for the end of a command: what could not be kept was reported before.
func (j *job) end() { _ = j.close() }

// prepare makes the options of the pipeline that do not depend on the supplier. The money
// gate is made once it is known where the run, and with it the ledger, is kept.
func (j *job) prepare(ctx context.Context) (o pipeline.Options, err error) {
	o = j.options
	o.Lang, o.ToolVersion, o.DraftModel = string(j.lang), version(), j.draftModel()
	if o.Sources, err = j.client(); err != nil {
		return o, err
	}
	if o.Model, err = j.llm(ctx, j.lang); err != nil {
		return o, err
	}
	if o.RiskModel, err = j.riskModel(); err != nil {
		return o, err
	}
	o.Telemetry, err = j.startTelemetry(ctx)
	return o, err
}

// prepareWithMoney is prepare for runs that are not kept.
func (j *job) prepareWithMoney(ctx context.Context) (pipeline.Options, error) {
	o, err := j.prepare(ctx)
	if err == nil {
		o.Spend, err = j.spend(ctx, nil)
	}
	return o, err
}
