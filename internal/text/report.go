// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the report's frame.
const (
	ReportTitle         Key = "report.title"
	SampleBanner        Key = "report.sample_banner"
	SourceOverridden    Key = "report.source_overridden"
	HostsContacted      Key = "report.hosts"
	Limits              Key = "report.limits"
	NoScore             Key = "report.no_score"
	IntervalAndCoverage Key = "report.interval"
	GapBranch           Key = "report.gap.branch"
	GapCompleted        Key = "report.gap.completed"
	GapNotAsked         Key = "report.gap.not_asked"

	TitleSummary  Key = "title.summary"
	TitleScore    Key = "title.score"
	TitleGaps     Key = "title.gaps"
	TitleEvidence Key = "title.evidence"
	TitleLimits   Key = "title.limits"

	LabelAsOf      Key = "label.as_of"
	LabelMode      Key = "label.mode"
	LabelStatus    Key = "label.status"
	LabelModel     Key = "label.model"
	LabelNarrative Key = "label.narrative"
	LabelRating    Key = "label.rating"
	LabelScore     Key = "label.score"
	LabelDecision  Key = "label.decision"
	LabelStop      Key = "label.stop"
	LabelFloor     Key = "label.floor"
	LabelReview    Key = "label.review"
	LabelFactor    Key = "label.factor"
	LabelValue     Key = "label.value"
	LabelRule      Key = "label.rule"
	LabelPoints    Key = "label.points"
	LabelWeight    Key = "label.weight"
)

