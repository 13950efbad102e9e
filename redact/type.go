// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

// Type names a kind of personal data. A user's pattern makes a type of its own
// name.
type Type string

// The types the package finds by itself.
const (
	Email Type = "EMAIL"
	IBAN  Type = "IBAN"
)

// Finding says where a value stands, never what it is.
type Finding struct {
	Type Type
	// Start and End are byte offsets: the value is text[Start:End]. In a
	// stream they count from its first byte.
	Start, End int
	// CutOff says that the text ended inside the value (see [CutOff]).
	CutOff bool
	// Err is nil, or why a pattern could not judge the stretch, which was
	// redacted whole for that reason: a [*PatternError].
	Err error
}

// Counts is the number of values redacted per type. The nil map is ready to be
// read. Not safe for concurrent use: Add changes it.
type Counts map[Type]int

// Total is the sum over all types.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// Add adds the counts of other and returns the sum, which is c unless c is nil.
func (c Counts) Add(other Counts) Counts {
	if c == nil && len(other) > 0 {
		c = make(Counts, len(other))
	}
	for t, n := range other {
		c[t] += n
	}
	return c
}

func count(fs []Finding) Counts {
	if len(fs) == 0 {
		return nil
	}
	c := make(Counts, 2)
	for _, f := range fs {
		c[f.Type]++
	}
	return c
}
