// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the report's frame.
const (
	SourceOverridden Key = "report.source_overridden"
	GapStatus        Key = "report.gap.status"
	GapBranch        Key = "report.gap.branch"
	GapCompleted     Key = "report.gap.completed"
)

var reportCatalogue = map[Key]entry{
	SourceOverridden: {"Source read at another address: %s", "Source lue à une autre adresse : %s"},
	GapStatus:        {"Run: %s. The report was made from what was there.", "Exécution : %s. Le rapport est établi à partir de ce qui était là."},
	GapBranch:        {"%s did not finish: its part rests on code alone.", "%s n'a pas terminé : sa partie ne repose que sur le code."},
	GapCompleted:     {"The %s look-up was made by code: its researcher had not called it.", "La recherche « %s » a été faite par le code : son chercheur ne l'avait pas appelée."},

	"run.done":             {"done", "terminé"},
	"run.landed":           {"landed", "atterri"},
	"run.calls_exhausted":  {"calls exhausted", "tours épuisés"},
	"run.tokens_exhausted": {"tokens exhausted", "tokens épuisés"},
	"run.time_exhausted":   {"time exhausted", "délai dépassé"},
	"run.budget_exhausted": {"budget exhausted", "budget épuisé"},
	"run.loop_detected":    {"loop detected", "boucle détectée"},
	"run.denied":           {"denied", "refusé"},
	"run.failed":           {"failed", "échoué"},
	"run.interrupted":      {"interrupted", "interrompu"},
	"run.unknown":          {"unknown whether complete", "complétude inconnue"},
}
