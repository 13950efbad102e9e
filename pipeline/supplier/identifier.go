// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind names an identifier scheme.
type Kind string

// The identifier schemes that [ParseIdentifier] knows.
const (
	KindSIREN Kind = "siren" // French legal unit: 9 digits, Luhn
	KindSIRET Kind = "siret" // French establishment: SIREN and 5 more digits, Luhn
	KindVAT   Kind = "vat"   // EU VAT number with its country prefix; Greece is EL, Northern Ireland XI
	KindLEI   Kind = "lei"   // ISO 17442: 20 characters, ISO 7064 mod 97-10
	KindRNA   Kind = "rna"   // French association: W and 9 characters
)

// Identifier is a checked identifier in its canonical spelling: upper case, no
// blanks, dots or hyphens. The zero value means "none".
type Identifier struct {
	Kind    Kind   `json:"kind"`
	Value   string `json:"value"`
	SIREN   string `json:"siren,omitempty"`   // the French legal unit it implies; empty when it implies none
	Country string `json:"country,omitempty"` // VAT only: its two-letter prefix
}

// laPoste owns the one SIREN whose establishments may fail Luhn; there the sum
// of the 14 digits is a multiple of five instead.
const laPoste = "356000000"

var (
	leiShape  = regexp.MustCompile(`^[A-Z0-9]{18}[0-9]{2}$`)
	rnaShape  = regexp.MustCompile(`^W[0-9][A-Z0-9][0-9]{7}$`)
	euidShape = regexp.MustCompile(`^FR[0-9]{4}\.?([0-9]{9})$`)
	frVAT     = regexp.MustCompile(`^FR([0-9A-Z]{2})([0-9]{9})$`)
)

// vatShapes are the national formats published by the European Commission for
// VIES, without the country prefix.
var vatShapes = map[string]*regexp.Regexp{
	"AT": regexp.MustCompile(`^U[0-9]{8}$`),
	"BE": regexp.MustCompile(`^[01][0-9]{9}$`),
	"BG": regexp.MustCompile(`^[0-9]{9,10}$`),
	"CY": regexp.MustCompile(`^[0-9]{8}[A-Z]$`),
	"CZ": regexp.MustCompile(`^[0-9]{8,10}$`),
	"DE": regexp.MustCompile(`^[0-9]{9}$`),
	"DK": regexp.MustCompile(`^[0-9]{8}$`),
	"EE": regexp.MustCompile(`^[0-9]{9}$`),
	"EL": regexp.MustCompile(`^[0-9]{9}$`),
	"ES": regexp.MustCompile(`^[A-Z0-9][0-9]{7}[A-Z0-9]$`),
	"FI": regexp.MustCompile(`^[0-9]{8}$`),
	"HR": regexp.MustCompile(`^[0-9]{11}$`),
	"HU": regexp.MustCompile(`^[0-9]{8}$`),
	"IE": regexp.MustCompile(`^[0-9][A-Z0-9][0-9]{5}[A-Z]{1,2}$`),
	"IT": regexp.MustCompile(`^[0-9]{11}$`),
	"LT": regexp.MustCompile(`^([0-9]{9}|[0-9]{12})$`),
	"LU": regexp.MustCompile(`^[0-9]{8}$`),
	"LV": regexp.MustCompile(`^[0-9]{11}$`),
	"MT": regexp.MustCompile(`^[0-9]{8}$`),
	"NL": regexp.MustCompile(`^[0-9]{9}B[0-9]{2}$`),
	"PL": regexp.MustCompile(`^[0-9]{10}$`),
	"PT": regexp.MustCompile(`^[0-9]{9}$`),
	"RO": regexp.MustCompile(`^[0-9]{6,10}$`),
	"SE": regexp.MustCompile(`^[0-9]{12}$`),
	"SI": regexp.MustCompile(`^[0-9]{8}$`),
	"SK": regexp.MustCompile(`^[0-9]{10}$`),
	"XI": regexp.MustCompile(`^([0-9]{9}|[0-9]{12})$`),
}

// ParseIdentifier reads s as an identifier, trying VAT, LEI, RNA, SIRET and
// SIREN in that order; blanks, dots, hyphens and invisible characters do not
// count. It returns (id, nil) for a valid one, (zero, nil) when s is no
// identifier at all, and a [*RefusedError] when s looks like one but fails its
// check: such a string is never to be searched as a name.
func ParseIdentifier(s string) (Identifier, error) {
	compact := compactIdentifier(s)
	if m := frVAT.FindStringSubmatch(compact); m != nil {
		return parseFrenchVAT(compact, m[1], m[2])
	}
	if m := euidShape.FindStringSubmatch(compact); m != nil && ValidSIREN(m[1]) {
		return Identifier{Kind: KindSIREN, Value: m[1], SIREN: m[1]}, nil
	}
	if id, ok := parseEUVAT(compact); ok {
		return id, nil
	}
	if id, err := parseLEI(s, compact); id != (Identifier{}) || err != nil {
		return id, err
	}
	if rnaShape.MatchString(compact) {
		return Identifier{Kind: KindRNA, Value: compact}, nil
	}
	if !digitsOnly(compact) {
		return Identifier{}, nil
	}
	return parseDigits(compact)
}

