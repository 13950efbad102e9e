// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package redact

// words is what the package writes in one language.
type words struct {
	names    map[Type]string // of the built-in types
	before   string          // what a label has around the name
	after    string
	withheld string // for a value that can't be looked into
	blocked  string // for a text that must not pass
}

var english = &words{
	names:    map[Type]string{Email: "email", IBAN: "IBAN"},
	before:   "[",
	after:    " redacted]",
	withheld: "[value withheld]",
	blocked:  "[text blocked]",
}

var french = &words{
	names:    map[Type]string{Email: "e-mail", IBAN: "IBAN"},
	before:   "[",
	after:    " masqué]",
	withheld: "[valeur retenue]",
	blocked:  "[texte bloqué]",
}

var vocabulary = map[string]*words{"": english, "en": english, "fr": french}

func (w *words) label(t Type) string {
	name := w.names[t]
	if name == "" {
		name = string(t)
	}
	return w.before + name + w.after
}
