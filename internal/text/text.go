// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package text is the English and French catalogue of every sentence that a
// person or a model reads. Identifiers, codes and JSON keys are not in it: those
// are English everywhere.
package text

import (
	"fmt"
	"strings"
)

// Lang is the language of texts for people and models. The zero value is English.
type Lang string

// The languages of the catalogue.
const (
	English Lang = "en"
	French  Lang = "fr"
)

// Parse reads a language tag or a POSIX locale ("fr", "fr-FR", "fr_FR.UTF-8").
// Anything that is not French is English.
func Parse(tag string) Lang {
	tag = strings.ToLower(tag)
	if tag == "fr" || strings.HasPrefix(tag, "fr_") || strings.HasPrefix(tag, "fr-") || strings.HasPrefix(tag, "fr.") {
		return French
	}
	return English
}

// Key names one sentence of the catalogue.
type Key string

type entry struct{ en, fr string }

// Get returns the sentence for key with args put in as by [fmt.Sprintf].
// A key that is not in the catalogue is returned as it is, so that a missing
// sentence is seen and not lost.
func Get(lang Lang, key Key, args ...any) string {
	e, ok := catalogue[key]
	for _, more := range []map[Key]entry{limitsCatalogue, peopleCatalogue, pipelineCatalogue, reportCatalogue, commandCatalogue, operateCatalogue, keptCatalogue, identifyCatalogue, batchCatalogue} {
		if ok {
			break
		}
		e, ok = more[key]
	}
	if !ok {
		return string(key)
	}
	format := e.en
	if lang == French {
		format = e.fr
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
