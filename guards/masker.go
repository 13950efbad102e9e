// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"context"
	"fmt"

	"github.com/gardefou/gardefou/callbacks"
	"github.com/gardefou/gardefou/redact"
)

// masker is what the hooks of Redact share: a redactor for each language, and for each
// Run a vault whose tokens stand in the arguments of calls.
type masker struct {
	keepArgs bool
	byLang   map[string]*redact.Redactor
	vault    *callbacks.Key[*argVault]
}

// argVault is the vault of one Run with the redactor that fills it.
type argVault struct {
	*redact.Vault
	hide *redact.Redactor
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
	m.vault = callbacks.NewKey(func() *argVault {
		own := tokens
		own.Vault = redact.NewVault()
		// The same options were accepted above.
		return &argVault{own.Vault, redact.Must(redact.New(own))}
	})
	return m, nil
}

// redactor returns the one for the language of ctx's Run.
func (m *masker) redactor(ctx context.Context) *redact.Redactor {
	if ctx == nil {
		return m.byLang["en"]
	}
	return m.byLang[callbacks.Lang(ctx)]
}
