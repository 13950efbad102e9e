// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/mozillazg/go-unidecode"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// The wire shape of the register of asset freezes (DG Trésor): the United
// Nations', the Union's and France's own measures in one file.
type (
	freezeFile struct {
		Publications struct {
			Published string        `json:"DatePublication"`
			Entries   []freezeEntry `json:"PublicationDetail"`
		} `json:"Publications"`
	}
	freezeEntry struct {
		ID      int            `json:"IdRegistre"`
		Nature  string         `json:"Nature"`
		Name    string         `json:"Nom"`
		Details []freezeDetail `json:"RegistreDetail"`
	}
	freezeDetail struct {
		Field  string            `json:"TypeChamp"`
		Values []json.RawMessage `json:"Valeur"`
	}
	freezeValue struct {
		Alias      string `json:"Alias"`
		FirstName  string `json:"Prenom"`
		Day        string `json:"Jour"`
		Month      string `json:"Mois"`
		Year       string `json:"Annee"`
		Identifier string `json:"Identification"`
		Address    string `json:"Adresse"`
		Country    string `json:"Pays"`
		Basis      string `json:"FondementJuridique"`
		BasisLabel string `json:"FondementJuridiqueLabel"`
	}
)

// Natures of a listed entry.
const (
	naturePerson  = "Personne physique"
	natureCompany = "Personne morale"
)

// minFreezeEntries is far below the list's size and far above any fragment of
// it: a truncated file must not read as "no match".
const minFreezeEntries = 1000

// listed is one entry made comparable.
type listed struct {
	id          int
	nature      string
	display     string
	surname     supplier.Name // persons
	firstNames  []string      // persons: folded
	births      []birth
	countries   []string // folded, of addresses and nationality
	addresses   string   // folded
	basis       string
	identifiers []string
}

// birth is a date of birth; zero parts are unknown.
type birth struct{ year, month int }

// freezeList is the register, indexed once.
type freezeList struct {
	published time.Time
	version   string
	sha256    string
	entries   []listed
	ignored   int              // names too short or too generic to match anything by
	byName    map[string][]int // company and ship names, by their words as a set
	bySurname map[string][]int
	byNumber  map[string][]int
}

func parseFreezes(body []byte) (*freezeList, error) {
	var file freezeFile
	if err := json.Unmarshal(body, &file); err != nil {
		return nil, errMalformed
	}
	published, err := time.Parse(time.RFC3339Nano, file.Publications.Published)
	if err != nil || len(file.Publications.Entries) < minFreezeEntries {
		return nil, errMalformed
	}
	l := &freezeList{
		published: published, version: file.Publications.Published, entries: make([]listed, len(file.Publications.Entries)),
		byName: map[string][]int{}, bySurname: map[string][]int{}, byNumber: map[string][]int{},
	}
	for i, e := range file.Publications.Entries {
		l.add(i, e)
	}
	return l, nil
}

// value reads an item that is an object, or a bare string in some years' files.
func (d freezeDetail) value(raw json.RawMessage) freezeValue {
	var v freezeValue
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			v.Alias, v.FirstName, v.Identifier, v.Address, v.Country = s, s, s, s, s
		}
		return v
	}
	if json.Unmarshal(raw, &v) != nil {
		return freezeValue{} // one unreadable value leaves the rest of the entry in place
	}
	return v
}

func (l *freezeList) add(i int, e freezeEntry) {
	entry := listed{id: e.ID, nature: supplier.Clean(e.Nature, 40), display: cleanName(e.Name)}
	names := []string{e.Name}
	for _, d := range e.Details {
		for _, raw := range d.Values {
			v := d.value(raw)
			switch d.Field {
			case "ALIAS":
				names = append(names, v.Alias)
			case "PRENOM":
				entry.firstNames = append(entry.firstNames, strings.Fields(supplier.Fold(v.FirstName))...)
			case "DATE_DE_NAISSANCE":
				entry.births = append(entry.births, birth{year: atoi(v.Year), month: atoi(v.Month)})
			case "NATIONALITE", "ADRESSE_PM", "ADRESSE_PP":
				if c := supplier.Fold(v.Country); c != "" {
					entry.countries = append(entry.countries, c)
				}
				entry.addresses += " " + supplier.Fold(v.Address) + " "
			case "IDENTIFICATION":
				if n := significant(v.Identifier); len(n) >= minIdentifier {
					entry.identifiers = append(entry.identifiers, n)
					l.byNumber[n] = append(l.byNumber[n], i)
				}
			case "FONDEMENT_JURIDIQUE":
				entry.basis = supplier.Clean(strings.TrimSpace(v.Basis+" "+v.BasisLabel), supplier.MaxTitleLength)
			}
		}
	}
	for j, name := range names {
		l.addName(&entry, i, name, j == 0)
	}
	l.entries[i] = entry
}

func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// addName indexes one name of an entry, as it is written and in Latin letters.
func (l *freezeList) addName(e *listed, i int, name string, main bool) {
	for _, text := range spellings(name) {
		n := supplier.Normalize(text)
		if !matchable(n) {
			l.ignored++
			continue
		}
		if e.nature == naturePerson {
			if main {
				e.surname = n
			}
			l.bySurname[n.Key()] = append(l.bySurname[n.Key()], i)
			continue
		}
		l.byName[n.Key()] = append(l.byName[n.Key()], i)
	}
}

// spellings is a name and, where it holds other letters, its Latin spelling.
func spellings(name string) []string {
	name = cleanName(name)
	latin := unidecode.Unidecode(name)
	if supplier.Fold(latin) == supplier.Fold(name) {
		return []string{name}
	}
	return []string{name, latin}
}

// matchable refuses names that would match half a register: nothing, one
// letter, or a legal form alone.
func matchable(n supplier.Name) bool {
	letters := 0
	for _, t := range n.Tokens {
		letters += len([]rune(t))
	}
	return letters >= 2 && (len(n.Tokens) > 1 || !supplier.IsLegalForm(n.Tokens[0]))
}

// minIdentifier is the number of significant characters below which equal
// registration numbers mean nothing.
const minIdentifier = 6

// significant keeps the letters and digits of a registration number.
func significant(s string) string {
	return strings.ToUpper(strings.ReplaceAll(supplier.Fold(s), " ", ""))
}

// parseFreezeDate reads what the date address answers: Paris time in plain
// text, sometimes quoted.
func parseFreezeDate(body []byte) (time.Time, error) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		paris = time.FixedZone("CET", 3600) // no zone data on this machine: an hour does not matter here
	}
	return time.ParseInLocation("02/01/2006 15:04:05", string(bytes.Trim(bytes.TrimSpace(body), `"`)), paris)
}
