// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"
)

// ErrOptions is what every error of [New] is.
var ErrOptions = errors.New("redact: invalid options")

// Options says what to find and what to put in its place. The zero value finds
// e-mail addresses and IBANs and replaces them by English labels.
type Options struct {
	// Types are the built-in types to find. Nil is all of them; a list that is
	// empty but not nil is none, for a redactor with patterns only.
	Types []Type
	// Patterns are further types, one regular expression each.
	Patterns []Pattern
	// Strategy says what replaces a value. Zero is [Label].
	Strategy Strategy
	// Strategies overrides Strategy for single types.
	Strategies map[Type]Strategy
	// Language is that of the labels, "en" or "fr". Zero is "en".
	Language string
	// Key is the secret of the [HMAC] strategy, at least 16 bytes. Zero is no
	// key, an error where a type uses HMAC.
	Key []byte
	// Vault keeps the values of the [Token] strategy. Nil is no vault, an error
	// where a type uses Token.
	Vault *Vault
	// PatternTimeout bounds the time that a pattern may take on one line if it
	// needs the backtracking engine; see [Pattern]. Zero is 100 ms.
	PatternTimeout time.Duration
	// OnFailure is called when a pattern could not judge a line, which is then
	// redacted whole. It may be called from several goroutines at once. Nil is
	// no call; the findings tell too.
	OnFailure func(*PatternError)
	// OnReplace is called with the type of each value that is replaced, in texts, values
	// and streams alike, for counters. It may be called from several goroutines at once and
	// never sees the value. Nil is no call.
	OnReplace func(Type)
	// MaxLine is the longest line in bytes that patterns are run on; a longer
	// one is redacted whole. It bounds what a stream with patterns holds back.
	// Zero is 64 KiB, the least 1 KiB. It has no effect on the built-in types.
	MaxLine int
}

const (
	defaultPatternTimeout = 100 * time.Millisecond
	defaultMaxLine        = 64 << 10
	minMaxLine            = 1 << 10 // more than any built-in type holds back
	minKey                = 16
)

// Redactor finds personal data in texts and values and replaces it. It never
// changes its input and is safe for concurrent use.
type Redactor struct {
	scanner
	patterns   []pattern
	maxLine    int
	strategies map[Type]Strategy
	blocking   bool // some strategy is Block
	cut        bool // texts break off
	onFailure  func(*PatternError)
	onReplace  func(Type)
	words      *words
	newMAC     func() hash.Hash // a function, so that printing a Redactor shows no key
	vault      *Vault
}

// New checks options and compiles the patterns. Its errors are [ErrOptions].
func New(o Options) (*Redactor, error) {
	r := &Redactor{
		strategies: make(map[Type]Strategy),
		maxLine:    o.MaxLine,
		onFailure:  o.OnFailure,
		onReplace:  o.OnReplace,
		vault:      o.Vault,
	}
	if len(o.Key) >= minKey {
		key := bytes.Clone(o.Key)
		r.newMAC = func() hash.Hash { return hmac.New(sha256.New, key) }
	}
	if r.words = vocabulary[o.Language]; r.words == nil {
		return nil, fmt.Errorf("%w: language %q is neither en nor fr", ErrOptions, o.Language)
	}
	types := o.Types
	if types == nil {
		types = []Type{Email, IBAN}
	}
	for _, t := range types {
		switch t {
		case Email:
			r.email = true
		case IBAN:
			r.iban = true
		default:
			return nil, fmt.Errorf("%w: no built-in type %q", ErrOptions, t)
		}
		r.strategies[t] = o.Strategy
	}
	if o.PatternTimeout < 0 || o.MaxLine < 0 || o.MaxLine > 0 && o.MaxLine < minMaxLine {
		return nil, fmt.Errorf("%w: PatternTimeout %v, MaxLine %d", ErrOptions, o.PatternTimeout, o.MaxLine)
	}
	if o.PatternTimeout == 0 {
		o.PatternTimeout = defaultPatternTimeout
	}
	if r.maxLine == 0 {
		r.maxLine = defaultMaxLine
	}
	for _, p := range o.Patterns {
		c, err := p.compile(o.PatternTimeout)
		if err != nil {
			return nil, err
		}
		if _, twice := r.strategies[c.name]; twice || c.name == Email || c.name == IBAN {
			return nil, fmt.Errorf("%w: the name %q is taken", ErrOptions, c.name)
		}
		r.patterns = append(r.patterns, c)
		r.strategies[c.name] = o.Strategy
	}
	if len(r.strategies) == 0 {
		return nil, fmt.Errorf("%w: nothing to find", ErrOptions)
	}
	if err := r.setStrategies(o); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Redactor) setStrategies(o Options) error {
	for t, s := range o.Strategies {
		if _, known := r.strategies[t]; !known {
			return fmt.Errorf("%w: a strategy for type %q, which is not looked for", ErrOptions, t)
		}
		r.strategies[t] = s
	}
	for t, s := range r.strategies {
		switch s {
		case "":
			r.strategies[t] = Label
		case Label, Mask:
		case Block:
			r.blocking = true
		case HMAC:
			if r.newMAC == nil {
				return fmt.Errorf("%w: strategy %s needs a key of %d bytes or more", ErrOptions, s, minKey)
			}
		case Token:
			if r.vault == nil {
				return fmt.Errorf("%w: strategy %s needs a vault", ErrOptions, s)
			}
		default:
			return fmt.Errorf("%w: no strategy %q", ErrOptions, s)
		}
	}
	return nil
}

// Must returns r and panics on an error; for variables of a package.
func Must(r *Redactor, err error) *Redactor {
	if err != nil {
		panic(err)
	}
	return r
}
