// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// NobodyGLEIFUnread is of a name that was looked for in the French registry only.
const NobodyGLEIFUnread Key = "nobody.gleif_unread"

// RefusedShortened is of a number that a spreadsheet cut.
const RefusedShortened Key = "refused.no_number.shortened"

// identifyCatalogue says why a supplier was not identified, by the reasons of package
// supplier: "refused." before those for what was typed, "nobody." before the others.
var identifyCatalogue = map[Key]entry{
	"refused.empty":              {"the name is empty", "le nom est vide"},
	"refused.blank":              {"the name is blank", "le nom ne contient que des blancs"},
	"refused.no_letters":         {"the name holds no letter and no digit", "le nom ne contient ni lettre ni chiffre"},
	"refused.too_short":          {"at least %d characters are needed", "il faut au moins %d caractères"},
	"refused.too_long":           {"at most %d characters are allowed", "%d caractères au plus"},
	"refused.invalid_utf8":       {"the name is not valid UTF-8", "le nom n'est pas en UTF-8 valide"},
	"refused.control_characters": {"the name holds control characters", "le nom contient des caractères de contrôle"},
	"refused.several_names":      {"one supplier is needed, on one line", "un seul fournisseur à la fois, sur une ligne"},
	"refused.stacked_marks":      {"a letter bears more marks than any script uses", "une lettre porte plus de signes que n'en admet aucune écriture"},
	"refused.bad_checksum":       {"the check digits of this number are wrong: look for a slip of the pen", "la clé de ce numéro est fausse : vérifier la saisie"},
	"refused.bad_vat_key":        {"the key of this VAT number is wrong; the SIREN in it is %s", "la clé de ce numéro de TVA est fausse ; le SIREN qu'il contient est %s"},
	"refused.bad_lei":            {"the check digits of this LEI are wrong: look for a slip of the pen", "la clé de ce LEI est fausse : vérifier la saisie"},
	"refused.wrong_length":       {"a SIREN has 9 digits, a SIRET 14; a zero may be missing", "un SIREN a 9 chiffres, un SIRET 14 ; un zéro manque peut-être"},
	"refused.name_mismatch":      {"the number belongs to another name than the one given beside it", "le numéro appartient à un autre nom que celui donné à côté"},
	"refused.no_number":          {"this is no SIREN, SIRET, EU VAT number or LEI", "ce n'est ni un SIREN, ni un SIRET, ni un numéro de TVA de l'UE, ni un LEI"},
	RefusedShortened:             {"a spreadsheet shortened this number; give its column the format Text, type the number anew and export again", "un tableur a abrégé ce numéro ; donner à sa colonne le format Texte, ressaisir le numéro et exporter de nouveau"},
	"refused.numbers_disagree":   {"these numbers belong to different companies", "ces numéros appartiennent à des entreprises différentes"},

	"nobody.unknown_identifier": {"no company has this number", "aucune entreprise n'a ce numéro"},
	"nobody.unknown_name":       {"no company bears this name or a similar one", "aucune entreprise ne porte ce nom ou un nom proche"},
	NobodyGLEIFUnread:           {"the French registry holds no such name; GLEIF, which knows companies elsewhere, could not be read", "le registre français ne contient pas ce nom ; GLEIF, qui connaît les entreprises d'ailleurs, n'a pas pu être lu"},
	"nobody.name_not_disclosed": {"the VAT number is valid, but its country does not say whose it is", "le numéro de TVA est valide, mais son pays ne dit pas à qui il est"},
	"nobody.source_unavailable": {"the source does not answer", "la source ne répond pas"},
	"nobody.rate_limited":       {"the source was asked too often", "la source a été interrogée trop souvent"},
	"nobody.invalid_answer":     {"the source gave an answer that can't be understood", "la réponse de la source est incompréhensible"},
}
