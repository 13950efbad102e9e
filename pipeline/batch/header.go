// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// nameHeaders are the headers of a column that names the supplier, as [supplier.Fold]
// writes them, the surest first: where a file has a name and a code, "supplier" may be
// either.
var nameHeaders = []string{
	"raison sociale", "denomination", "denomination sociale", "legal name", "company name", "registered name", "firmenname",
	"nom de l entreprise", "nom entreprise", "nom de la societe", "nom societe", "nom complet",
	"supplier name", "vendor name", "nom du fournisseur", "nom fournisseur", "lieferantenname", "name des lieferanten", "nom du tiers", "nom tiers",
	"name", "nom", "name 1", "supplier", "fournisseur", "lieferant", "company", "entreprise", "societe", "firma", "unternehmen", "kreditor", "vendor", "tiers",
}

// numberHeaders are those of a column of numbers, without the words of fillers.
var numberHeaders = []string{
	"siren", "siret", "siren siret", "siret siren", "lei", "rna", "vat", "tva", "tva intracommunautaire", "tva intracom", "tva intra",
	"ust", "ustid", "ustidnr", "ust idnr", "umsatzsteuer", "umsatzsteueridentifikationsnummer", "umsatzsteuer identifikationsnummer", "partita iva",
}

var fillers = strings.Fields("n no nr num numero number nummer code id identifiant identifier identification d de du of the fournisseur supplier vendor company entreprise societe eu ue fr")

// labels are words that headers are made of and names of companies hardly are. A first
// row that holds one is a header, though perhaps an unknown one.
var labels = append(strings.Fields(`
	name names nom noms nombre nome naam supplier suppliers fournisseur fournisseurs vendor vendors lieferant lieferanten kreditor
	kreditoren creditor proveedor fornitore fornecedor leverancier tiers partner denomination raison ragione bezeichnung libelle label
	code codes id ids ref reference number numero nummer nr siren siret tva vat lei rna iban bic iva
	city ville ort stadt ciudad citta address adresse direccion indirizzo street rue strasse zip cp plz postal postcode country pays land pais paese
	email mail courriel phone telephone telefon tel fax contact amount montant betrag total currency devise category categorie status statut date
	comment comments commentaire commentaires remark remarks notes description type`), nameHeaders...)

// chosen are the columns that say who is meant.
type chosen struct {
	header  []string // nil where the file has none
	names   []int
	numbers []int
	// either are columns that hold a name or a number.
	either []int
	// guessed says that a file without a header names its suppliers in the first of
	// them, and that text in another may be anything.
	guessed bool
}

// known counts the columns that a first row names.
func known(first, wanted []string) int {
	c, ok := headerColumns(first, wanted)
	if !ok {
		return 0
	}
	return len(c.names) + len(c.numbers) + len(c.either)
}

// headerColumns reads first as a header. wanted are the names of the only columns to
// take; empty takes those that are known.
func headerColumns(first, wanted []string) (chosen, bool) {
	c := chosen{header: first}
	folded := make([]string, len(first))
	for i, cell := range first {
		folded[i] = supplier.Fold(cell)
	}
	for _, w := range wanted {
		i := slices.Index(folded, supplier.Fold(w))
		if i < 0 {
			return chosen{}, false
		}
		if isNumberHeader(folded[i]) {
			c.numbers = append(c.numbers, i)
		} else {
			c.either = append(c.either, i)
		}
	}
	if len(wanted) > 0 {
		return c, true
	}
	for _, name := range nameHeaders {
		if i := slices.Index(folded, name); i >= 0 {
			c.names = []int{i}
			break
		}
	}
	for i, f := range folded {
		if isNumberHeader(f) {
			c.numbers = append(c.numbers, i)
		}
	}
	return c, len(c.names)+len(c.numbers) > 0
}

func isNumberHeader(folded string) bool {
	words := slices.DeleteFunc(strings.Fields(folded), func(w string) bool { return slices.Contains(fillers, w) })
	return slices.Contains(numberHeaders, strings.Join(words, " "))
}

// columnsOf finds the columns of a file by its first record, or says what to do. The
// file has no header where wanted are numbers of columns, and where its first record is
// a supplier beyond doubt.
func columnsOf(first, wanted []string) (chosen, error) {
	if places, ok, err := placesOf(first, wanted); ok || err != nil {
		return chosen{either: places}, err
	}
	if c, ok := headerColumns(first, wanted); ok {
		return c, nil
	}
	shown := shownHeader(first)
	switch {
	case len(wanted) > 0:
		return chosen{}, inputError{text.BatchNoColumn, []any{strings.Join(wanted, ", "), shown}}
	case isSupplier(first):
		return chosen{either: []int{0, 1}, guessed: true}, nil
	default:
		return chosen{}, inputError{text.BatchUnknownHeader, []any{shown}}
	}
}

// placesOf reads wanted as numbers of columns, from 1.
func placesOf(first, wanted []string) (places []int, ok bool, err error) {
	for _, w := range wanted {
		n, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil {
			return nil, false, nil //nolint:nilerr // it is a name
		}
		if n < 1 || n > len(first) {
			return nil, false, inputError{text.BatchNoColumn, []any{w, shownHeader(first)}}
		}
		places = append(places, n-1)
	}
	return places, len(places) > 0, nil
}

func shownHeader(first []string) string {
	return supplier.Clean(strings.Join(first, " | "), maxShown)
}

// isSupplier reports whether a first row can be no header: it holds a number whose check
// digits are right, or its first cell has several words, none of them a word of headers,
// and no other cell is made of such words alone.
func isSupplier(first []string) bool {
	for _, cell := range first[:min(2, len(first))] {
		if id, err := supplier.ParseIdentifier(cell); err == nil && id != (supplier.Identifier{}) {
			return true
		}
	}
	label := func(word string) bool { return slices.Contains(labels, word) }
	words := strings.Fields(supplier.Fold(first[0]))
	if len(words) < 2 || slices.ContainsFunc(words, label) {
		return false
	}
	return !slices.ContainsFunc(first[1:], func(cell string) bool {
		words := strings.Fields(supplier.Fold(cell))
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !label(w) })
	})
}
