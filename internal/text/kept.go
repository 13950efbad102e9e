// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences about runs that are kept in a folder.
const (
	KeptUnfinished Key = "kept.unfinished"
	KeptInUse      Key = "kept.in_use"
	KeptNone       Key = "kept.none"
	KeptBroken     Key = "kept.broken"
	KeptAfresh     Key = "kept.afresh"

	KeyOverHTTP Key = "key.over_http"

	ResumeNoBudget   Key = "resume.no_budget"
	ResumeMemory     Key = "resume.memory"
	ResumeLedger     Key = "resume.ledger"
	ResumeLedgerKept Key = "resume.ledger.kept"
	ResumeLogin      Key = "resume.login"

	ResumeAddsNothing Key = "resume.adds_nothing"
	ResumeTooLittle   Key = "resume.too_little"
	ResumedNothing    Key = "resume.nothing"
	KeptPart          Key = "kept.part"
	KeptRest          Key = "kept.rest"
	KeptFiles         Key = "kept.files"
	KeptNothing       Key = "kept.nothing"
	KeptJournal       Key = "kept.journal"
	KeptForeign       Key = "kept.foreign"
)

var keptCatalogue = map[Key]entry{
	KeptUnfinished: {"%s holds a run on %s that is not finished and may have cost money. Go on with: %s", "%s contient un traitement inachevé sur %s, qui a pu coûter de l'argent. Pour le reprendre : %s"},
	KeptInUse:      {"another process is at work on the run in %s; wait until it ends, or give another folder with -o", "un autre processus travaille sur le traitement de %s ; attendre qu'il finisse, ou donner un autre dossier avec -o"},
	KeptNone:       {"no run is kept in %s; runs are kept in the folder given with -o", "aucun traitement n'est conservé dans %s ; les traitements sont conservés dans le dossier donné avec -o"},
	KeptBroken:     {"the run in %s can't be read: %v", "le traitement de %s est illisible : %v"},
	KeptAfresh:     {"Or begin afresh: in another folder with -o, or in its place with --fresh.", "Ou recommencer : dans un autre dossier avec -o, ou à sa place avec --fresh."},

	KeyOverHTTP: {"the model's key would go to %[1]s over plain http, where others can read it on the way: use https, or allow it with --allow-http %[1]s", "la clé du modèle irait à %[1]s en http sans chiffrement, où d'autres peuvent la lire en chemin : utiliser https, ou l'autoriser avec --allow-http %[1]s"},

	ResumeNoBudget:   {"--budget: the run was begun without one", "--budget : le traitement a été lancé sans budget"},
	ResumeMemory:     {"what the run spent was kept in memory and is gone; begin it again, without --ledger memory", "ce que le traitement a dépensé était en mémoire et est perdu ; le relancer, sans --ledger memory"},
	ResumeLedger:     {"--ledger: the run was begun with %s", "--ledger : le traitement a été lancé avec %s"},
	ResumeLedgerKept: {"the ledger in its folder", "le registre de son dossier"},
	ResumeLogin:      {"the user and password of the ledger at %s are not kept; give the whole address again, in %s or with --ledger", "l'utilisateur et le mot de passe du registre %s ne sont pas conservés ; redonner l'adresse entière, dans %s ou avec --ledger"},

	ResumeAddsNothing: {"--budget %s adds nothing; give an amount in USD, such as 0.10 for all of the run, or +0.05 for so much more", "--budget %s n'ajoute rien ; donner un montant en USD, comme 0.10 pour toute l'exécution, ou +0.05 pour autant de plus"},
	ResumeTooLittle:   {"--budget: %s is less than the %s that the run has spent or holds; give more, or add to it with a + before the amount", "--budget : %s est moins que les %s déjà dépensés ou réservés ; donner plus, ou ajouter avec un + devant le montant"},
	ResumedNothing:    {"No answer of a model is there from before (%s): every call is made, and paid for, from the start.", "Aucune réponse de modèle n'est conservée (%s) : tous les appels sont faits, et payés, depuis le début."},
	KeptPart:          {"The run in %s is kept in part only: %v", "Le traitement de %s n'est conservé qu'en partie : %v"},
	KeptRest:          {"The report on stdout is whole. See to that, then go on; what is not kept is asked, and paid for, again: %s", "Le rapport sur la sortie standard est complet. Y remédier, puis reprendre ; ce qui n'est pas conservé est redemandé, et payé, à nouveau : %s"},
	KeptFiles:         {"The run is kept. See to that, then this writes the files, and what was answered costs nothing again: %s", "Le traitement est conservé. Y remédier, puis ceci écrit les fichiers, et ce qui a été répondu ne coûte rien de plus : %s"},
	KeptNothing:       {"The report on stdout is all that is left of this run.", "Le rapport sur la sortie standard est tout ce qui reste de ce traitement."},
	KeptJournal:       {"the journal of the run in %s can't be gone on with: %v", "le journal du traitement de %s ne peut pas être continué : %v"},
	KeptForeign:       {"the last line of %s was not written by the run: remove it to go on; duediligence journal verify says what else was changed", "la dernière ligne de %s n'a pas été écrite par le traitement : la retirer pour reprendre ; duediligence journal verify dit ce qui a changé d'autre"},
}
