// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"fmt"
	"sync"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/redact"
)

// masker is what the hooks of Redact share: a redactor for each language, and for each
// Run one that puts tokens into the arguments of calls.
type masker struct {
	keepArgs bool
	byLang   map[string]*redact.Redactor
	tokens   redact.Options
	hiders   *callbacks.Key[*hider]
}

// vaultKey is the one vault of a Run: several guards may hide and reveal the same call.
var vaultKey = callbacks.NewKey(redact.NewVault)

// hider is what one guard puts tokens with in one Run.
type hider struct {
	once       sync.Once
	whole, cut *redact.Redactor
}

// hider returns the redactor that fills the vault of ctx's Run.
func (m *masker) hider(ctx context.Context, e redact.Ending) *redact.Redactor {
	h := m.hiders.Of(ctx)
	h.once.Do(func() {
		o := m.tokens
		o.Vault = vaultKey.Of(ctx)
		// newMasker has tried these options.
		h.whole = redact.Must(redact.New(o))
		h.cut = h.whole.Ending(redact.CutOff)
	})
	if e == redact.CutOff {
		return h.cut
	}
	return h.whole
}

func newMasker(o RedactOptions) (*masker, error) {
	m := &masker{keepArgs: o.KeepArgs, byLang: make(map[string]*redact.Redactor, 2)}
	for _, lang := range []string{"en", "fr"} {
		own := o.Options
		if own.Language == "" {
			own.Language = lang
		}
		r, err := redact.New(own)
		if err != nil {
			return nil, fmt.Errorf("guards: Redact: %w", err)
		}
		m.byLang[lang] = r
	}
	tokens := o.Options
	tokens.Strategy, tokens.Strategies = redact.Token, nil
	tokens.Vault = redact.NewVault()
	if _, err := redact.New(tokens); err != nil {
		return nil, fmt.Errorf("guards: Redact: %w", err)
	}
	m.tokens = tokens
	m.hiders = callbacks.NewKey(func() *hider { return &hider{} })
	return m, nil
}

// redactor returns the one for the language of ctx's Run.
func (m *masker) redactor(ctx context.Context) *redact.Redactor {
	if ctx == nil {
		return m.byLang["en"]
	}
	return m.byLang[callbacks.RunOf(ctx).Lang()]
}
