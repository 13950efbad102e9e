// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	_ "embed" // the word list
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

//go:embed adverse_words.json
var adverseFile []byte

// adverse is the versioned word list that ranks titles. It ranks attention: a
// word in a title says nothing about guilt.
var adverse = func() (a struct {
	Version  string              `json:"version"`
	Gravity  map[string][]string `json:"gravity"`
	Negation []string            `json:"negation"`
},
) {
	if err := json.Unmarshal(adverseFile, &a); err != nil {
		panic(err) // the embedded file is part of the program
	}
	return a
}()

// gravity is the highest weight of a listed word in a title, 0 for none, and
// whether a word of denial stands there too.
func gravity(title string) (weight int, negated bool) {
	text := " " + supplier.Fold(title) + " "
	for w, words := range adverse.Gravity {
		n, err := strconv.Atoi(w)
		if err != nil {
			panic(err) // the embedded file is part of the program
		}
		if n > weight && containsWord(text, words) {
			weight = n
		}
	}
	return weight, containsWord(text, adverse.Negation)
}

// containsWord looks for whole words in a folded text between blanks.
func containsWord(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, " "+w+" ") {
			return true
		}
	}
	return false
}
