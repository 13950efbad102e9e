// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/batch"
)

// A batch that is interrupted ends at whatever row comes next, one that can't be read
// included.
func TestAnInterruptedBatchEndsAtAnyRow(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	for name, next := range map[string]string{
		"a line far too long": long + "\n" + long + "\n",
		"a quote left open":   "\"Transports\n\"Transports\n",
		"an empty row":        ",Quimper\n,Quimper\n",
		"another supplier":    "Conserverie des Embruns,\n",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := options(t, t.TempDir())
			o.Jobs = 1
			o.Done = func(batch.Row) { cancel() }
			_, err := batch.Run(ctx, strings.NewReader("name,city\nTransports Kervalec,Quimper\n"+next+next+next+"Transports Kervalec,\n"), o)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}
