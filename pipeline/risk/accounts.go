// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// maxEuros bounds a figure that can be true; larger ones come from a broken
// file, and would overflow the arithmetic.
const maxEuros = int64(10_000_000_000_000)

// filing is an account that passed the plausibility rules.
type filing struct {
	Account
	closed             time.Time
	turnoverUnreadable bool
}

// turnover is nil when not declared (the register writes zero) or unreadable.
func (f filing) turnover() *int64 {
	if f.turnoverUnreadable || f.Turnover == nil || *f.Turnover == 0 {
		return nil
	}
	return f.Turnover
}

// usableAccounts drops what cannot be true and keeps one perimeter, newest
// first: company accounts, or consolidated ones when there is nothing else, and
// never both in one series.
func usableAccounts(accounts []Account, asOf time.Time) (usable []filing, rejected []RejectedAccount) {
	reject := func(a Account, why string) {
		rejected = append(rejected, RejectedAccount{YearEnd: a.YearEnd, Perimeter: a.Perimeter, Why: why})
	}
	type key struct{ yearEnd, perimeter string }
	byKey := map[key][]filing{}
	var order []key
	for _, a := range accounts {
		closed, err := time.Parse(time.DateOnly, a.YearEnd)
		switch {
		case err != nil:
			reject(a, "unreadable_date")
			continue
		case closed.After(asOf):
			reject(a, "closing_date_in_future")
			continue
		case outOfRange(a):
			reject(a, "figure_out_of_range")
			continue
		case a.EquityRatio != nil && (*a.EquityRatio < -500 || *a.EquityRatio > 100):
			reject(a, "equity_ratio_out_of_range")
			continue
		}
		k := key{a.YearEnd, a.Perimeter}
		if _, seen := byKey[k]; !seen {
			order = append(order, k)
		}
		// A filing that is there twice, word for word, is one filing.
		if !slices.ContainsFunc(byKey[k], func(f filing) bool { return reflect.DeepEqual(f.Account, a) }) {
			byKey[k] = append(byKey[k], filing{Account: a, closed: closed})
		}
	}
	var company, group []filing
	for _, k := range order {
		same := byKey[k]
		switch {
		case len(same) > 1:
			for _, f := range same {
				reject(f.Account, "conflicting_duplicate")
			}
		case k.perimeter == "K":
			group = append(group, same...)
		case k.perimeter == "C" || k.perimeter == "S":
			company = append(company, same...)
		}
	}
	usable = company
	if len(usable) == 0 {
		usable = group
	}
	slices.SortStableFunc(usable, func(a, b filing) int {
		return cmp.Or(strings.Compare(b.YearEnd, a.YearEnd), strings.Compare(a.Perimeter, b.Perimeter))
	})
	markUnitMismatch(usable)
	return usable, rejected
}

func outOfRange(a Account) bool {
	for _, v := range []*int64{a.Turnover, a.NetResult} {
		if v != nil && (*v > maxEuros || *v < -maxEuros) {
			return true
		}
	}
	for _, v := range []*float64{a.EquityRatio, a.DebtRatio, a.RepaymentYears, a.LiquidityRatio, a.SupplierDays} {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			return true
		}
	}
	return false
}

// markUnitMismatch finds neighbouring years whose turnovers differ by about a
// thousand: one was filed in thousands of euros, so the smaller is unreadable.
func markUnitMismatch(newestFirst []filing) {
	for i := range len(newestFirst) - 1 {
		a, b := &newestFirst[i], &newestFirst[i+1]
		if a.Turnover == nil || b.Turnover == nil || *a.Turnover <= 0 || *b.Turnover <= 0 {
			continue
		}
		small, large := a, b
		if *a.Turnover > *b.Turnover {
			small, large = b, a
		}
		if x, y := *large.Turnover, *small.Turnover; x >= 500*y && x <= 2000*y {
			small.turnoverUnreadable = true
		}
	}
}