var reportCatalogue = map[Key]entry{
	ReportTitle:         {"Supplier due diligence: %s", "Vérification d'un fournisseur : %s"},
	SampleBanner:        {"FICTIONAL DATA: this report is made from the built-in sample set.", "DONNÉES FICTIVES : ce rapport est tiré du jeu d'exemple intégré."},
	SourceOverridden:    {"Source read at another address: %s", "Source lue à une autre adresse : %s"},
	HostsContacted:      {"Hosts contacted: %s.", "Hôtes contactés : %s."},
	NoScore:             {"none", "aucun"},
	IntervalAndCoverage: {"interval %s–%s, coverage %s %%", "intervalle %s–%s, couverture %s %%"},
	Limits: {
		"The score ranks attention; it is not a probability of default and approves nobody. Weights and bands are a versioned file that a company must adopt or change. Whether a story or a list entry is about this company, what a change means, ownership and control, and the decision itself are for a person to judge.",
		"Le score classe l'attention à porter ; ce n'est pas une probabilité de défaillance et il n'approuve personne. Poids et seuils sont un fichier versionné que l'entreprise doit adopter ou changer. Savoir si un article ou une entrée de liste concerne cette entreprise, ce que signifie une modification, qui la détient, et la décision elle-même relèvent d'une personne.",
	},
	GapBranch:    {"%s did not finish: its part rests on code alone.", "%s n'a pas terminé : sa partie ne repose que sur le code."},
	GapCompleted: {"The %s look-up was made by code: its researcher had not called it.", "La recherche « %s » a été faite par le code : son chercheur ne l'avait pas appelée."},
	GapNotAsked:  {"The %s look-up was not made.", "La recherche « %s » n'a pas été faite."},

	TitleSummary:  {"Summary", "Synthèse"},
	TitleScore:    {"Score", "Score"},
	TitleGaps:     {"What is missing", "Ce qui manque"},
	TitleEvidence: {"Evidence", "Preuves"},
	TitleLimits:   {"Limits", "Limites"},

	LabelAsOf:      {"As of", "À la date du"},
	LabelMode:      {"Data", "Données"},
	LabelStatus:    {"Run", "Exécution"},
	LabelModel:     {"Risk model", "Modèle de risque"},
	LabelNarrative: {"Text", "Texte"},
	LabelRating:    {"Rating", "Niveau"},
	LabelScore:     {"Score", "Score"},
	LabelDecision:  {"Decision", "Décision"},
	LabelStop:      {"Stop", "Arrêt"},
	LabelFloor:     {"Floor", "Plancher"},
	LabelReview:    {"To review", "À examiner"},
	LabelFactor:    {"Factor", "Facteur"},
	LabelValue:     {"Value", "Valeur"},
	LabelRule:      {"Rule", "Règle"},
	LabelPoints:    {"Points", "Points"},
	LabelWeight:    {"Weight", "Poids"},

	"run.done":                     {"done", "terminé"},
	"run.landed":                   {"landed", "atterri"},
	"run.calls_exhausted":          {"calls exhausted", "tours épuisés"},
	"run.tokens_exhausted":         {"tokens exhausted", "tokens épuisés"},
	"run.time_exhausted":           {"time exhausted", "délai dépassé"},
	"run.budget_exhausted":         {"budget exhausted", "budget épuisé"},
	"run.loop_detected":            {"loop detected", "boucle détectée"},
	"run.denied":                   {"denied", "refusé"},
	"run.failed":                   {"failed", "échoué"},
	"run.interrupted":              {"interrupted", "interrompu"},
	"narrative.model":              {"drafted by a model, checked against the evidence", "rédigé par un modèle, contrôlé par rapport aux preuves"},
	"narrative.template":           {"made by code from the evidence", "établi par le code à partir des preuves"},
	"rating.LOW":                   {"LOW", "FAIBLE"},
	"rating.MEDIUM":                {"MEDIUM", "MOYEN"},
	"rating.HIGH":                  {"HIGH", "ÉLEVÉ"},
	"rating.CRITICAL":              {"CRITICAL", "CRITIQUE"},
	"rating.STOP":                  {"STOP: do not proceed until a person has looked", "ARRÊT : ne pas poursuivre avant l'examen d'une personne"},
	"rating.INSUFFICIENT_DATA":     {"INSUFFICIENT DATA", "DONNÉES INSUFFISANTES"},
	"decision.standard":            {"standard", "standard"},
	"decision.human-review":        {"human review", "examen par une personne"},
	"decision.stop-pending-human":  {"stopped until a person has looked", "arrêt jusqu'à l'examen d'une personne"},
	"stop.S1_ceased":               {"the legal unit has ceased", "l'unité légale a cessé"},
	"stop.S2_open_liquidation":     {"an open liquidation", "une liquidation judiciaire ouverte"},
	"stop.S3_sanctions_identifier": {"a sanctions list holds the same identifier", "une liste de sanctions porte le même identifiant"},

	"review.R1_dormant":                  {"presumed dormant", "présumée en sommeil"},
	"review.R2_unclassified_notice":      {"a notice that could not be classified", "une annonce non classée"},
	"review.R3_identifiers_disagree":     {"identifiers disagree", "identifiants discordants"},
	"review.R4_ask_for_accounts":         {"ask the supplier for its accounts", "demander ses comptes au fournisseur"},
	"review.R5_sanctions_not_screened":   {"sanctions not screened", "sanctions non vérifiées"},
	"review.R6_sanctions_namesake":       {"a namesake on a sanctions list", "un homonyme sur une liste de sanctions"},
	"review.R7_sanctions_candidate":      {"a strong candidate on a sanctions list", "un candidat sérieux sur une liste de sanctions"},
	"review.R8_officer_namesake":         {"a namesake of an officer on a list", "un homonyme d'un dirigeant sur une liste"},
	"review.R9_debarment_candidate":      {"a candidate on a debarment list", "un candidat sur une liste d'exclusion"},
	"review.R10_single_source_story":     {"a story from a single source", "un article d'une seule source"},
	"review.R11_mandatory_check_missing": {"a mandatory check is missing", "un contrôle obligatoire manque"},
	"review.R12_corroborated_story":      {"a corroborated story to read", "un article recoupé à lire"},
	"review.R13_media_search_not_done":   {"press not searched", "presse non consultée"},
	"review.R14_low_coverage":            {"low coverage", "couverture faible"},

	"missing.not_known":          {"not known", "inconnu"},
	"missing.not_published":      {"not published", "non publié"},
	"missing.not_found":          {"not found", "non trouvé"},
	"missing.source_unavailable": {"source unavailable", "source indisponible"},
	"missing.invalid_answer":     {"unreadable answer", "réponse illisible"},
	"missing.not_asked":          {"not asked", "non demandé"},
	"missing.not_applicable":     {"not applicable", "sans objet"},
	"missing.not_due":            {"not due yet", "pas encore exigible"},
	"missing.invalid_value":      {"implausible value", "valeur invraisemblable"},
}
