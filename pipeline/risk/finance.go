// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import "strconv"

const confidentialityPublic = "Public"

func (s *scorer) finance() {
	if s.facts.Accounts == nil {
		for _, id := range []string{F1Equity, F2Repayment, F3Liquidity, F4Result, F5RevenueTrend, F6Payment, F7Transparency} {
			s.missing(id, ReasonUnavailable)
		}
		return
	}
	usable, rejected := usableAccounts(s.facts.Accounts, s.asOf)
	s.rejected = rejected
	var fresh []filing
	for _, f := range usable {
		if WholeMonths(f.closed, s.asOf) <= s.model.AccountsMonths {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		why := ReasonNotFound
		if len(rejected) > 0 && len(usable) == 0 {
			why = ReasonInvalidValue
		}
		for _, id := range []string{F1Equity, F2Repayment, F3Liquidity, F4Result, F5RevenueTrend, F6Payment} {
			s.missing(id, why)
		}
	} else {
		s.equity(fresh[0])
		s.repayment(fresh[0])
		s.liquidity(fresh[0])
		s.result(fresh)
		s.trend(fresh)
		s.payment(fresh[0])
	}
	s.transparency()
}

func (s *scorer) equity(last filing) {
	v := last.EquityRatio
	if v == nil || *v == 0 {
		s.missing(F1Equity, ReasonNotPublished)
		return
	}
	s.measure(F1Equity, decimalText(*v), decimal(*v))
	if *v < 0 {
		s.floor(FloorNegativeEquity)
	}
}

func (s *scorer) repayment(last filing) {
	v := last.RepaymentYears
	// Zero years to repay is true only of a company without debt.
	zeroUnproven := v != nil && *v == 0 && (last.DebtRatio == nil || *last.DebtRatio != 0)
	if v == nil || zeroUnproven || last.Confidentiality != confidentialityPublic {
		s.missing(F2Repayment, ReasonNotPublished)
		return
	}
	s.measure(F2Repayment, decimalText(*v), decimal(*v))
}

func (s *scorer) liquidity(last filing) {
	v := last.LiquidityRatio
	if v == nil || *v == 0 {
		s.missing(F3Liquidity, ReasonNotPublished)
		return
	}
	s.measure(F3Liquidity, decimalText(*v), decimal(*v))
}

func (s *scorer) result(fresh []filing) {
	var results []int64
	for _, f := range fresh {
		if f.NetResult != nil && *f.NetResult != 0 {
			results = append(results, *f.NetResult)
		}
	}
	if len(results) == 0 {
		s.missing(F4Result, ReasonNotPublished)
		return
	}
	turnover := fresh[0].turnover()
	choice := "profit"
	switch {
	case results[0] < 0 && len(results) > 1 && results[1] < 0:
		choice = "two_losses"
	case results[0] < 0:
		choice = "loss"
	case turnover != nil && *turnover > 0 && 100*results[0] < s.model.ThinMargin**turnover:
		choice = "thin_margin"
	}
	s.choose(F4Result, choice)
	f := s.found[F4Result]
	f.Value = strconv.FormatInt(results[0], 10)
	s.found[F4Result] = f
}

func (s *scorer) trend(fresh []filing) {
	if len(fresh) < 2 || fresh[0].turnover() == nil || fresh[1].turnover() == nil || *fresh[1].turnover() <= 0 {
		s.missing(F5RevenueTrend, ReasonNotPublished)
		return
	}
	now, before := *fresh[0].turnover(), *fresh[1].turnover()
	s.measure(F5RevenueTrend, percentText(now-before, before), percentOf(now-before, before))
}

func (s *scorer) payment(last filing) {
	v := last.SupplierDays
	if v == nil || *v == 0 || last.Confidentiality != confidentialityPublic {
		s.missing(F6Payment, ReasonNotPublished)
		return
	}
	s.measure(F6Payment, decimalText(*v), decimal(*v))
}

func (s *scorer) transparency() {
	switch s.facts.Transparency {
	case "":
		s.missing(F7Transparency, ReasonNotKnown)
	case TransparencyNotDue:
		s.missing(F7Transparency, ReasonNotDue)
	case TransparencyPartial, TransparencyConfidential, TransparencyNoneFiled:
		s.review(ReviewAskAccounts)
		fallthrough
	default:
		s.choose(F7Transparency, string(s.facts.Transparency))
	}
}
