// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the commands that watch and audit runs.
const (
	CmdNotSent       Key = "cmd.not_sent"
	JournalHead      Key = "journal.head"
	ExplainClean     Key = "explain.clean"
	ExplainWould     Key = "explain.would"
	ExplainWhich     Key = "explain.which"
	NoRecording      Key = "explain.no_recording"
	ExplainNone      Key = "explain.none"
	JournalWhole     Key = "journal.whole"
	JournalRecovered Key = "journal.recovered"
	JournalLost      Key = "journal.lost"
	JournalFaults    Key = "journal.faults"
	JournalNoHead    Key = "journal.no_head"
	JournalAt        Key = "journal.at"
	JournalMissing   Key = "journal.missing"

	TimelineTitle    Key = "timeline.title"
	TimelineRun      Key = "timeline.run"
	TimelineTokens   Key = "timeline.tokens"
	TimelineLanded   Key = "timeline.landed"
	TimelineEnded    Key = "timeline.ended"
	TimelineCharged  Key = "timeline.charged"
	TimelineEmpty    Key = "timeline.empty"
	TimelineOlder    Key = "timeline.older"
	TimelineBad      Key = "timeline.unreadable"
	TimelineLanes    Key = "timeline.lanes"
	TimelineLegend   Key = "timeline.legend"
	TimelineModel    Key = "timeline.model"
	TimelineTool     Key = "timeline.tool"
	TimelineBadStep  Key = "timeline.bad_step"
	TimelineRefused  Key = "timeline.refused"
	TimelineNothing  Key = "timeline.nothing_refused"
	TimelineCost     Key = "timeline.cost"
	TimelineNoMoney  Key = "timeline.no_money"
	TimelineSteps    Key = "timeline.steps"
	TimelineWhen     Key = "timeline.when"
	TimelineAgent    Key = "timeline.agent"
	TimelineWhat     Key = "timeline.what"
	TimelineOutcome  Key = "timeline.outcome"
	TimelineWhy      Key = "timeline.why"
	TimelineTook     Key = "timeline.took"
	TimelineBar      Key = "timeline.bar"
	TimelineBarMoney Key = "timeline.bar.money"

	StatsRuns      Key = "stats.runs"
	StatsAgents    Key = "stats.agents"
	StatsTools     Key = "stats.tools"
	StatsGuards    Key = "stats.guards"
	StatsTurns     Key = "stats.turns"
	StatsTurnsLine Key = "stats.turns.line"
	StatsSlowest   Key = "stats.slowest"
	StatsSuggest   Key = "stats.suggest"
	StatsMoney     Key = "stats.money"

	PageSupplier      Key = "runpage.supplier"
	PageRating        Key = "runpage.rating"
	PageDecision      Key = "runpage.decision"
	PageScore         Key = "runpage.score"
	PageAsOf          Key = "runpage.as_of"
	PageRun           Key = "runpage.run"
	PageWhole         Key = "runpage.whole"
	PagePartial       Key = "runpage.partial"
	PageReport        Key = "runpage.report"
	PageJournal       Key = "runpage.journal"
	PageMarkdown      Key = "runpage.markdown"
	PageJSON          Key = "runpage.json"
	PageLines         Key = "runpage.lines"
	PageInterrupted   Key = "runpage.interrupted"
	PageNextCalls     Key = "runpage.next.calls"
	PageNextTime      Key = "runpage.next.time"
	PageNextBudget    Key = "runpage.next.budget"
	PageNextJournal   Key = "runpage.next.journal"
	PageNextFailed    Key = "runpage.next.failed"
	PageNextStore     Key = "runpage.next.store"
	PageNextAgain     Key = "runpage.next.again"
	PageNextNoUse     Key = "runpage.next.no_use"
	PageNextResume    Key = "runpage.next.resume"
	PageGaps          Key = "runpage.gaps"
	PageNextDecision  Key = "runpage.next.decision"
	PageNextChecks    Key = "runpage.next.checks"
	PageNextReview    Key = "runpage.next.review"
	PageNextKeep      Key = "runpage.next.keep"
	DeskDescription   Key = "desk.description"
	DeskBusy          Key = "desk.busy"
	DeskUnknown       Key = "desk.unknown"
	DeskWhich         Key = "desk.which"
	DeskPage          Key = "desk.page"
	DeskNotKept       Key = "desk.not_kept"
	ServeListening    Key = "serve.listening"
	ServeToken        Key = "serve.token"
	ServeStopping     Key = "serve.stopping"
	DoctorModel       Key = "doctor.model"
	DoctorOffline     Key = "doctor.offline"
	DoctorNoModel     Key = "doctor.no_model"
	DoctorUnreachable Key = "doctor.unreachable"
	DoctorReached     Key = "doctor.reached"
	DoctorNoKey       Key = "doctor.no_key"
	DoctorNoList      Key = "doctor.no_list"
	DoctorNoAPI       Key = "doctor.no_api"
	DoctorDiskNew     Key = "doctor.disk.new"
	DoctorBusy        Key = "doctor.busy"
	DoctorKey         Key = "doctor.key"
	DoctorSources     Key = "doctor.sources"
	DoctorSourcesOK   Key = "doctor.sources.ok"
	DoctorNoSources   Key = "doctor.no_sources"
	DoctorLedger      Key = "doctor.ledger"
	DoctorLedgerOK    Key = "doctor.ledger.ok"
	DoctorNoLedger    Key = "doctor.no_ledger"
	DoctorDisk        Key = "doctor.disk"
	DoctorDiskOK      Key = "doctor.disk.ok"
	DoctorNoDisk      Key = "doctor.no_disk"
	DoctorClock       Key = "doctor.clock"
	DoctorClockOK     Key = "doctor.clock.ok"
	DoctorClockAlone  Key = "doctor.clock.alone"
	DoctorClockOff    Key = "doctor.clock.off"
	DoctorPrices      Key = "doctor.prices"
	DoctorPricesOK    Key = "doctor.prices.ok"
	DoctorPricesOld   Key = "doctor.prices.old"
	DoctorPricesAhead Key = "doctor.prices.ahead"
	OverviewTitle     Key = "overview.title"
	OverviewCount     Key = "overview.count"
	OverviewMore      Key = "overview.more"
	OverviewPartial   Key = "overview.partial"
)

