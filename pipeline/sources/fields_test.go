// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// A name and a number of two companies resolve to neither, whatever kind of number it is.
func TestANumberBesideAnotherNameResolvesNothing(t *testing.T) {
	c, err := New(Options{})
	require.NoError(t, err)
	refused := 0
	for _, owner := range sampleSet() {
		numbers := []string{owner.lei.Attributes.LEI}
		if owner.siren != "" {
			numbers = append(numbers, owner.siren, "FR"+supplier.FrenchVATKey(owner.siren)+owner.siren)
		}
		for _, other := range sampleSet() {
			same := supplier.CompareNames(supplier.Normalize(other.legal), supplier.Normalize(owner.legal)) != supplier.MatchNone
			for _, number := range numbers {
				if number == "" {
					continue
				}
				q, err := supplier.NewQuery(other.legal, number)
				require.NoError(t, err)
				r := c.ResolveQuery(t.Context(), q)
				switch {
				case r.Status == supplier.StatusUnavailable: // a company whose register is down
				case same:
					require.Equal(t, supplier.StatusResolved, r.Status, "%s %s: %s", other.legal, number, r.Detail)
					require.Equal(t, owner.siren, r.Subject.SIREN)
				default:
					require.Equal(t, supplier.StatusRefused, r.Status, "%s %s", other.legal, number)
					require.Equal(t, supplier.ReasonNameMismatch, r.Reason)
					require.Equal(t, owner.legal, r.Candidates[0].LegalName, "the owner is named")
					require.Zero(t, r.Subject)
					refused++
				}
			}
		}
	}
	require.Greater(t, refused, 300)
}

func TestNumbersThatStandTogether(t *testing.T) {
	c, err := New(Options{})
	require.NoError(t, err)
	const kervalec, nordwick, french = "999991011", "5299FICTIF0000000205", "9695FICTIF0000000303"
	for name, x := range map[string]struct {
		name    string
		numbers []string
		status  supplier.Status
		reason  supplier.Reason
	}{
		"a LEI of another country":       {"", []string{kervalec, nordwick}, supplier.StatusRefused, supplier.ReasonNumbersDisagree},
		"a LEI of another company":       {"", []string{"999991029", french}, supplier.StatusRefused, supplier.ReasonNumbersDisagree},
		"its own LEI":                    {"Transports Kervalec", []string{french, kervalec}, supplier.StatusResolved, ""},
		"a VAT number that names no one": {"Nordwick Maschinenbau", []string{nordwick, "DE999999999"}, supplier.StatusResolved, ""},
		"only such a number":             {"Nordwick Maschinenbau", []string{"DE999999999"}, supplier.StatusNotFound, supplier.ReasonNameNotDisclosed},
		"an unknown second number":       {"", []string{kervalec, "5493001KJTIIGC8Y1R12"}, supplier.StatusNotFound, supplier.ReasonUnknownIdentifier},
	} {
		q, err := supplier.NewQuery(x.name, x.numbers...)
		require.NoError(t, err, name)
		r := c.ResolveQuery(t.Context(), q)
		require.Equal(t, x.status, r.Status, "%s: %s", name, r.Detail)
		require.Equal(t, x.reason, r.Reason, name)
		require.Equal(t, q, r.Query, name)
	}
}
