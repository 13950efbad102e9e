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

	ResumeNoBudget   Key = "resume.no_budget"
	ResumeMemory     Key = "resume.memory"
	ResumeLedger     Key = "resume.ledger"
	ResumeLedgerKept Key = "resume.ledger.kept"
	ResumeLogin      Key = "resume.login"
)

var keptCatalogue = map[Key]entry{
	KeptUnfinished: {"%s holds a run on %s that is not finished and may have cost money. Go on with: %s", "%s contient un traitement inachevé sur %s, qui a pu coûter de l'argent. Pour le reprendre : %s"},
	KeptInUse:      {"another process is at work on the run in %s; wait until it ends, or give another folder with -o", "un autre processus travaille sur le traitement de %s ; attendre qu'il finisse, ou donner un autre dossier avec -o"},
	KeptNone:       {"no run is kept in %s; runs are kept in the folder given with -o", "aucun traitement n'est conservé dans %s ; les traitements sont conservés dans le dossier donné avec -o"},
	KeptBroken:     {"the run in %s can't be read: %v", "le traitement de %s est illisible : %v"},
	KeptAfresh:     {"Or begin afresh: in another folder with -o, or in its place with --fresh.", "Ou recommencer : dans un autre dossier avec -o, ou à sa place avec --fresh."},

	ResumeNoBudget:   {"--budget: the run was begun without one", "--budget : le traitement a été lancé sans budget"},
	ResumeMemory:     {"what the run spent was kept in memory and is gone; begin it again, without --ledger memory", "ce que le traitement a dépensé était en mémoire et est perdu ; le relancer, sans --ledger memory"},
	ResumeLedger:     {"--ledger: the run was begun with %s", "--ledger : le traitement a été lancé avec %s"},
	ResumeLedgerKept: {"the ledger in its folder", "le registre de son dossier"},
	ResumeLogin:      {"the user and password of the ledger at %s are not kept; give the whole address again, in %s or with --ledger", "l'utilisateur et le mot de passe du registre %s ne sont pas conservés ; redonner l'adresse entière, dans %s ou avec --ledger"},
}
