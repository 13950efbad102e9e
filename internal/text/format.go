// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strconv"
	"strings"
	"time"
)

// Date writes an ISO date as readers of lang expect it: 2026-11-29 in English,
// 29/11/2026 in French. What is not an ISO date comes back as it is.
func Date(lang Lang, iso string) string {
	t, err := time.Parse(time.DateOnly, iso)
	if err != nil || t.IsZero() {
		if t.IsZero() && err == nil {
			return ""
		}
		return iso
	}
	if lang == French {
		return t.Format("02/01/2006")
	}
	return iso
}

// Money writes an amount in whole euros; nil is "not published".
func Money(lang Lang, euros *int64) string {
	if euros == nil {
		return Get(lang, NotPublished)
	}
	digits := strconv.FormatInt(*euros, 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	sep, unit := ",", " EUR"
	if lang == French {
		sep, unit = "\u202f", "\u202f€"
	}
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, groups...), sep) + unit
}

// Figure writes a number with its unit; nil is "not published".
func Figure(lang Lang, v *float64, unit string) string {
	if v == nil {
		return Get(lang, NotPublished)
	}
	s := strconv.FormatFloat(*v, 'f', -1, 64)
	if lang == French {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s + unit
}
