// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of a query, in characters.
const (
	MinQueryLength = 3   // the shortest the registry's search accepts
	MaxQueryLength = 200 // longer is refused before any comparison or call
)

// maxMarks is how many combining marks may stand on one letter: Vietnamese and
// polytonic Greek need three.
const maxMarks = 4

// Note is a remark about a query or its resolution that a person should see.
type Note string

// The notes that [ParseQuery] and a resolution may carry.
const (
	NoteInvisibleRemoved  Note = "invisible_characters_removed"
	NoteMixedScripts      Note = "mixed_scripts"          // letters of two scripts in one word
	NoteWeakName          Note = "weak_name"              // too short or too generic to identify anyone
	NoteResolvedByName    Note = "resolved_by_name"       // by the name alone: worth a confirmation
	NoteFormDiffers       Note = "legal_form_differs"     // the registry's legal form is not the one typed
	NoteCeasedHomonym     Note = "ceased_homonym"         // a ceased unit bears the same name
	NoteEstablishment     Note = "establishment_asked"    // a SIRET was given
	NoteEstablishmentShut Note = "establishment_closed"   // and that establishment is closed
	NoteEstablishmentMiss Note = "establishment_unknown"  // and the registry does not show it
	NoteNotFullyRead      Note = "results_not_fully_read" // more results than were read
)

// Query is what a person asked for, checked. Exactly one of ID and Name leads:
// when ID is set, Name is what was typed beside it, often empty.
type Query struct {
	ID    Identifier   `json:"id,omitzero"`
	Also  []Identifier `json:"also,omitempty"` // further numbers, which must mean the same company
	Name  string       `json:"name,omitempty"` // cleaned for search and display
	Notes []Note       `json:"notes,omitempty"`
}

// ParseQuery checks one command-line or form value and reads it as an
// identifier, an identifier with a name, or a name. Every error is a
// [*RefusedError]; a name that merely looks hostile is none.
func ParseQuery(s string) (Query, error) {
	q, err := readQuery(s)
	if err != nil || q.ID != (Identifier{}) {
		return q, err
	}
	if utf8.RuneCountInString(q.Name) < MinQueryLength {
		return Query{}, refuse(ReasonTooShort, s, fmt.Sprintf("at least %d characters", MinQueryLength))
	}
	if namesTwoCompanies(q.Name) {
		return Query{}, refuse(ReasonSeveralNames, s, "one supplier")
	}
	n := Normalize(q.Name)
	if n.MixedScripts {
		q.Notes = append(q.Notes, NoteMixedScripts)
	}
	if n.Weak {
		q.Notes = append(q.Notes, NoteWeakName)
	}
	return q, nil
}

// readQuery tells a number, a number beside a name, and a name apart, without asking
// whether the name is enough to search by.
func readQuery(s string) (Query, error) {
	if err := checkCharacters(s); err != nil {
		return Query{}, err
	}
	name := Clean(s, 0)
	var notes []Note
	if strings.ContainsFunc(s, invisible) {
		notes = append(notes, NoteInvisibleRemoved)
	}
	if !holdsAny(name) {
		return Query{}, refuse(ReasonNoLetters, s, "a name or an identifier")
	}
	id, err := ParseIdentifier(name)
	if err != nil {
		return Query{}, err
	}
	if id != (Identifier{}) {
		return Query{ID: id, Notes: notes}, nil
	}
	if id, rest, err := identifierBesideName(name); err != nil || id != (Identifier{}) {
		return Query{ID: id, Name: rest, Notes: notes}, err
	}
	return Query{Name: name, Notes: notes}, nil
}

// checkCharacters looks at the raw input, cheapest test first: a megabyte of
// argument is measured, not normalised.
func checkCharacters(s string) error {
	switch {
	case s == "":
		return refuse(ReasonEmpty, "", "a name or an identifier")
	case len(s) > MaxQueryLength*utf8.UTFMax*2:
		return refuse(ReasonTooLong, s[:MaxQueryLength], fmt.Sprintf("at most %d characters", MaxQueryLength))
	case !utf8.ValidString(s):
		return refuse(ReasonInvalidUTF8, s, "valid UTF-8")
	}
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "" || Clean(trimmed, 0) == "":
		return refuse(ReasonBlank, s, "a name or an identifier")
	case utf8.RuneCountInString(trimmed) > MaxQueryLength:
		return refuse(ReasonTooLong, s, fmt.Sprintf("at most %d characters", MaxQueryLength))
	case strings.ContainsAny(trimmed, "\n\r\u2028\u2029\u0085\v\f"):
		return refuse(ReasonSeveralNames, s, "one supplier on one line")
	case strings.ContainsFunc(trimmed, unicode.IsControl):
		return refuse(ReasonControlCharacters, s, "no control characters")
	case stackedMarks(trimmed):
		return refuse(ReasonStackedMarks, s, fmt.Sprintf("at most %d marks on a letter", maxMarks))
	}
	return nil
}

func stackedMarks(s string) bool {
	run := 0
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.M, r) {
			run = 0
			continue
		}
		if run++; run > maxMarks {
			return true
		}
	}
	return false
}

// sirenInText finds nine or fourteen digits, grouped as people write them, that
// stand apart from other digits at one end of a text.
var (
	numberFirst = regexp.MustCompile(`^([0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{3}(?:[ .]?[0-9]{5})?)[\s,;:()/-]+([^0-9].*)$`)
	numberLast  = regexp.MustCompile(`^(.*[^0-9\s,;:()/-])[\s,;:()/-]+([0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{3}(?:[ .]?[0-9]{5})?)\)?$`)
)

// identifierBesideName splits "999990005 Atelier Brumeval" and its mirror
// image. A number that fails its check is refused, as it would be alone.
func identifierBesideName(s string) (id Identifier, name string, err error) {
	var number string
	if m := numberFirst.FindStringSubmatch(s); m != nil {
		number, name = m[1], m[2]
	} else if m := numberLast.FindStringSubmatch(s); m != nil {
		number, name = m[2], m[1]
	} else {
		return Identifier{}, "", nil
	}
	id, err = ParseIdentifier(number)
	return id, strings.TrimSpace(name), err
}

// namesTwoCompanies reports "A SAS / B SARL": two parts around a separator,
// each with a legal form of its own.
func namesTwoCompanies(s string) bool {
	for _, sep := range []string{" / ", ";", " | "} {
		parts := strings.Split(s, sep)
		if len(parts) < 2 {
			continue
		}
		withForm := 0
		for _, p := range parts {
			if Normalize(p).Form != "" {
				withForm++
			}
		}
		if withForm >= 2 {
			return true
		}
	}
	return false
}
