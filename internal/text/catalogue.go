// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the chain and of the guards.
const (
	GuardPrefix     Key = "guard.prefix"
	GuardFailed     Key = "guard.failed"
	GuardPanicked   Key = "guard.panicked"
	GuardFaulty     Key = "guard.faulty"
	RunStopped      Key = "run.stopped"
	ToolFailed      Key = "tool.failed"
	ToolUnknown     Key = "tool.unknown"
	ToolMissingArgs Key = "tool.missing_args"
	ModelFailed     Key = "model.failed"

	ValueUnavailable Key = "guards.value_unavailable"
	BudgetMoney      Key = "guards.budget.money"
	BudgetMoneyAgent Key = "guards.budget.money.agent"
	BudgetDenied     Key = "guards.budget.denied"
	BudgetNoPrice    Key = "guards.budget.no_price"
	BudgetNoLedger   Key = "guards.budget.no_ledger"
	MalformedCall    Key = "guards.malformed_call"
	ToolNotAllowed   Key = "guards.tool_not_allowed"

	ArgMissing  Key = "guards.arg.missing"
	ArgBlank    Key = "guards.arg.blank"
	ArgType     Key = "guards.arg.type"
	ArgLength   Key = "guards.arg.length"
	ArgPattern  Key = "guards.arg.pattern"
	ArgOneOf    Key = "guards.arg.one_of"
	ArgCustom   Key = "guards.arg.custom"
	ArgNotValid Key = "guards.arg.not_valid"
	ArgTwice    Key = "guards.arg.twice"
	ArgsInvalid Key = "guards.args.invalid"

	BudgetCallsRun   Key = "guards.budget.calls.run"
	BudgetCallsAgent Key = "guards.budget.calls.agent"
)

var catalogue = map[Key]entry{
	GuardPrefix:     {"[guard] ", "[garde-fou] "},
	GuardFailed:     {"refused: a guard failed", "refusé : un garde-fou a échoué"},
	GuardPanicked:   {"refused: a guard failed", "refusé : un garde-fou a échoué"},
	GuardFaulty:     {"refused: a guard is faulty", "refusé : un garde-fou est défectueux"},
	RunStopped:      {"run stopped", "traitement interrompu"},
	ToolFailed:      {"tool failed: %s", "échec de l'outil : %s"},
	ToolUnknown:     {"unknown tool: %s", "outil inconnu : %s"},
	ToolMissingArgs: {"missing argument: %s", "argument manquant : %s"},
	ModelFailed:     {"the model failed", "échec du modèle"},

	ValueUnavailable: {"value no longer available, ask again", "valeur qui n'est plus disponible, redemande-la"},
	BudgetMoney:      {"Spend limit reached: run stopped.", "Plafond de dépense atteint : traitement interrompu."},
	BudgetMoneyAgent: {"Spend limit reached: agent ended.", "Plafond de dépense atteint : agent terminé."},
	BudgetDenied:     {"%s: account %s has %s left of %s, %s is needed (%s spent, %s held)", "%s : il reste au compte %s %s sur %s, il en faut %s (%s dépensés, %s réservés)"},
	BudgetNoPrice:    {"The cost of the call can't be bounded: run stopped.", "Le coût de l'appel ne peut pas être borné : traitement interrompu."},
	BudgetNoLedger:   {"The spend ledger can't be used: run stopped.", "Le registre des dépenses est inutilisable : traitement interrompu."},
	MalformedCall: {
		"Your last tool call could not be read: its arguments were not valid JSON for the declared parameters. Make the call again.",
		"Ton dernier appel d'outil est illisible : ses arguments n'étaient pas un JSON valide pour les paramètres déclarés. Refais l'appel.",
	},
	ToolNotAllowed: {"tool not allowed: %s", "Outil non autorisé : %s"},

	ArgMissing:  {"invalid %s: required", "%s invalide : obligatoire"},
	ArgBlank:    {"invalid %s: must not be blank", "%s invalide : ne doit pas être vide"},
	ArgType:     {"invalid %s: text expected, got %s", "%s invalide : texte attendu, reçu %s"},
	ArgLength:   {"invalid %s: at most %d characters expected, got %d: %s", "%s invalide : %d caractères au plus, reçu %d : %s"},
	ArgPattern:  {"invalid %s: must match %s, got %s", "%s invalide : doit correspondre à %s, reçu %s"},
	ArgOneOf:    {"invalid %s: one of %s expected, got %s", "%s invalide : une valeur parmi %s attendue, reçu %s"},
	ArgCustom:   {"invalid %s: %s, got %s", "%s invalide : %s, reçu %s"},
	ArgNotValid: {"not valid", "non valable"},
	ArgTwice:    {"two argument names differ in case alone: give each argument once, under its declared name", "deux noms d'arguments ne diffèrent que par la casse : donnez chaque argument une fois, sous son nom déclaré"},
	ArgsInvalid: {"invalid arguments: %s", "arguments invalides : %s"},

	BudgetCallsRun:   {"Model call budget exceeded: run stopped.", "Budget d'appels au modèle dépassé : traitement interrompu."},
	BudgetCallsAgent: {"Model call budget exceeded: agent ended.", "Budget d'appels au modèle dépassé : agent arrêté."},
}
