// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"slices"
	"strings"
	"unicode"
)

// NewQuery checks a name and the numbers that stand beside it, in the fields of a form
// or in the cells of a table's row. All of them must mean one company: numbers that
// imply two SIRENs are refused here, and whether a name, a LEI or a foreign VAT number
// agrees with the other fields is seen when the query is resolved. A field without a
// letter or a digit counts as absent. A number in the field of the name is one number
// more; a number's field that holds anything else is refused. Every error is a
// [*RefusedError].
func NewQuery(name string, numbers ...string) (Query, error) {
	var q Query
	var ids []Identifier
	if holdsAny(name) {
		var err error
		if q, err = readQuery(name); err != nil {
			return Query{}, err
		}
		if q.ID != (Identifier{}) {
			ids = append(ids, q.ID)
		}
	}
	for _, number := range numbers {
		if !holdsAny(number) {
			continue
		}
		if err := checkCharacters(number); err != nil {
			return Query{}, err
		}
		id, err := ParseIdentifier(number)
		if err != nil {
			return Query{}, err
		}
		if id == (Identifier{}) {
			return Query{}, refuse(ReasonNoNumber, number, "a SIREN, a SIRET, a VAT number or a LEI")
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return ParseQuery(name)
	}
	var err error
	q.ID, q.Also, err = oneCompany(ids)
	return q, err
}

// holdsAny reports whether s says anything at all.
func holdsAny(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// oneCompany sets the number that says most apart from those that must agree with it.
func oneCompany(ids []Identifier) (first Identifier, also []Identifier, err error) {
	slices.SortStableFunc(ids, func(a, b Identifier) int { return weight(a) - weight(b) })
	first = ids[0]
	for _, id := range ids[1:] {
		switch {
		case id.SIREN != "" && id.SIREN == first.SIREN, id == first, slices.Contains(also, id):
		case id.SIREN != "" && first.SIREN != "", id.Kind == first.Kind:
			return Identifier{}, nil, refuse(ReasonNumbersDisagree, first.Value+", "+id.Value, "numbers of one company")
		default:
			also = append(also, id)
		}
	}
	return first, also, nil
}

// weight orders numbers: a SIRET names an establishment as well, a SIREN is looked up
// in the registry that says most, a VAT number from abroad often names no one.
func weight(id Identifier) int {
	switch {
	case id.Kind == KindSIRET:
		return 0
	case id.SIREN != "":
		return 1
	case id.Kind == KindRNA:
		return 2
	case id.Kind == KindLEI:
		return 3
	default:
		return 4
	}
}