func parseFrenchVAT(compact, key, siren string) (Identifier, error) {
	if !ValidSIREN(siren) {
		return Identifier{}, refuse(ReasonBadChecksum, compact, "a VAT number whose last nine digits are a SIREN")
	}
	// A few old and foreign registrants have a key with letters, which no public
	// rule checks: the shape is all that can be asked of it.
	if want := FrenchVATKey(siren); digitsOnly(key) && key != want {
		e := refuse(ReasonBadVATKey, compact, "VAT key "+want)
		e.SIREN = siren
		return Identifier{}, e
	}
	return Identifier{Kind: KindVAT, Value: compact, SIREN: siren, Country: "FR"}, nil
}

func parseEUVAT(compact string) (Identifier, bool) {
	if len(compact) < 4 {
		return Identifier{}, false
	}
	country := compact[:2]
	if country == "GR" {
		country = "EL"
	}
	shape, ok := vatShapes[country]
	if !ok || !shape.MatchString(compact[2:]) {
		return Identifier{}, false
	}
	return Identifier{Kind: KindVAT, Value: country + compact[2:], Country: country}, true
}

// parseLEI asks for an unbroken string: a name of twenty letters and digits
// written in words must stay a name.
func parseLEI(s, compact string) (Identifier, error) {
	if !leiShape.MatchString(compact) || strings.ContainsAny(strings.TrimSpace(s), " \t") || digitsOnly(compact) {
		return Identifier{}, nil
	}
	if ValidLEI(compact) {
		return Identifier{Kind: KindLEI, Value: compact}, nil
	}
	return Identifier{}, refuse(ReasonBadLEI, compact, "a LEI whose check digits agree")
}

// identifierDigits is the number of digits from which a string made of digits
// alone is taken for an attempt at an identifier rather than for a name.
const identifierDigits = 6

func parseDigits(compact string) (Identifier, error) {
	switch {
	case len(compact) == 9:
		if !ValidSIREN(compact) {
			return Identifier{}, refuse(ReasonBadChecksum, compact, "a SIREN whose check digit agrees")
		}
		return Identifier{Kind: KindSIREN, Value: compact, SIREN: compact}, nil
	case len(compact) == 14:
		if !ValidSIRET(compact) {
			return Identifier{}, refuse(ReasonBadChecksum, compact, "a SIRET whose check digits agree")
		}
		return Identifier{Kind: KindSIRET, Value: compact, SIREN: compact[:9]}, nil
	case len(compact) >= identifierDigits:
		return Identifier{}, refuse(ReasonWrongLength, compact, "9 digits (SIREN) or 14 (SIRET); a zero may be missing")
	}
	return Identifier{}, nil
}

// ValidSIREN reports whether s is nine digits, not all zero, whose Luhn sum is
// a multiple of ten (INSEE, ISO/IEC 7812-1).
func ValidSIREN(s string) bool {
	return len(s) == 9 && digitsOnly(s) && s != "000000000" && luhn(s)
}

// ValidSIRET reports whether s is fourteen digits that start with a valid SIREN
// and pass Luhn; for La Poste (SIREN 356000000) a digit sum that is a multiple
// of five passes too.
func ValidSIRET(s string) bool {
	if len(s) != 14 || !digitsOnly(s) || !ValidSIREN(s[:9]) {
		return false
	}
	if luhn(s) {
		return true
	}
	sum := 0
	for _, d := range s {
		sum += int(d - '0')
	}
	return s[:9] == laPoste && sum%5 == 0
}

// FrenchVATKey returns the two-digit key of the VAT number of a SIREN,
// (12 + 3·(SIREN mod 97)) mod 97, or "" when siren is not nine digits.
func FrenchVATKey(siren string) string {
	if len(siren) != 9 || !digitsOnly(siren) {
		return ""
	}
	n, err := strconv.Atoi(siren)
	if err != nil {
		return ""
	}
	key := (12 + 3*(n%97)) % 97
	return strconv.Itoa(key/10) + strconv.Itoa(key%10)
}

// ValidLEI reports whether s is twenty upper-case letters and digits, the last
// two digits, with an ISO 7064 mod 97-10 remainder of one.
func ValidLEI(s string) bool {
	if !leiShape.MatchString(s) {
		return false
	}
	rest := 0
	for _, r := range s {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	return rest == 1
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// compactIdentifier drops what people put between digits and upper-cases the
// rest. Letters and digits outside ASCII are kept, so that they never match.
func compactIdentifier(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case invisible(r), isBlank(r), r == '.', r == '-', r == '\u2010', r == '\u2011', r == '\u2013':
			return -1
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, s)
}
