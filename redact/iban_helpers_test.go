// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// registryExamples are the example column of the table the package's own was
// made from.
func registryExamples(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/iban_registry.tsv")
	require.NoError(t, err)
	var examples []string
	for line := range strings.Lines(string(file)) {
		if fields := strings.Split(line, "\t"); len(fields) > 3 && len(fields[0]) == 2 {
			examples = append(examples, fields[3])
		}
	}
	return examples
}

func grouped(iban, separator string) string {
	var groups []string
	for ; len(iban) > 4; iban = iban[4:] {
		groups = append(groups, iban[:4])
	}
	return strings.Join(append(groups, iban), separator)
}

func pad(n, width int) string { return fmt.Sprintf("%0*d", width, n) }

// checkDigits computes them with big integers, unlike the package.
func checkDigits(country, bban string) string {
	var digits strings.Builder
	for _, c := range bban + country + "00" {
		if c >= 'A' {
			fmt.Fprint(&digits, c-'A'+10)
			continue
		}
		digits.WriteRune(c)
	}
	n, _ := new(big.Int).SetString(digits.String(), 10)
	return pad(98-int(new(big.Int).Mod(n, big.NewInt(97)).Int64()), 2)
}
