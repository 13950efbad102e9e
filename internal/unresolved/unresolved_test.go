// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package unresolved

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Every reason has its words in both languages.
func TestEveryReasonIsSaid(t *testing.T) {
	for status, reasons := range map[supplier.Status][]supplier.Reason{
		supplier.StatusRefused: {
			supplier.ReasonEmpty, supplier.ReasonBlank, supplier.ReasonNoLetters, supplier.ReasonTooShort, supplier.ReasonTooLong, supplier.ReasonInvalidUTF8,
			supplier.ReasonControlCharacters, supplier.ReasonSeveralNames, supplier.ReasonStackedMarks, supplier.ReasonBadChecksum, supplier.ReasonBadVATKey,
			supplier.ReasonBadLEI, supplier.ReasonWrongLength, supplier.ReasonNameMismatch, supplier.ReasonNoNumber, supplier.ReasonNumbersDisagree,
		},
		supplier.StatusCandidates: {
			supplier.ReasonForeignCandidates, supplier.ReasonSeveralMatch, supplier.ReasonNoExactMatch, supplier.ReasonWeakName, supplier.ReasonOnlyCeased,
			supplier.ReasonPersonsName, supplier.ReasonNotFullyRead,
		},
		supplier.StatusNotFound:    {supplier.ReasonUnknownIdentifier, supplier.ReasonUnknownName, supplier.ReasonNameNotDisclosed},
		supplier.StatusUnavailable: {supplier.ReasonSourceUnavailable, supplier.ReasonRateLimited, supplier.ReasonInvalidAnswer},
	} {
		for _, reason := range reasons {
			english := Why(supplier.Resolution{Status: status, Reason: reason}, text.English)
			french := Why(supplier.Resolution{Status: status, Reason: reason}, text.French)
			require.NotEqual(t, english, french, reason)
			for _, s := range []string{english, french} {
				require.NotContains(t, s, string(status)+".", reason)
				require.NotRegexp(t, `^(refused|candidates|nobody)\.|%!`, s)
			}
		}
	}
}

func TestANumberThatWasShortened(t *testing.T) {
	for in, want := range map[string]string{"9,99991E+13": "spreadsheet", "9.9E8": "spreadsheet", "Quimper": "no SIREN"} {
		require.Contains(t, Refused(&supplier.RefusedError{Reason: supplier.ReasonNoNumber, Input: in}, text.English), want)
	}
}
