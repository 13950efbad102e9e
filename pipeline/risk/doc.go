// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package risk turns facts about a supplier into a score that an auditor can
// re-compute by hand. [Score] is pure: no clock, no network, no model; the same
// facts and the same day give the same result. Points and weights are whole
// numbers and fractions are exact until the last step, which rounds half up to
// one decimal; the rating is taken on the rounded figure, the one people see.
//
// A factor that is not known is missing, with a reason; nothing is imputed. A
// missing factor leaves the score alone and widens the interval beside it.
//
// The model ranks attention. It is no probability of default, it was not
// validated on outcomes, and a stop means "a person has to look first".
package risk
