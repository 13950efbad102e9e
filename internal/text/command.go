// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the command.
const (
	CmdSample           Key = "cmd.sample"
	CmdLive             Key = "cmd.live"
	CmdSubject          Key = "cmd.subject"
	CmdRefused          Key = "cmd.refused"
	CmdAmbiguous        Key = "cmd.ambiguous"
	CmdNotFound         Key = "cmd.not_found"
	CmdNotInSample      Key = "cmd.not_in_sample"
	CmdUnavailable      Key = "cmd.unavailable"
	CmdInterrupted      Key = "cmd.interrupted"
	CmdSummary          Key = "cmd.summary"
	CmdWritten          Key = "cmd.written"
	CmdGaps             Key = "cmd.gaps"
	CmdSpentLine        Key = "cmd.spent.line"
	CmdOverrun          Key = "cmd.spent.overrun"
	CmdApprove          Key = "cmd.approve"
	CmdTarget           Key = "cmd.target"
	CmdSpent            Key = "cmd.spent"
	CmdResumePoint      Key = "cmd.resume_point"
	CmdResumeAccount    Key = "cmd.resume_point.account"
	CmdResumeDone       Key = "cmd.resume_point.done"
	CmdResumeNot        Key = "cmd.resume_point.not_kept"
	CmdResumeToken      Key = "cmd.resume_point.token"
	CmdResumeNoUse      Key = "cmd.resume_point.no_use"
	CmdResumed          Key = "cmd.resumed"
	CmdNotKept          Key = "cmd.not_kept"
	CmdInterruptedKept  Key = "cmd.interrupted.kept"
	CmdNoTime           Key = "cmd.no_time"
	CmdWhich            Key = "cmd.which"
	CmdNumber           Key = "cmd.number"
	CmdBatchRow         Key = "cmd.batch.row"
	CmdBatchSummary     Key = "cmd.batch.summary"
	CmdBatchAgain       Key = "cmd.batch.again"
	CmdBatchInterrupted Key = "cmd.batch.interrupted"
	CmdServed           Key = "cmd.served"
	CmdNone             Key = "cmd.none"
	CmdNotCached        Key = "cmd.not_cached"
	CandidateCreated    Key = "candidate.created"
	CandidateTradeName  Key = "candidate.trade_name"
	CandidateAcronym    Key = "candidate.acronym"
	CandidateAddress    Key = "candidate.address"
	CandidateVariant    Key = "candidate.variant"
	CandidateTypo       Key = "candidate.typo"
	CandidatePartial    Key = "candidate.partial"
)

