// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

import "fmt"

// words is what the package writes in one language.
type words struct {
	names    map[Type]string // of the built-in types
	redacted string          // a format for the name
	withheld string          // for a value that can't be looked into
	blocked  string          // for a text that must not pass
}

var english = &words{
	names:    map[Type]string{Email: "email", IBAN: "IBAN"},
	redacted: "[%s redacted]",
	withheld: "[value withheld]",
	blocked:  "[text blocked]",
}

var french = &words{
	names:    map[Type]string{Email: "e-mail", IBAN: "IBAN"},
	redacted: "[%s masqué]",
	withheld: "[valeur retenue]",
	blocked:  "[texte bloqué]",
}

var vocabulary = map[string]*words{"": english, "en": english, "fr": french}

func (w *words) label(t Type) string {
	name := w.names[t]
	if name == "" {
		name = string(t)
	}
	return fmt.Sprintf(w.redacted, name)
}
