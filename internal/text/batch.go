// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences about the file of a batch and its rows.
const (
	BatchEmpty         Key = "batch.input.empty"
	BatchHeaderOnly    Key = "batch.input.header_only"
	BatchUnknownHeader Key = "batch.input.unknown_header"
	BatchNoColumn      Key = "batch.input.no_column"
	BatchWorkbook      Key = "batch.input.workbook"
	BatchEncoding      Key = "batch.input.encoding"
	BatchFirstRows     Key = "batch.input.first_rows"

	BatchRowLong       Key = "batch.row.long"
	BatchRowQuotes     Key = "batch.row.quotes"
	BatchRowOpen       Key = "batch.row.open"
	BatchRowLost       Key = "batch.row.lost"
	BatchRowCells      Key = "batch.row.cells"
	BatchRowTwoNames   Key = "batch.row.two_names"
	BatchRowCharacters Key = "batch.row.characters"
	BatchRowNobody     Key = "batch.row.nobody"
	BatchRowOwner      Key = "batch.row.owner"
	BatchRowChoose     Key = "batch.row.choose"
	BatchRowFailed     Key = "batch.row.failed"

	BatchFound       Key = "batch.found"
	BatchFoundTab    Key = "batch.found.tab"
	BatchFoundOne    Key = "batch.found.one"
	BatchFoundNoHead Key = "batch.found.no_header"
	BatchSameAs      Key = "batch.same_as"
	BatchForeign     Key = "batch.foreign"
	BatchRatings     Key = "batch.ratings"
	BatchNoReport    Key = "batch.no_report"
	BatchNextMend    Key = "batch.next.mend"
	BatchNextAgain   Key = "batch.next.again"
	BatchNextResume  Key = "batch.next.resume"

	OverviewInterrupted Key = "overview.interrupted"

	// Colon stands between a thing and what is said of it.
	Colon Key = "batch.colon"
)

var batchCatalogue = map[Key]entry{
	BatchEmpty:         {"the file holds no supplier: it is empty", "le fichier ne contient aucun fournisseur : il est vide"},
	BatchHeaderOnly:    {"the file holds no supplier: it ends after its header", "le fichier ne contient aucun fournisseur : il s'arrête après l'en-tête"},
	BatchUnknownHeader: {"no column of the first row is known (%s). Name those that say who is meant, as in --column \"Vendor name\" --column \"VAT no.\", or number them where the file has no header, as in --column 1", "aucune colonne de la première ligne n'est connue (%s). Nommer celles qui désignent le fournisseur, par exemple --column \"Nom du tiers\" --column \"N° TVA\", ou donner leur rang si le fichier n'a pas d'en-tête, par exemple --column 1"},
	BatchNoColumn:      {"the file has no column %s; its first row is: %s", "le fichier n'a pas de colonne %s ; sa première ligne est : %s"},
	BatchWorkbook:      {"this is a workbook; save the sheet as \"CSV UTF-8\" and give that file", "c'est un classeur ; enregistrer la feuille au format « CSV UTF-8 » et donner ce fichier"},
	BatchEncoding:      {"the encoding of the file is not known: it is neither UTF-8, UTF-16 nor Windows-1252; save it as \"CSV UTF-8\"", "l'encodage du fichier est inconnu : ni UTF-8, ni UTF-16, ni Windows-1252 ; l'enregistrer au format « CSV UTF-8 »"},
	BatchFirstRows:     {"the first rows can't be read: %v", "les premières lignes sont illisibles : %v"},

	BatchRowLong:       {"the row is longer than %d KB", "la ligne dépasse %d Ko"},
	BatchRowQuotes:     {"the row can't be read: text follows a closing quote; double the quotes inside a cell", "la ligne est illisible : du texte suit un guillemet fermant ; doubler les guillemets à l'intérieur d'une cellule"},
	BatchRowOpen:       {"the row can't be read: a quote is not closed", "la ligne est illisible : un guillemet n'est pas fermé"},
	BatchRowLost:       {"after a row with a wrong quote, nothing says that this line is a row", "après une ligne au guillemet fautif, rien ne dit que celle-ci est une ligne du tableau"},
	BatchRowCells:      {"the row has %d cells, the header %d: put a cell with separators in quotes", "la ligne a %d cellules, l'en-tête %d : mettre entre guillemets une cellule qui contient des séparateurs"},
	BatchRowTwoNames:   {"the row names two suppliers: %q and %q", "la ligne nomme deux fournisseurs : %q et %q"},
	BatchRowCharacters: {"the row holds characters that can't be read; save the file as \"CSV UTF-8\"", "la ligne contient des caractères illisibles ; enregistrer le fichier au format « CSV UTF-8 »"},
	BatchRowNobody:     {"the row names nobody: its columns for a number and a name are empty", "la ligne ne nomme personne : ses colonnes de numéro et de nom sont vides"},
	BatchRowOwner:      {"%s: %s", "%s : %s"},
	BatchRowChoose:     {"which company is meant is not certain: %s; give the number of one: %s", "l'entreprise visée n'est pas certaine : %s ; donner le numéro de l'une d'elles : %s"},
	BatchRowFailed:     {"the run could not be made: %v", "le traitement n'a pas pu être fait : %v"},

	BatchFound:       {"File: %s, separator %s; suppliers by %s.", "Fichier : %s, séparateur %s ; fournisseurs d'après %s."},
	BatchFoundTab:    {"tab", "tabulation"},
	BatchFoundOne:    {"none", "aucun"},
	BatchFoundNoHead: {"the first columns, without a header", "les premières colonnes, sans en-tête"},
	BatchForeign:     {"%s was written by no batch and is not replaced: move it, or give another folder with -o", "%s n'a été écrit par aucun lot et n'est pas remplacé : le déplacer, ou donner un autre dossier avec -o"},
	BatchSameAs:      {"a supplier of another row", "fournisseur d'une autre ligne"},
	BatchRatings:     {"Ratings: %s.", "Niveaux : %s."},
	BatchNoReport:    {"without a report", "sans rapport"},

	BatchNextMend:  {"Correct the row, then run the batch again.", "Corriger la ligne, puis relancer le lot."},
	BatchNextAgain: {"Run the batch again.", "Relancer le lot."},

	Colon: {": ", " : "},

	BatchNextResume:     {"Run the batch again: it goes on with the run in %s.", "Relancer le lot : il reprend l'exécution dans %s."},
	OverviewInterrupted: {"Interrupted: %d begun, %d finished, %d not begun. Run the same batch again to go on.", "Interrompu : %d commencés, %d terminés, %d non commencés. Relancer le même lot pour continuer."},

	// Why a row has no report, beside the statuses of runs.
	"run.refused":     {"refused", "refusé"},
	"run.not_found":   {"not found", "introuvable"},
	"run.unavailable": {"unavailable", "indisponible"},
	"run.ambiguous":   {"ambiguous", "ambigu"},
	"run.not_begun":   {"not begun", "non commencé"},
	"run.unreadable":  {"unreadable", "illisible"},

	"overview.row": {"row", "ligne"},
}
