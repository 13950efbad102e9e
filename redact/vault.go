// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ErrUnknownToken says that a text holds a token that the vault has no value
// for: of another run, or made up.
var ErrUnknownToken = errors.New("redact: value no longer available, ask again")

// Vault keeps the values behind the tokens of the [Token] strategy, in memory
// only. A token looks like [IBAN:tok-k7q2xmba-3]: its nonce is drawn per vault,
// so that nobody can write down a token of it before seeing one. Whoever sees
// one can have its value revealed by whatever calls Reveal for them: use one
// vault per session or run, not one for all users.
//
// It is safe for concurrent use and shows none of its values in logs or JSON.
type Vault struct {
	nonce  string
	rarest int // of its characters, for the search
	max    int

	mu     sync.RWMutex
	values []string       // by token number
	tokens map[string]int // by type and value
}

// defaultMaxValues is far more than a run meets and less than 10 MB.
const defaultMaxValues = 10_000

// NewVault returns an empty vault for 10,000 values.
func NewVault() *Vault {
	nonce := strings.ToLower(rand.Text()[:nonceLen]) // 40 bits
	return &Vault{nonce: nonce, rarest: rarest(nonce), max: defaultMaxValues, tokens: make(map[string]int)}
}

// NewVaultSize returns an empty vault for maxValues values, at least one. When
// it is full, further values are replaced by their label, for good.
func NewVaultSize(maxValues int) (*Vault, error) {
	if maxValues < 1 {
		return nil, fmt.Errorf("%w: a vault for %d values", ErrOptions, maxValues)
	}
	v := NewVault()
	v.max = maxValues
	return v, nil
}

// token returns the token of a value, the same for the same writing of it, and
// false when the vault is full.
func (v *Vault) token(t Type, value string) (string, bool) {
	key := string(t) + "\x00" + value
	v.mu.Lock()
	defer v.mu.Unlock()
	n, known := v.tokens[key]
	if !known {
		if len(v.values) >= v.max {
			return "", false
		}
		n = len(v.values)
		v.values = append(v.values, value)
		v.tokens[key] = n
	}
	return "[" + string(t) + ":tok-" + v.nonce + "-" + strconv.Itoa(n+1) + "]", true
}

var tokenForm = regexp.MustCompile(`\[[A-Za-z0-9_-]{1,64}:tok-([a-z2-7]{8})-([0-9]{1,9})\]`)

// Reveal puts the values back in place of the tokens of s. If any token has no
// value here it returns [ErrUnknownToken] and no text: nothing must run on a
// token in place of a value.
//
// So it does where s holds a token in another form, as a model may write one: without
// its brackets or in others, in another case or width, escaped, spelled apart, cut short.
// It knows them by the nonce of the vault, or six of its characters in a row, and those of
// other vaults by "tok-" and eight characters of the kind.
func (v *Vault) Reveal(s string) (string, error) {
	var spans [][]int
	if strings.Contains(s, ":tok-") {
		spans = tokenForm.FindAllStringSubmatchIndex(s, -1)
	}
	if spans == nil {
		if v.leftover(s) {
			return "", ErrUnknownToken
		}
		return s, nil
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	var b strings.Builder
	done := 0
	for _, m := range spans {
		n, err := strconv.Atoi(s[m[4]:m[5]])
		if err != nil || s[m[2]:m[3]] != v.nonce || n < 1 || n > len(v.values) || v.leftover(s[done:m[0]]) {
			return "", ErrUnknownToken
		}
		b.WriteString(s[done:m[0]])
		b.WriteString(v.values[n-1])
		done = m[1]
	}
	if v.leftover(s[done:]) {
		return "", ErrUnknownToken
	}
	b.WriteString(s[done:])
	return b.String(), nil
}

// RevealValue is like [Vault.Reveal] for every string and key of a value, which
// it walks as [Redactor.Value] does. A value it can't look into is an
// [ErrOpaque].
func (v *Vault) RevealValue(value any) (any, error) {
	w := walker{by: revealing{v}, binary: true}
	return w.value(value)
}

type revealing struct{ v *Vault }

func (x revealing) text(s string) (string, error) { return x.v.Reveal(s) }

func (x revealing) finds(s string) bool {
	out, err := x.v.Reveal(s)
	return err != nil || out != s
}

func (revealing) opaque() (any, error) { return nil, ErrOpaque }

// Len is the number of values kept.
func (v *Vault) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.values)
}

// String shows no value.
func (v *Vault) String() string { return "redact.Vault(" + strconv.Itoa(v.Len()) + " values)" }

// GoString shows no value.
func (v *Vault) GoString() string { return v.String() }

// LogValue shows no value.
func (v *Vault) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText shows no value.
func (v *Vault) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// ForgetTokens puts the bare type in place of every token in the strings and keys of a
// value, "[IBAN]" for [IBAN:tok-k7q2xmba-3]: for what was stored and is used again when
// its vault is gone. A value it can't look into is an [ErrOpaque].
func ForgetTokens(value any) (any, error) {
	w := walker{by: forgetting{}, binary: true}
	return w.value(value)
}

type forgetting struct{}

func (forgetting) text(s string) (string, error) {
	return tokenForm.ReplaceAllStringFunc(s, func(token string) string {
		name, _, _ := strings.Cut(token, ":")
		return name + "]"
	}), nil
}

func (forgetting) finds(s string) bool { return tokenForm.MatchString(s) }

func (forgetting) opaque() (any, error) { return nil, ErrOpaque }
