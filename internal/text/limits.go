// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the guards that limit an agent's loop.
const (
	BudgetTokensRun   Key = "guards.budget.tokens.run"
	BudgetTokensAgent Key = "guards.budget.tokens.agent"
	BudgetTimeRun     Key = "guards.budget.time.run"
	BudgetTimeAgent   Key = "guards.budget.time.agent"
	BudgetBrokenRun   Key = "guards.budget.broken.run"
	BudgetBrokenAgent Key = "guards.budget.broken.agent"
	BudgetBrokenTool  Key = "guards.budget.broken.tool"
	BudgetToolCalls   Key = "guards.budget.tool_calls"

	LeftAfter  Key = "guards.left.after"
	LeftCalls  Key = "guards.left.calls"
	LeftTokens Key = "guards.left.tokens"
	LeftTime   Key = "guards.left.time"

	LandingTold    Key = "guards.landing.told"
	LandingTool    Key = "guards.landing.tool"
	LandingNothing Key = "guards.landing.nothing"

	FinishReminder Key = "guards.finish.reminder"
	FinishInvalid  Key = "guards.finish.invalid"
	FinishMissing  Key = "guards.finish.missing"

	LoopRepeated Key = "guards.loop.repeated"
	LoopEnded    Key = "guards.loop.ended"
	LoopStopped  Key = "guards.loop.stopped"
	LoopBroken   Key = "guards.loop.broken"

	ScopeOutside Key = "guards.scope.outside"
	ScopeOneOf   Key = "guards.scope.one_of"
	ScopeMissing Key = "guards.scope.missing"
	ScopeResult  Key = "guards.scope.result"
	ScopeList    Key = "guards.scope.list"

	CutText  Key = "guards.truncate.text"
	CutItems Key = "guards.truncate.items"
	CutWhole Key = "guards.truncate.whole"
	CutDeep  Key = "guards.truncate.deep"

	DeadlineTool  Key = "guards.deadline.tool"
	DeadlineAgent Key = "guards.deadline.agent"
)

var limitsCatalogue = map[Key]entry{
	BudgetTokensRun:   {"Token budget exceeded: run stopped.", "Budget de tokens dépassé : traitement interrompu."},
	BudgetTokensAgent: {"Token budget exceeded: agent ended.", "Budget de tokens dépassé : agent arrêté."},
	BudgetTimeRun:     {"Time budget exceeded: run stopped.", "Budget de temps dépassé : traitement interrompu."},
	BudgetTimeAgent:   {"Time budget exceeded: agent ended.", "Budget de temps dépassé : agent arrêté."},
	BudgetBrokenRun:   {"The budget can't be read: run stopped.", "Budget illisible : traitement interrompu."},
	BudgetBrokenAgent: {"The budget can't be read: agent ended.", "Budget illisible : agent arrêté."},
	BudgetBrokenTool:  {"refused: the budget can't be read", "refusé : budget illisible"},
	BudgetToolCalls:   {"tool call budget used up: answer with what you have", "budget d'appels d'outils épuisé : réponds avec ce que tu as"},

	LeftAfter:  {"Left after this call: %s.", "Reste après cet appel : %s."},
	LeftCalls:  {"%d model calls", "%d appels au modèle"},
	LeftTokens: {"%d tokens", "%d tokens"},
	LeftTime:   {"%s", "%s"},

	LandingTold:    {"This is your last call: answer now with what you have, and say what is missing.", "C'est ton dernier appel : réponds maintenant avec ce que tu as, et dis ce qui manque."},
	LandingTool:    {"This is your last call: call %s now with what you have, and say what is missing.", "C'est ton dernier appel : appelle %s maintenant avec ce que tu as, et dis ce qui manque."},
	LandingNothing: {"No answer: the agent used up its calls before it came to one.", "Pas de réponse : l'agent a épuisé ses appels avant d'en donner une."},

	FinishReminder: {"Text is no answer here. Call %s, or another tool if you still need one.", "Un texte n'est pas une réponse ici. Appelle %s, ou un autre outil s'il t'en faut encore un."},
	FinishInvalid:  {"%s refused, correct it and call it again: %s", "%s refusé, corrige et rappelle-le : %s"},
	FinishMissing:  {"the agent did not finish with %s", "l'agent n'a pas conclu par %s"},

	LoopRepeated: {"refused: this very call was made %d times with the same result; do something else or answer", "refusé : cet appel a déjà été fait %d fois avec le même résultat ; fais autre chose ou réponds"},
	LoopEnded:    {"Loop detected: agent ended.", "Boucle détectée : agent arrêté."},
	LoopStopped:  {"Loop detected: run stopped.", "Boucle détectée : traitement interrompu."},
	LoopBroken:   {"refused: the call history can't be read", "refusé : historique des appels illisible"},

	ScopeOutside: {"%s is outside your scope", "%s est hors de ton périmètre"},
	ScopeOneOf:   {"%s is outside your scope, which is: %s", "%s est hors de ton périmètre, qui est : %s"},
	ScopeMissing: {"%s is required", "%s est obligatoire"},
	ScopeResult:  {"refused: the result can't be limited to your scope", "refusé : le résultat ne peut pas être limité à ton périmètre"},
	ScopeList:    {"Your scope for %s:", "Ton périmètre pour %s :"},

	CutText:  {"… [%d more characters]", "… [%d caractères de plus]"},
	CutItems: {"%s: %d of %d entries left out", "%s : %d entrées sur %d omises"},
	CutWhole: {"the result has %d characters, too many to show any", "le résultat a %d caractères, trop pour en montrer"},
	CutDeep:  {"the result is nested too deep to be shown, or holds itself", "le résultat est trop imbriqué pour être montré, ou se contient lui-même"},

	DeadlineTool:  {"%s took longer than %s", "%s a pris plus de %s"},
	DeadlineAgent: {"Time exceeded: agent ended.", "Délai dépassé : agent arrêté."},
}
