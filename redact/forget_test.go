// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/redact"
)

func TestForgetTokens(t *testing.T) {
	got, err := redact.ForgetTokens(map[string]any{
		"a": "to [EMAIL:tok-abcdefgh-1] and [IBAN:tok-abcdefgh-12]", "b": []any{"[EMAIL:tok-abcdefgh-1]", 1.5, nil}, "c": "[EMAIL:tok-short-1] [EMAIL]",
	})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": "to [EMAIL] and [IBAN]", "b": []any{"[EMAIL]", 1.5, nil}, "c": "[EMAIL:tok-short-1] [EMAIL]"}, got)
	_, err = redact.ForgetTokens(make(chan int))
	require.ErrorIs(t, err, redact.ErrOpaque)
}
