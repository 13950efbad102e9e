// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Place narrows a name down: a French department, a postal code or a town. The
// zero value is no place.
type Place struct {
	Department string // "69", "2A", "974"
	PostalCode string
	Town       string // folded
}

var (
	placeNumber = regexp.MustCompile(`^(.*\S)[\s,(]+(2[AB]|97[0-9]|[0-9]{2}|[0-9]{5})\)?$`)
	placeTown   = regexp.MustCompile(`^(.*\S)\s*[,(]\s*([^,()]+?)\)?$`)
)

// SplitPlace reads "Orvelle 69", "Orvelle, Lyon" and "Orvelle (69002)" as a name
// and a place; ok is false when there is no place, or no name left. Numbers end
// names too ("Garage 44"), so the whole name is to be tried first.
func SplitPlace(s string) (name string, p Place, ok bool) {
	if m := placeNumber.FindStringSubmatch(s); m != nil {
		name = strings.TrimRight(m[1], " ,(")
		if len(m[2]) == 5 {
			p.PostalCode = m[2]
		} else {
			p.Department = m[2]
		}
	} else if m := placeTown.FindStringSubmatch(s); m != nil {
		name, p.Town = m[1], Fold(m[2])
	}
	ok = p != Place{} && utf8.RuneCountInString(name) >= MinQueryLength
	return name, p, ok
}
