// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"errors"
	"fmt"
)

// ErrRefused is what every [*RefusedError] is.
var ErrRefused = errors.New("supplier: input refused")

// Reason says, for programs, why a query was refused or left unresolved.
type Reason string

// Why a query is refused before any look-up.
const (
	ReasonEmpty             Reason = "empty"              // no characters
	ReasonBlank             Reason = "blank"              // only blanks
	ReasonNoLetters         Reason = "no_letters"         // only punctuation, symbols or emoji
	ReasonTooShort          Reason = "too_short"          // under MinQueryLength characters
	ReasonTooLong           Reason = "too_long"           // over MaxQueryLength characters
	ReasonInvalidUTF8       Reason = "invalid_utf8"       //
	ReasonControlCharacters Reason = "control_characters" // NUL, escape, tab, …
	ReasonSeveralNames      Reason = "several_names"      // a line break, or two companies in one argument
	ReasonStackedMarks      Reason = "stacked_marks"      // more combining marks on a letter than any script uses
	ReasonBadChecksum       Reason = "bad_checksum"       // a SIREN or SIRET with a wrong check digit
	ReasonBadVATKey         Reason = "bad_vat_key"        // SIREN holds the number the rest of it spells
	ReasonBadLEI            Reason = "bad_lei"            //
	ReasonWrongLength       Reason = "wrong_length"       // digits only, neither 9 nor 14
	ReasonNameMismatch      Reason = "name_mismatch"      // a number and a name that disagree
	ReasonNoNumber          Reason = "no_number"          // something else where a number is wanted
	ReasonNumbersDisagree   Reason = "numbers_disagree"   // numbers of two companies beside each other
)

// RefusedError says why a query was refused. Its text is safe to print: the
// input appears quoted, cleaned and cut to 60 characters.
type RefusedError struct {
	Reason Reason
	Input  string // cleaned, at most 60 characters
	Want   string // what would have been accepted, in English
	SIREN  string // for bad_vat_key: what to ask instead; else empty
}

// Error tells what was wrong, what was wanted and what came.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("supplier refused (%s): wanted %s, got %q", e.Reason, e.Want, e.Input)
}

// Is makes every refusal an [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

func refuse(reason Reason, input, want string) *RefusedError {
	return &RefusedError{Reason: reason, Input: Clean(input, 60), Want: want}
}
