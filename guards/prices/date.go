// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"fmt"
	"time"
)

// Date is a calendar day, "2026-12-01". Price pages name days without a time zone, so a
// row counts from the first moment its first day begins anywhere on Earth (UTC+14) to the
// last moment its last day ends anywhere (UTC-12). Around a change both rows are quoted
// and the dearer one is charged.
type Date string

const (
	earliestZone = 14 * time.Hour
	latestZone   = 12 * time.Hour
)

func (d Date) midnight() (time.Time, error) {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a date such as 2026-12-01", string(d))
	}
	return t, nil
}

func (d Date) begins() (time.Time, error) {
	t, err := d.midnight()
	return t.Add(-earliestZone), err
}

func (d Date) ends() (time.Time, error) {
	t, err := d.midnight()
	return t.AddDate(0, 0, 1).Add(latestZone), err
}

// dayBefore is the day before d, a date that was checked.
func (d Date) dayBefore() Date {
	t, _ := d.midnight()
	return Date(t.AddDate(0, 0, -1).Format(time.DateOnly))
}
