// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package callbacks

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wherever a body panics, its consumer gets each value once, then the panic as an error,
// and is asked for nothing after it left.
func TestPumpAsksNobodyWhoLeft(t *testing.T) {
	for panicAfter := range 4 {
		for leaveAfter := 1; leaveAfter <= 4; leaveAfter++ {
			var got []int
			var failed error
			seq := func(yield func(int, error) bool) {
				pump(yield, func(give func(int, error) bool) {
					defer func() {
						if panicAfter == 3 {
							panic("in the clean-up")
						}
					}()
					for i := range 3 {
						if i == panicAfter {
							panic("a bug")
						}
						if !give(i, nil) {
							return
						}
					}
				})
			}
			for v, err := range seq {
				if err != nil {
					failed = err
				} else {
					got = append(got, v)
				}
				if len(got) == leaveAfter {
					break
				}
			}
			want := []int{0, 1, 2}[:min(panicAfter, leaveAfter, 3)]
			if len(want) == 0 {
				want = nil
			}
			require.Equal(t, want, got, "panic after %d, left after %d", panicAfter, leaveAfter)
			var caught *PanicError
			require.Equal(t, leaveAfter > panicAfter || panicAfter == 3 && leaveAfter > 3, errors.As(failed, &caught), "panic after %d, left after %d", panicAfter, leaveAfter)
		}
	}
	require.PanicsWithValue(t, "the consumer's own", func() {
		for range func(yield func(int, error) bool) {
			pump(yield, func(give func(int, error) bool) { give(1, nil) })
		} {
			panic("the consumer's own")
		}
	})
}