var commandCatalogue = map[Key]entry{
	CmdSample:      {"Source: sample data, fictional companies only (--source live for real ones).", "Source : jeu d'exemple, entreprises fictives (--source live pour de vraies entreprises)."},
	CmdLive:        {"Source: live public registers.", "Source : registres publics en direct."},
	CmdSubject:     {"Subject: %s, SIREN %s, %s", "Fournisseur : %s, SIREN %s, %s"},
	CmdRefused:     {"Refused: %v", "Nom de fournisseur invalide. %v"},
	CmdAmbiguous:   {"Which company is meant is not certain: %s. Run one of:", "L'entreprise visée n'est pas certaine : %s. Relancer l'une de ces commandes :"},
	CmdNotFound:    {"Not found in the registry: %s", "Introuvable au registre : %s"},
	CmdNotInSample: {"Not found: sample data only (%s); for real companies: duediligence --source live NAME (no key)", "Introuvable : jeu d'exemple seulement (%s) ; pour de vraies entreprises : duediligence --source live NOM (sans clé)"},
	CmdUnavailable: {"The registry could not be read, so nobody was identified: %s. Try again later.", "Le registre n'a pas pu être lu, personne n'a été identifié : %s. Réessayer plus tard."},
	CmdInterrupted: {"Interrupted: nothing was written.", "Interrompu : rien n'a été écrit."},
	CmdSummary: {
		"Run %s: %d model calls, %d tool calls, %d tokens in, %d out; guards that acted: %s.",
		"Exécution : %s ; %d appels au modèle, %d appels d'outils, %d tokens en entrée, %d en sortie ; garde-fous intervenus : %s.",
	},
	CmdGaps:             {"The report has gaps: %s.", "Le rapport a des lacunes : %s."},
	CmdWritten:          {"Written to %s: index.html (begin there), report.md, report.html, report.json, journal.jsonl, journal.html", "Écrits dans %s : index.html (à ouvrir d'abord), report.md, report.html, report.json, journal.jsonl, journal.html"},
	CmdSpentLine:        {"%d calls, %d refused; %s charged of %s reserved, %s estimated; %d %% cached", "%d appels, %d refusés ; %s facturés sur %s réservés, %s estimés ; %d %% en cache"},
	CmdOverrun:          {"%s more than was reserved", "%s de plus que réservé"},
	CmdApprove:          {"%s spent or held of %s allowed without approval. Go on, up to %s? [y/N] ", "%s dépensés ou réservés sur %s permis sans accord. Continuer, jusqu'à %s ? [o/N] "},
	CmdTarget:           {"The expected cost of %s was passed: %s spent or held.", "Le coût attendu de %s est dépassé : %s dépensés ou réservés."},
	CmdSpent:            {"Spent: %s of %s reserved.", "Dépensé : %s sur %s réservés."},
	CmdResumePoint:      {"Resume point: %s", "Point de reprise : %s"},
	CmdResumeAccount:    {"  account %s: limit %s, %s spent, %s held; at least %s more is needed", "  compte %s : plafond %s, %s dépensés, %s réservés ; il manque au moins %s"},
	CmdResumeDone:       {"  done: %s; left: %s", "  fait : %s ; reste : %s"},
	CmdResumeNot:        {"  the run is not kept; give it a folder with -o to be able to resume it", "  le traitement n'est pas conservé ; lui donner un dossier avec -o pour pouvoir le reprendre"},
	CmdResumeToken:      {"  go on with: %s", "  pour reprendre : %s"},
	CmdResumeNoUse:      {"  %s used all that one agent has; no option gives it more, and going on would end at the same place", "  %s a utilisé tout ce qu'a un agent ; aucune option ne lui donne plus, et reprendre finirait au même endroit"},
	CmdResumed:          {"Resumed: %d answers of models are there already and cost nothing again.", "Reprise : %d réponses de modèles sont déjà là et ne coûtent rien de plus."},
	CmdNotKept:          {"The run could not be kept in %s and can't be resumed from here: %v", "Le traitement n'a pas pu être conservé dans %s et ne peut pas être repris d'ici : %v"},
	CmdInterruptedKept:  {"Interrupted: no report was written. Go on with: %s", "Interrompu : aucun rapport n'a été écrit. Pour reprendre : %s"},
	CmdNoTime:           {"The time allowed (%s) ran out before the supplier was identified; nothing was written. Raise it with --timeout.", "Le délai (%s) a expiré avant que le fournisseur soit identifié ; rien n'a été écrit. L'augmenter avec --timeout."},
	CmdWhich:            {"Which company is meant is not certain: %s.", "L'entreprise visée n'est pas certaine : %s."},
	CmdNumber:           {"Which one? [1-%d] ", "Laquelle ? [1-%d] "},
	CmdBatchRow:         {"  row %d: %s: %s", "  ligne %d : %s : %s"},
	CmdBatchSummary:     {"Batch done: %d researched, %d partial, %d kept from before, %d repeated, %d without a report. Summary in %s/index.html and summary.csv", "Lot terminé : %d complets, %d partiels, %d conservés, %d en double, %d sans rapport. Synthèse dans %s/index.html et summary.csv"},
	CmdBatchAgain:       {"Run the same batch again to go on with the partial ones, with a higher limit where one ran out; what was answered before costs nothing again.", "Relancer le même lot pour reprendre les partiels, avec un plafond plus haut si l'un est épuisé ; ce qui a déjà été répondu ne coûte rien de plus."},
	CmdBatchInterrupted: {"Interrupted: %d begun, %d finished, %d not begun; %s/index.html and summary.csv list them. Run the same command again to go on.", "Interrompu : %d commencés, %d terminés, %d non commencés ; %s/index.html et summary.csv en donnent la liste. Relancer la même commande pour continuer."},
	CmdServed:           {"Model asked: %s, served: %s.", "Modèle demandé : %s, servi : %s."},
	CmdNone:             {"none", "aucun"},
	CmdNotCached:        {"The cache does not work; the report is not affected: %v", "Le cache ne fonctionne pas ; le rapport n'en dépend pas : %v"},

	"candidates.foreign_candidates":     {"only companies outside the French registry bear such a name", "seules des entreprises hors du registre français portent un tel nom"},
	"candidates.several_match":          {"several active companies bear this name", "plusieurs entreprises actives portent ce nom"},
	"candidates.no_exact_match":         {"no active company bears exactly this name", "aucune entreprise active ne porte exactement ce nom"},
	"candidates.weak_name":              {"the name is too short or too common to identify anyone", "le nom est trop court ou trop courant pour identifier quelqu'un"},
	"candidates.only_ceased":            {"only ceased companies bear this name", "seules des entreprises cessées portent ce nom"},
	"candidates.persons_name":           {"it is the name of a person, whom others may share it with", "c'est le nom d'une personne, que d'autres peuvent porter"},
	"candidates.results_not_fully_read": {"more companies answer to it than could be read", "plus d'entreprises y répondent qu'il n'a été possible d'en lire"},

	CandidateCreated:   {"created on %s", "créée le %s"},
	CandidateTradeName: {"matched on its trade or former name %s", "trouvée par son nom commercial ou ancien nom %s"},
	CandidateAcronym:   {"matched on its acronym %s", "trouvée par son sigle %s"},
	CandidateAddress:   {"matched on its address, not on a name", "trouvée par son adresse, pas par un nom"},
	CandidateVariant:   {"another spelling of the name", "autre graphie du nom"},
	CandidateTypo:      {"a similar name", "nom ressemblant"},
	CandidatePartial:   {"part of the name", "partie du nom"},

	"batch.partial": {"partial", "partiel"},
	"batch.kept":    {"kept", "conservé"},

	"outcome.allowed":      {"done", "fait"},
	"outcome.refused":      {"refused", "refusé"},
	"outcome.replaced":     {"replaced", "remplacé"},
	"outcome.failed":       {"failed", "échec"},
	"outcome.panicked":     {"panicked", "panique"},
	"outcome.unknown_tool": {"unknown tool", "outil inconnu"},
	"outcome.pending":      {"pending", "en attente"},
	"outcome.abandoned":    {"abandoned", "abandonné"},
	"outcome.would_refuse": {"would refuse", "refuserait"},
}
