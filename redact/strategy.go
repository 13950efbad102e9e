// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
)

// Strategy says what replaces a value.
type Strategy string

const (
	// Label puts a label in a value's place: [email redacted], in French
	// [e-mail masqué].
	Label Strategy = "label"
	// Mask keeps of an IBAN the country and the last four characters, of an
	// e-mail address the domain, of anything else nothing.
	Mask Strategy = "mask"
	// HMAC puts a keyed hash in a value's place: [IBAN:k3v9qy2mtw4a]. Equal
	// values, however they are written, have equal hashes under one key, and
	// without the key nobody can try out values.
	HMAC Strategy = "hmac"
	// Token puts a token in a value's place that the [Vault] can turn back.
	Token Strategy = "token"
	// Block lets no text through that holds a value: see [BlockedError].
	Block Strategy = "block"
)

// ErrBlocked is what a [*BlockedError] is.
var ErrBlocked = errors.New("redact: text blocked")

// BlockedError says that a text holds values of a type whose strategy is
// [Block]. It is [ErrBlocked].
type BlockedError struct {
	// Counts has every type found, whatever its strategy.
	Counts Counts
}

// Error names no value.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("%v: %d values", ErrBlocked, e.Counts.Total())
}

// Is reports whether target is [ErrBlocked].
func (e *BlockedError) Is(target error) bool { return target == ErrBlocked }

// replacement is what the strategy of f puts in place of value.
func (r *Redactor) replacement(f Finding, value string) string {
	if r.onReplace != nil {
		r.onReplace(f.Type)
	}
	if f.Err != nil {
		return r.words.label(f.Type)
	}
	switch r.strategies[f.Type] {
	case Mask:
		return r.mask(f, value)
	case HMAC:
		return "[" + string(f.Type) + ":" + r.hash(f.Type, value) + "]"
	case Token:
		if token, ok := r.vault.token(f.Type, value); ok {
			return token
		}
	}
	return r.words.label(f.Type)
}

func (r *Redactor) mask(f Finding, value string) string {
	switch f.Type {
	case Email:
		if at := strings.LastIndexByte(value, '@'); at >= 0 && !f.CutOff {
			return "***" + value[at:]
		}
	case IBAN:
		compact := compactIBAN(value)
		if len(compact) < 4+4 || !isLetter(compact[0]) {
			break // the end of one that another finding begins
		}
		if f.CutOff {
			return compact[:2] + "****"
		}
		return compact[:2] + "****" + compact[len(compact)-4:]
	}
	return r.words.label(f.Type)
}

// hashLength is how many base32 characters of the hash are shown: 60 bits, no
// two values of a company's size of list collide.
const hashLength = 12

var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (r *Redactor) hash(t Type, value string) string {
	switch t {
	case Email:
		value = plainAt.Replace(strings.ToLower(value))
	case IBAN:
		value = compactIBAN(value)
	}
	m := r.newMAC()
	m.Write([]byte(t))
	m.Write([]byte{0})
	m.Write([]byte(value))
	return base32Lower.EncodeToString(m.Sum(nil))[:hashLength]
}

// plainAt undoes the encodings of an @ that the scanner knows.
var plainAt = strings.NewReplacer("%40", "@", "%2540", "@", `\\u0040`, "@", `\u0040`, "@", `\x40`, "@",
	"&#64;", "@", "&#064;", "@", "&#x40;", "@", "&#x040;", "@")

// compactIBAN is the electronic form of an IBAN: upper case, no separators.
func compactIBAN(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); {
		if isAlnum(value[i]) {
			b.WriteByte(value[i])
			i++
			continue
		}
		n, _, _ := separatorAt(value, i, true)
		i += max(n, 1)
	}
	return strings.ToUpper(b.String())
}
