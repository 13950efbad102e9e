// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

import (
	"slices"
	"strings"
)

// legalForm is one legal form and its spellings, already folded the way
// [Normalize] folds tokens.
type legalForm struct {
	code      string
	spellings []string
	leading   bool // also written before the name ("SAS Dupont")
}

// legalForms lists the forms that are set apart when two names are compared.
// Only a run at the start or the end of a name counts: "SA" inside a name is a
// word. The list covers France and the neighbours whose suppliers French buyers
// meet most.
var legalForms = []legalForm{
	{"SASU", []string{"sasu", "societe par actions simplifiee unipersonnelle", "societe par actions simplifiee a associe unique"}, true},
	{"SAS", []string{"sas", "societe par actions simplifiee"}, true},
	{"SARL", []string{"sarl", "societe a responsabilite limitee"}, true},
	{"EURL", []string{"eurl", "entreprise unipersonnelle a responsabilite limitee"}, true},
	{"SA", []string{"sa", "societe anonyme"}, true},
	{"SCI", []string{"sci", "societe civile immobiliere"}, true},
	{"SCP", []string{"scp", "societe civile professionnelle"}, true},
	{"SCM", []string{"scm"}, true},
	{"SC", []string{"societe civile"}, true},
	{"SNC", []string{"snc", "societe en nom collectif"}, true},
	{"SCA", []string{"sca", "societe en commandite par actions"}, true},
	{"SCOP", []string{"scop", "scop sarl", "scop sa"}, true},
	{"SCIC", []string{"scic"}, true},
	{"SELARL", []string{"selarl"}, true},
	{"SELAS", []string{"selas"}, true},
	{"SEM", []string{"sem"}, true},
	{"GIE", []string{"gie", "groupement interet economique"}, true},
	{"GAEC", []string{"gaec"}, true},
	{"EARL", []string{"earl"}, true},
	{"SCEA", []string{"scea"}, true},
	{"EI", []string{"ei", "eirl", "entreprise individuelle"}, true},
	{"ASSOCIATION", []string{"association", "association loi 1901"}, true},
	{"GMBH & CO KG", []string{"gmbh et co kg", "gmbh co kg"}, false},
	{"GMBH", []string{"gmbh", "gesellschaft mbh", "ges mbh", "mbh", "gesellschaft mit beschrankter haftung"}, false},
	{"AG", []string{"ag", "aktiengesellschaft"}, false},
	{"UG", []string{"ug", "ug haftungsbeschrankt"}, false},
	{"OHG", []string{"ohg"}, false},
	{"KG", []string{"kg", "kommanditgesellschaft"}, false},
	{"EK", []string{"ek"}, false},
	{"SE", []string{"se", "societas europaea"}, false},
	{"LTD", []string{"ltd", "limited", "private limited company"}, false},
	{"LLC", []string{"llc"}, false},
	{"LLP", []string{"llp"}, false},
	{"PLC", []string{"plc", "public limited company"}, false},
	{"INC", []string{"inc", "incorporated"}, false},
	{"CORP", []string{"corp", "corporation"}, false},
	{"SPA", []string{"spa", "societa per azioni"}, false},
	{"SRL", []string{"srl", "srls", "societa a responsabilita limitata"}, false},
	{"SL", []string{"sl", "slu", "sociedad limitada"}, false},
	{"LDA", []string{"lda", "limitada"}, false},
	{"BV", []string{"bv", "besloten vennootschap"}, false},
	{"NV", []string{"nv", "naamloze vennootschap"}, false},
	{"AS", []string{"as", "aksjeselskap"}, false},
	{"ASA", []string{"asa"}, false},
	{"AB", []string{"ab", "aktiebolag"}, false},
	{"APS", []string{"aps"}, false},
	{"OY", []string{"oy", "oyj"}, false},
	{"SP Z OO", []string{"sp zoo", "sp z oo", "spolka z ograniczona odpowiedzialnoscia"}, false},
	{"SRO", []string{"sro"}, false},
	{"KFT", []string{"kft"}, false},
	{"DOO", []string{"doo"}, false},
	{"OOO", []string{"ooo", "ооо"}, false},
	{"AE", []string{"αε", "ae"}, false},
}

