// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFieldsOfOneCompany(t *testing.T) {
	siren := Identifier{Kind: KindSIREN, Value: "999991029", SIREN: "999991029"}
	vat := Identifier{Kind: KindVAT, Value: "FR70999991029", SIREN: "999991029", Country: "FR"}
	siret := Identifier{Kind: KindSIRET, Value: "99999000500012", SIREN: "999990005"}
	lei := Identifier{Kind: KindLEI, Value: "5299FICTIF0000000205"}
	german := Identifier{Kind: KindVAT, Value: "DE123456789", Country: "DE"}
	for name, x := range map[string]struct {
		name    string
		numbers []string
		want    Query
	}{
		"a number alone":              {"", []string{"999 991 029"}, Query{ID: siren}},
		"a number and a name":         {"Conserverie des Embruns", []string{"999991029"}, Query{ID: siren, Name: "Conserverie des Embruns"}},
		"a name too short to search":  {"3M", []string{"999991029"}, Query{ID: siren, Name: "3M"}},
		"a VAT number and a name":     {"Conserverie", []string{"", "fr 70 999991029"}, Query{ID: vat, Name: "Conserverie"}},
		"a SIREN and its VAT number":  {"", []string{"FR70999991029", "999991029"}, Query{ID: vat}},
		"a SIRET says most":           {"", []string{"999990005", "99999000500012"}, Query{ID: siret}},
		"the same number twice":       {"999991029", []string{"999991029"}, Query{ID: siren}},
		"a number beside the name":    {"Kervalec 999991029", nil, Query{ID: siren, Name: "Kervalec"}},
		"a LEI and a German number":   {"Nordwick", []string{"DE123456789", "5299FICTIF0000000205"}, Query{ID: lei, Also: []Identifier{german}, Name: "Nordwick"}},
		"a SIREN leads the rest":      {"", []string{"5299FICTIF0000000205", "DE123456789", "999991029"}, Query{ID: siren, Also: []Identifier{lei, german}}},
		"dashes for nothing":          {"Transports Kervalec", []string{"-", " ", "—"}, Query{Name: "Transports Kervalec"}},
		"a name alone":                {"Transports Kervalec", nil, Query{Name: "Transports Kervalec"}},
		"a dash for the name":         {"-", []string{"999991029"}, Query{ID: siren}},
		"a number in the name's cell": {"999991029", []string{""}, Query{ID: siren}},
	} {
		got, err := NewQuery(x.name, x.numbers...)
		require.NoError(t, err, name)
		require.Equal(t, x.want, got, name)
	}
}

func TestFieldsThatCannotBeOneCompany(t *testing.T) {
	for name, x := range map[string]struct {
		name    string
		numbers []string
		want    Reason
	}{
		"two SIRENs":                  {"", []string{"999991029", "999991011"}, ReasonNumbersDisagree},
		"a SIREN and another's VAT":   {"X", []string{"999991011", "FR70999991029"}, ReasonNumbersDisagree},
		"a number beside the name":    {"Kervalec 999991011", []string{"999991029"}, ReasonNumbersDisagree},
		"two LEIs":                    {"", []string{"5299FICTIF0000000205", "9695FICTIF0000000109"}, ReasonNumbersDisagree},
		"a name for a number":         {"Kervalec", []string{"Quimper"}, ReasonNoNumber},
		"figures as a table shortens": {"Kervalec", []string{"9,99991E+13"}, ReasonNoNumber},
		"a wrong check digit":         {"Kervalec", []string{"999991028"}, ReasonBadChecksum},
		"a lost zero":                 {"Kervalec", []string{"99999101"}, ReasonWrongLength},
		"nothing":                     {"", []string{"", "-"}, ReasonEmpty},
		"a short name":                {"ab", []string{""}, ReasonTooShort},
		"a control character":         {"Kervalec", []string{"9999\x1b91029"}, ReasonControlCharacters},
		"bytes that are no text":      {"Kervalec", []string{"\xff9"}, ReasonInvalidUTF8},
		"two companies":               {"Alpha SAS / Beta SARL", nil, ReasonSeveralNames},
	} {
		_, err := NewQuery(x.name, x.numbers...)
		var refused *RefusedError
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, x.want, refused.Reason, name)
	}
}