var operateCatalogue = map[Key]entry{
	CmdNotSent:       {"Telemetry could not be sent; the run is not affected: %v", "La télémétrie n'a pas pu être envoyée ; l'exécution n'en dépend pas : %v"},
	ExplainClean:     {"No problem found.", "Aucun problème trouvé."},
	ExplainWhich:     {"which supplier is it? A recording does not say. Example: duediligence explain \"Transports Kervalec\" --replay %s", "de quel fournisseur s'agit-il ? Un enregistrement ne le dit pas. Exemple : duediligence explain \"Transports Kervalec\" --replay %s"},
	NoRecording:      {"%s holds no recording of sources. Make one, which asks them again, with: %s", "%s ne contient pas d'enregistrement des sources. En faire un, ce qui les interroge à nouveau : %s"},
	ExplainWould:     {"would have refused", "aurait refusé"},
	ExplainNone:      {"Nothing would have been refused.", "Rien n'aurait été refusé."},
	JournalHead:      {"Journal head: %s. Kept elsewhere, it proves that nothing was cut off or written anew: duediligence journal verify --head.", "Tête du journal : %s. Notée ailleurs, elle prouve que rien n'a été coupé ni réécrit : duediligence journal verify --head."},
	JournalWhole:     {"The journal is whole and as it was written: %d lines, head %s.", "Le journal est complet et tel qu'il a été écrit : %d lignes, tête %s."},
	JournalRecovered: {"It was opened again %d times after a stop without a closing record, as after a crash.", "Il a été rouvert %d fois après un arrêt sans enregistrement de clôture, comme après une panne."},
	JournalLost:      {"The writer says that it could not write %d lines.", "L'écriture de %d lignes a échoué, dit le journal lui-même."},
	JournalFaults:    {"The journal is not what was written: %d faults in %d lines. Look at the first place first, beside a copy.", "Le journal n'est pas ce qui a été écrit : %d défauts sur %d lignes. Regarder d'abord le premier endroit de la liste ; comparer avec une copie."},
	JournalNoHead:    {"Without --head it can't be told whether it was cut after an earlier closing record or written anew.", "Sans --head, rien ne dit s'il a été coupé après une clôture antérieure ou entièrement réécrit."},
	JournalAt:        {"line %d", "ligne %d"},
	JournalMissing:   {"lines numbered %d to %d are missing", "les lignes numérotées %d à %d manquent"},

	TimelineTitle:    {"Journal", "Journal"},
	TimelineRun:      {"Run %s, %s UTC", "Exécution %s, %s UTC"},
	TimelineTokens:   {"%d tokens in, %d out", "%d tokens en entrée, %d en sortie"},
	TimelineLanded:   {"last call", "dernier appel"},
	TimelineEnded:    {"Ended: %s, after %s; %d model calls, %d tool calls, %d refusals, %d tokens.", "Fin : %s, après %s ; %d appels au modèle, %d appels d'outils, %d refus, %d tokens."},
	TimelineCharged:  {"Cost: %s.", "Coût : %s."},
	TimelineEmpty:    {"The journal holds no run.", "Le journal ne contient aucune exécution."},
	TimelineOlder:    {"%d older runs are left out.", "%d exécutions plus anciennes sont omises."},
	TimelineBad:      {"%d lines could not be read; duediligence journal verify says where.", "%d lignes sont illisibles ; duediligence journal verify dit où."},
	TimelineLanes:    {"What each agent did, over time", "Ce que chaque agent a fait, dans le temps"},
	TimelineLegend:   {"Colours:", "Couleurs :"},
	TimelineModel:    {"model call", "appel au modèle"},
	TimelineTool:     {"tool call", "appel d'outil"},
	TimelineBadStep:  {"refused or failed", "refus ou échec"},
	TimelineRefused:  {"What was refused, and why", "Ce qui a été refusé, et pourquoi"},
	TimelineNothing:  {"Nothing was refused.", "Rien n'a été refusé."},
	TimelineCost:     {"What it cost", "Ce que cela a coûté"},
	TimelineNoMoney:  {"No money gate stood (--budget): tokens are shown, not money.", "Sans plafond de dépense (--budget), seuls les tokens sont comptés."},
	TimelineSteps:    {"Every step", "Chaque étape"},
	TimelineWhen:     {"when", "quand"},
	TimelineAgent:    {"agent", "agent"},
	TimelineWhat:     {"what", "quoi"},
	TimelineOutcome:  {"outcome", "issue"},
	TimelineWhy:      {"why", "pourquoi"},
	TimelineTook:     {"took", "durée"},
	TimelineBar:      {"%d calls, %d tokens", "%d appels, %d tokens"},
	TimelineBarMoney: {"%s, %d calls, %d tokens", "%s, %d appels, %d tokens"},

	StatsRuns:      {"Runs: %d; ended otherwise than done: %s", "Exécutions : %d ; fin autre que terminée : %s"},
	StatsAgents:    {"agent\truns\tcalls\ttokens in\tout\tcached\tmoney\trefusals\tlandings\tcalls p50\tp95\tlimit", "agent\texécutions\tappels\ttokens entrée\tsortie\tcache\tmontant\trefus\tatterrissages\tappels p50\tp95\tlimite"},
	StatsTools:     {"tool\tcalls\terrors\trefusals\tmean ms\tmax ms\tmoney", "outil\tappels\terreurs\trefus\tms moyenne\tms max\tmontant"},
	StatsGuards:    {"guard\tcode\trefusals", "garde-fou\tcode\trefus"},
	StatsTurns:     {"Turns of an agent in a run:", "Tours d'un agent dans une exécution :"},
	StatsTurnsLine: {"%3d turns: %d times", "%3d tours : %d fois"},
	StatsSlowest:   {"Slowest calls:", "Appels les plus lents :"},
	StatsSuggest:   {"limit: one call more than 95 of 100 runs needed, kept for the answer. Where landings are many the figure is held down by the limit in force.", "limite : un appel de plus que n'en demandent 95 exécutions sur 100, gardé pour la réponse. Si les atterrissages sont nombreux, le chiffre est bridé par la limite en vigueur."},
	StatsMoney:     {"Money: %s of %s reserved", "Montant : %s sur %s réservés"},

	PageSupplier:      {"Supplier", "Fournisseur"},
	PageRating:        {"Rating", "Niveau de risque"},
	PageDecision:      {"Next step", "Suite à donner"},
	PageScore:         {"Score (0 best, 100 worst)", "Score (0 le meilleur, 100 le pire)"},
	PageAsOf:          {"As of", "À la date du"},
	PageRun:           {"Run", "Exécution"},
	PageWhole:         {"The run ended as it should: %s. The report is complete.", "L'exécution s'est terminée normalement : %s. Le rapport est complet."},
	PagePartial:       {"The run did not end as it should: %s. The report was made from what was there.", "L'exécution ne s'est pas terminée normalement : %s. Le rapport a été fait avec ce qui était disponible."},
	PageReport:        {"the report, to read and to file", "le rapport, à lire et à classer"},
	PageJournal:       {"the journal: what each agent did, what was refused and why, what it cost", "le journal : ce que chaque agent a fait, ce qui a été refusé et pourquoi, ce que cela a coûté"},
	PageMarkdown:      {"the report as plain text", "le rapport en texte"},
	PageJSON:          {"the report for programs, and for --since next time", "le rapport pour les programmes, et pour --since la prochaine fois"},
	PageLines:         {"the journal as evidence: every line carries the hash of the line before", "le journal comme preuve : chaque ligne porte l'empreinte de la précédente"},
	PageInterrupted:   {"The run was interrupted before it came to a report. Should there be a report beside this page, it is of an earlier run.", "L'exécution a été interrompue avant d'aboutir à un rapport. Si un rapport se trouve à côté de cette page, il date d'une exécution antérieure."},
	PageNextCalls:     {"Run it again with more calls: --max-calls.", "Relancer avec plus d'appels : --max-calls."},
	PageNextTime:      {"Run it again with more time: --timeout.", "Relancer avec plus de temps : --timeout."},
	PageNextBudget:    {"Run it again with more money: --budget.", "Relancer avec plus d'argent : --budget."},
	PageNextStore:     {"The accounts could not be kept, for the reason above: see that the disk or Redis they are on is back.", "Les comptes n'ont pas pu être tenus, pour la raison ci-dessus : vérifier que leur disque ou Redis est revenu."},
	PageNextJournal:   {"Read in the journal what was refused and why.", "Lire dans le journal ce qui a été refusé et pourquoi."},
	PageNextFailed:    {"duediligence doctor, with the same flags, says whether the model, the sources and the disk can be used.", "duediligence doctor, avec les mêmes options, dit si le modèle, les sources et le disque sont utilisables."},
	PageNextAgain:     {"Then run it again.", "Relancer ensuite."},
	PageNextNoUse:     {"%s used all that one agent has: no option gives it more, and running it again would end at the same place.", "%s a utilisé tout ce qu'a un agent : aucune option ne lui donne plus, et relancer finirait au même endroit."},
	PageNextResume:    {"Go on where it stopped; what was answered before costs nothing again: %s", "Reprendre là où elle s'est arrêtée ; ce qui a déjà été répondu ne coûte rien de plus : %s"},
	PageGaps:          {"The run ended as it should: %s. The report has gaps: what is missing is listed below.", "L'exécution s'est terminée normalement : %s. Le rapport a des lacunes : ce qui manque est indiqué plus bas."},
	PageNextDecision:  {"Read the report, then decide.", "Lire le rapport, puis décider."},
	PageNextChecks:    {"%d checks were not done: the report lists them. Do them by hand or run it again later.", "%d contrôles n'ont pas été faits : le rapport les énumère. Les faire à la main ou relancer plus tard."},
	PageNextReview:    {"Look at this supplier again on %s.", "Revoir ce fournisseur le %s."},
	PageNextKeep:      {"Keep this folder as it is; duediligence journal verify proves that the journal was not changed.", "Garder ce dossier tel quel ; duediligence journal verify prouve que le journal n'a pas été modifié."},
	DeskDescription:   {"Researches one supplier: type its name or number.", "Examine un fournisseur : saisir son nom ou son numéro."},
	DeskBusy:          {"Too many runs at the moment: try again in a minute.", "Trop d'exécutions en cours : réessayer dans une minute."},
	DeskUnknown:       {"No agent was started: %s. Type the name or the SIREN of one company.", "Aucun agent n'a été lancé : %s. Saisir le nom ou le SIREN d'une entreprise."},
	DeskWhich:         {"Which company is meant is not certain: %s. Type one of these numbers:", "L'entreprise visée n'est pas certaine : %s. Saisir l'un de ces numéros :"},
	DeskPage:          {"What happened, what it cost, what to do next: %s", "Ce qui s'est passé, ce que cela a coûté, que faire : %s"},
	DeskNotKept:       {"This run could not be kept on disk: %v", "Cette exécution n'a pas pu être conservée sur le disque : %v"},
	ServeListening:    {"Open %s (Ctrl-C ends it).", "Ouvrir %s (Ctrl-C pour arrêter)."},
	ServeToken:        {"Log in with %s/?token=…, or send Authorization: Bearer …", "Se connecter avec %s/?token=…, ou envoyer Authorization: Bearer …"},
	ServeStopping:     {"Stopping: runs under way have %s to end; Ctrl-C again cuts them off.", "Arrêt : les exécutions en cours ont %s pour finir ; un second Ctrl-C les coupe."},
	DoctorModel:       {"model", "modèle"},
	DoctorOffline:     {"offline, needs no key and no network", "hors ligne, sans clé ni réseau"},
	DoctorNoModel:     {"%v", "%v"},
	DoctorUnreachable: {"%s can't be reached: %v. Check the network, a proxy (HTTPS_PROXY) and --base-url.", "%s est injoignable : %v. Vérifier le réseau, un proxy (HTTPS_PROXY) et --base-url."},
	DoctorReached:     {"%s answers and takes the key", "%s répond et accepte la clé"},
	DoctorNoKey:       {"%s answers; no key was given, and none was asked for", "%s répond ; aucune clé donnée, aucune demandée"},
	DoctorNoList:      {"%s answers %d where its list of models should be, so the key was not checked. Unless it is a server without such a list, --base-url is not the whole address of its API, such as http://HOST/v1.", "%s répond %d à la place de sa liste de modèles : la clé n'a pas été vérifiée. Sauf si ce serveur n'a pas de telle liste, --base-url n'est pas l'adresse entière de son API, comme http://HÔTE/v1."},
	DoctorNoAPI:       {"%s answers, but with no list of models: there is no such API at this address. Check --base-url.", "%s répond, mais sans liste de modèles : il n'y a pas de telle API à cette adresse. Vérifier --base-url."},
	DoctorDiskNew:     {"%s is not there yet; %s, where it will be made, can be written to", "%s n'existe pas encore ; %s, où il sera créé, est accessible en écriture"},
	DoctorBusy:        {"%s answers %d: it is overloaded or the quota is used up. Wait, or look at the quota.", "%s répond %d : surcharge ou quota épuisé. Attendre, ou vérifier le quota."},
	DoctorKey:         {"%s answers %d: it does not take the key. Make a new one and put it into the environment.", "%s répond %d : la clé n'est pas acceptée. En créer une et la mettre dans l'environnement."},
	DoctorSources:     {"sources", "sources"},
	DoctorSourcesOK:   {"%s: a company was found", "%s : une entreprise a été trouvée"},
	DoctorNoSources:   {"a company that everybody knows was not found (%s). Check the network and --source. %s", "une entreprise connue de tous n'a pas été trouvée (%s). Vérifier le réseau et --source. %s"},
	DoctorLedger:      {"ledger", "registre des dépenses"},
	DoctorLedgerOK:    {"%s is there", "%s est disponible"},
	DoctorNoLedger:    {"%v. See to that, or name another with --ledger.", "%v. Y remédier, ou en nommer un autre avec --ledger."},
	DoctorDisk:        {"disk", "disque"},
	DoctorDiskOK:      {"%s can be written to", "%s est accessible en écriture"},
	DoctorNoDisk:      {"%v. Make room, or name another folder with -o.", "%v. Faire de la place, ou nommer un autre dossier avec -o."},
	DoctorClock:       {"clock", "horloge"},
	DoctorClockOK:     {"within %s of the model's server", "à %s près du serveur du modèle"},
	DoctorClockAlone:  {"%s UTC, compared to nobody", "%s UTC, sans comparaison"},
	DoctorClockOff:    {"%s off the model's server: set the clock, or TLS and dated facts go wrong.", "écart de %s avec le serveur du modèle : régler l'horloge, sinon TLS et les dates des faits seront faux."},
	DoctorPrices:      {"prices", "prix"},
	DoctorPricesOK:    {"the table is %d days old", "la table a %d jours"},
	DoctorPricesOld:   {"the table is %d days old: compare with the seller's list, or use --price-file.", "la table a %d jours : comparer au tarif du vendeur, ou utiliser --price-file."},
	DoctorPricesAhead: {"the table is of %s, which is yet to come: set the clock.", "la table date du %s, qui est à venir : régler l'horloge."},
	OverviewTitle:     {"Suppliers researched", "Fournisseurs examinés"},
	OverviewCount:     {"%d suppliers, the gravest first; those without a report come before all others.", "%d fournisseurs, les plus graves d'abord ; ceux sans rapport viennent avant tous les autres."},
	OverviewMore:      {"%d more are in summary.csv.", "%d autres sont dans summary.csv."},
	OverviewPartial:   {"%d reports are partial: their run did not end as it should. Run the same batch again, with a higher limit where one ran out; what was answered before costs nothing again.", "%d rapports sont partiels : leur exécution ne s'est pas terminée normalement. Relancer le même lot, avec un plafond plus haut si l'un est épuisé ; ce qui a déjà été répondu ne coûte rien de plus."},

	"runpage.happened": {"What happened", "Ce qui s'est passé"},
	"runpage.missing":  {"What is missing", "Ce qui manque"},
	"runpage.next":     {"What to do next", "Que faire maintenant"},
	"runpage.cost":     {"What it cost", "Ce que cela a coûté"},
	"runpage.no_money": {"Not counted: no --budget was set, or the model is free.", "Pas compté : aucun --budget n'était fixé, ou le modèle est gratuit."},
	"runpage.agent":    {"agent", "agent"},
	"runpage.calls":    {"model calls", "appels au modèle"},
	"runpage.tokens":   {"tokens", "tokens"},
	"runpage.money":    {"USD", "USD"},
	"runpage.total":    {"total", "total"},
	"runpage.files":    {"Files", "Fichiers"},
	"runpage.head":     {"Note this elsewhere, the journal's head:", "À noter ailleurs, la tête du journal :"},

	"overview.supplier": {"supplier", "fournisseur"},
	"overview.rating":   {"rating", "niveau"},
	"overview.next":     {"next step", "suite"},
	"overview.score":    {"score", "score"},
	"overview.status":   {"run", "exécution"},
	"overview.cost":     {"cost, USD", "coût, USD"},
	"overview.why":      {"why", "pourquoi"},

	"run.unfinished": {"unfinished", "inachevé"},

	"journal.fault.edited":   {"edited: the line is not as it was written", "modifiée : la ligne n'est pas telle qu'elle a été écrite"},
	"journal.fault.removed":  {"removed: lines before this one are missing", "supprimées : des lignes manquent avant celle-ci"},
	"journal.fault.inserted": {"inserted: the line does not belong here", "insérée : la ligne n'a pas sa place ici"},
	"journal.fault.moved":    {"moved: the line belongs elsewhere", "déplacée : la ligne a sa place ailleurs"},
	"journal.fault.cut":      {"cut: the journal goes on after this line, or its closing record is missing", "coupé : le journal continue après cette ligne, ou sa clôture manque"},
	"journal.fault.torn":     {"torn: the last line has no end, as a crash or a full disk leaves it", "déchirée : la dernière ligne n'a pas de fin, comme après une panne ou sur un disque plein"},
}
