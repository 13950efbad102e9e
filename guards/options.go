// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"cmp"
	"errors"
	"fmt"
)

// notNegative says which field of a guard's options is negative, or nil.
func notNegative[T cmp.Ordered](guard, field string, value T) error {
	var zero T
	if value < zero {
		return fmt.Errorf("guards: %s: %s is %v, it must not be negative", guard, field, value)
	}
	return nil
}

// positive says which required field of a guard's options is not above zero, or nil.
func positive[T cmp.Ordered](guard, field string, value T) error {
	var zero T
	if value <= zero {
		return fmt.Errorf("guards: %s: %s is %v, it must be more than zero", guard, field, value)
	}
	return nil
}

// errNoLimit is for options that limit nothing.
func errNoLimit(guard, fields string) error {
	return errors.New("guards: " + guard + " limits nothing: set " + fields)
}