// germanForms are the forms beside which ae, oe and ue are read as umlauts.
var germanForms = map[string]bool{"GMBH": true, "GMBH & CO KG": true, "AG": true, "KG": true, "UG": true, "OHG": true, "EK": true}

type formSpelling struct {
	tokens  []string
	code    string
	leading bool
}

// formSpellings is legalForms by last token and by first token, so that a name
// is compared with a handful of spellings rather than with all of them.
var formsByLast, formsByFirst = func() (last, first map[string][]formSpelling) {
	last, first = map[string][]formSpelling{}, map[string][]formSpelling{}
	for _, f := range legalForms {
		for _, s := range f.spellings {
			sp := formSpelling{strings.Fields(s), f.code, f.leading}
			last[sp.tokens[len(sp.tokens)-1]] = append(last[sp.tokens[len(sp.tokens)-1]], sp)
			if f.leading {
				first[sp.tokens[0]] = append(first[sp.tokens[0]], sp)
			}
		}
	}
	return last, first
}()

// splitForm takes one legal form off the end of tokens, or else off the start,
// the longest spelling that leaves at least one token.
func splitForm(tokens []string) (rest []string, form string) {
	if len(tokens) < 2 {
		return tokens, ""
	}
	best := 0
	for _, sp := range formsByLast[tokens[len(tokens)-1]] {
		n := len(sp.tokens)
		if n > best && n < len(tokens) && equalTokens(tokens[len(tokens)-n:], sp.tokens) {
			best, form = n, sp.code
		}
	}
	if best > 0 {
		return tokens[:len(tokens)-best], form
	}
	for _, sp := range formsByFirst[tokens[0]] {
		n := len(sp.tokens)
		if n > best && n < len(tokens) && equalTokens(tokens[:n], sp.tokens) {
			best, form = n, sp.code
		}
	}
	return tokens[best:], form
}

func equalTokens(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// IsLegalForm reports whether a folded word is by itself the spelling of a legal
// form ("sas", "gmbh").
func IsLegalForm(word string) bool {
	for _, sp := range formsByLast[word] {
		if len(sp.tokens) == 1 {
			return true
		}
	}
	return false
}

// natureCodes are codes of INSEE's "catégories juridiques" by the legal form they
// stand for, the common ones only.
var natureCodes = map[string][]string{
	"SAS":  {"5710"},
	"SASU": {"5720"},
	"EURL": {"5498"},
	"SARL": {"5499"},
	"SA": {
		"5505", "5510", "5515", "5520", "5522", "5525", "5530", "5531", "5532", "5542", "5543", "5546", "5547", "5548", "5551", "5552", "5553",
		"5554", "5555", "5558", "5559", "5560", "5570", "5585", "5599",
	},
	"SCI":         {"6540"},
	"SNC":         {"5202"},
	"EI":          {"1000"},
	"ASSOCIATION": {"9220", "9221", "9222", "9230"},
}

var formByNature = func() map[string]string {
	forms := map[string]string{}
	for form, codes := range natureCodes {
		for _, code := range codes {
			forms[code] = form
		}
	}
	return forms
}()

// FormOfNatureJuridique returns the legal form that a code of INSEE's
// "catégories juridiques" stands for, as [Name].Form spells it, or "" for a
// code outside the common ones.
func FormOfNatureJuridique(code string) string { return formByNature[code] }

// NatureJuridique returns the codes of INSEE's "catégories juridiques" that
// somebody who writes form, a [Name].Form, may mean, or nil where none is known.
// People call a company with a single shareholder by the common form: "SAS" also
// means SASU, and "SARL" EURL.
func NatureJuridique(form string) []string {
	codes := slices.Clone(natureCodes[form])
	switch form {
	case "SAS":
		codes = append(codes, natureCodes["SASU"]...)
	case "SARL":
		codes = append(codes, natureCodes["EURL"]...)
	}
	return codes
}
