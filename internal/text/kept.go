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

	KeyOverHTTP    Key = "key.over_http"
	BudgetUnpriced Key = "budget.unpriced"
	DoctorNoPrice  Key = "doctor.no_price"
	PricesUnusable Key = "prices.unusable"
	PricesUnused   Key = "prices.unused"
	DidYouMean     Key = "cmd.did_you_mean"
	DidYouMeanSub  Key = "cmd.did_you_mean.sub"

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

	KeptForeignOwner Key = "kept.foreign_owner"
	KeptLoose        Key = "kept.loose"
	KeptLink         Key = "kept.link"
	KeptReplace      Key = "kept.replace"
	KeptReplaced     Key = "kept.replaced"
	KeptBeside       Key = "kept.beside"
	KeptOther        Key = "kept.other"
	KeptNotOurs      Key = "kept.not_ours"
	KeptWhich        Key = "kept.which"
	KeptDossier      Key = "kept.dossier"
	ResumeHost       Key = "resume.host"
	ResumeFinished   Key = "resume.finished"
	SinceNone        Key = "since.none"
	SinceOther       Key = "since.other"
	JournalWhichHead Key = "journal.which_head"
)

var keptCatalogue = map[Key]entry{
	KeptUnfinished: {"%s holds a run on %s that is not finished and may have cost money. Go on with: %s", "%s contient un traitement inachevé sur %s, qui a pu coûter de l'argent. Pour le reprendre : %s"},
	KeptInUse:      {"another process is at work on the run in %s; wait until it ends, or give another folder with -o", "un autre processus travaille sur le traitement de %s ; attendre qu'il finisse, ou donner un autre dossier avec -o"},
	KeptNone:       {"no run is kept in %s; runs are kept in the folder given with -o", "aucun traitement n'est conservé dans %s ; les traitements sont conservés dans le dossier donné avec -o"},
	KeptBroken:     {"the run in %s can't be read: %v", "le traitement de %s est illisible : %v"},
	KeptAfresh:     {"Or begin afresh: in another folder with -o, or in its place with --fresh.", "Ou recommencer : dans un autre dossier avec -o, ou à sa place avec --fresh."},

	KeyOverHTTP: {"the model's key would go to %[1]s over plain http, where others can read it on the way: use https, or allow it with --allow-http %[1]s", "la clé du modèle irait à %[1]s en http sans chiffrement, où d'autres peuvent la lire en chemin : utiliser https, ou l'autoriser avec --allow-http %[1]s"},

	BudgetUnpriced: {"--budget can't be held: the calls of %s have no price that bounds them (%v). Give one with --price-file; duediligence prices lists those that are known", "--budget ne peut pas être tenu : les appels de %s n'ont pas de prix qui les borne (%v). En donner un avec --price-file ; duediligence prices énumère les prix connus"},
	DoctorNoPrice:  {"%v", "%v"},
	PricesUnusable: {"Rows of the price file that can't be used: %d. Calls of their models have no price. They are listed by: %s", "Lignes inutilisables du fichier de prix : %d. Les appels de leurs modèles n'ont pas de prix. Elles sont énumérées par : %s"},
	PricesUnused:   {"Rows that can't be used: %d. Calls of their models have no price.", "Lignes inutilisables : %d. Les appels de leurs modèles n'ont pas de prix."},
	DidYouMean:     {"unknown command %[1]q: did you mean %[2]s? A supplier of that name is researched with: duediligence research %[3]s", "commande inconnue %[1]q : vouliez-vous dire %[2]s ? Un fournisseur de ce nom s'examine avec : duediligence research %[3]s"},
	DidYouMeanSub:  {"unknown command %q for %q: did you mean %s?", "commande inconnue %q pour %q : vouliez-vous dire %s ?"},

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
	KeptForeignOwner:  {"%s belongs to another user, who may have written what a run believes. Where you trust it: chown -R \"$(id -u)\" %s", "%s appartient à un autre utilisateur, qui a pu écrire ce que le traitement croit. S'il est de confiance : chown -R \"$(id -u)\" %s"},
	KeptLoose:         {"other users have access to %s (mode %s), and a run believes what is kept there. Where you trust what it holds: chmod -R go-rwx %s", "d'autres utilisateurs ont accès à %s (mode %s), et un traitement croit ce qui y est conservé. Si le contenu est de confiance : chmod -R go-rwx %s"},
	KeptLink:          {"%s is a link or no ordinary file; a run is kept in a folder of its own only", "%s est un lien ou n'est pas un fichier ordinaire ; un traitement n'est conservé que dans un dossier à lui"},
	KeptReplace:       {"Or begin afresh: in another folder with -o, or in its place with --replace.", "Ou recommencer : dans un autre dossier avec -o, ou à sa place avec --replace."},
	KeptReplaced:      {"The dossier in %s on %s, finished on %s, is replaced.", "Le dossier de %s sur %s, terminé le %s, est remplacé."},
	KeptBeside:        {"%s holds the dossier on %s finished on %s, which stays as it is. This one is written to %s.", "%s contient le dossier sur %s terminé le %s, qui reste tel quel. Celui-ci est écrit dans %s."},
	KeptOther:         {"%s holds the dossier of another supplier, %s, and not of %s: give another folder with -o", "%s contient le dossier d'un autre fournisseur, %s, et non de %s : donner un autre dossier avec -o"},
	KeptNotOurs:       {"%s holds what no run wrote (%s), and nothing there is replaced: give a new or an empty folder with -o", "%s contient ce qu'aucun traitement n'a écrit (%s), et rien n'y est remplacé : donner un dossier nouveau ou vide avec -o"},
	KeptWhich:         {"--replace: %s itself holds no dossier; name the one to replace, such as -o %s", "--replace : %s ne contient pas lui-même de dossier ; nommer celui à remplacer, comme -o %s"},
	KeptDossier:       {"%s: %s holds a finished dossier or a run, which stays as it is: give another folder", "%s : %s contient un dossier terminé ou un traitement, qui reste tel quel : donner un autre dossier"},
	ResumeHost:        {"the run was begun with %s, and no host is taken from a folder that others may have written. If it is the right one, give it again: %s", "le traitement a été lancé avec %s, et aucun hôte n'est repris d'un dossier que d'autres ont pu écrire. Si c'est le bon, le redonner : %s"},
	ResumeFinished:    {"The run on %s finished on %s, there is nothing to resume: see %s", "Le traitement sur %s est terminé depuis le %s, il n'y a rien à reprendre : voir %s"},
	SinceNone:         {"--since: %s holds no finished dossier", "--since : %s ne contient aucun dossier terminé"},
	SinceOther:        {"--since: %s is about another supplier, %s, and not about %s", "--since : %s porte sur un autre fournisseur, %s, et non sur %s"},
	JournalWhichHead:  {"--head: %s holds several journals; name the one it is of: %s", "--head : %s contient plusieurs journaux ; nommer celui dont elle est : %s"},
	KeptForeign:       {"the last line of %s was not written by the run: remove it to go on; duediligence journal verify says what else was changed", "la dernière ligne de %s n'a pas été écrite par le traitement : la retirer pour reprendre ; duediligence journal verify dit ce qui a changé d'autre"},
}
