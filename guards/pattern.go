// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// patternTimeout bounds one match of a pattern that Go's own regexp, which is
// linear, can't compile.
const patternTimeout = 100 * time.Millisecond

// errPatternGaveUp is a pattern that took too long or too much memory.
var errPatternGaveUp = errors.New("the pattern could not judge the text")

// compilePattern returns a matcher. Its error is a time-out or a stack limit of
// regexp2: the caller must treat it as the unsafe answer.
func compilePattern(pattern string) (func(string) (bool, error), error) {
	re, err := regexp.Compile(pattern)
	if err == nil {
		return func(s string) (bool, error) { return re.MatchString(s), nil }, nil
	}
	re2, err2 := regexp2.Compile(pattern, regexp2.RE2)
	if err2 != nil {
		re2, err2 = regexp2.Compile(pattern, regexp2.None)
	}
	if err2 != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	re2.MatchTimeout = patternTimeout
	return func(s string) (bool, error) {
		ok, err := re2.MatchString(s)
		if err != nil {
			// regexp2's own error quotes the text it was looking at.
			return false, errPatternGaveUp
		}
		return ok, nil
	}, nil
}
