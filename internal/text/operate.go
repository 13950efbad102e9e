// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package text

// Sentences of the commands that watch and audit runs.
const (
	JournalHead      Key = "journal.head"
	JournalWhole     Key = "journal.whole"
	JournalRecovered Key = "journal.recovered"
	JournalLost      Key = "journal.lost"
	JournalFaults    Key = "journal.faults"
	JournalNoHead    Key = "journal.no_head"
	JournalAt        Key = "journal.at"
	JournalMissing   Key = "journal.missing"
)

var operateCatalogue = map[Key]entry{
	JournalHead:      {"Journal head: %s. Kept elsewhere, it proves that nothing was cut off or written anew: duediligence journal verify --head.", "Tête du journal : %s. Notée ailleurs, elle prouve que rien n'a été coupé ni réécrit : duediligence journal verify --head."},
	JournalWhole:     {"The journal is whole and as it was written: %d lines, head %s.", "Le journal est complet et tel qu'il a été écrit : %d lignes, tête %s."},
	JournalRecovered: {"It was opened again %d times after a stop without a closing record, as after a crash.", "Il a été rouvert %d fois après un arrêt sans enregistrement de clôture, comme après une panne."},
	JournalLost:      {"The writer says that it could not write %d lines.", "L'écriture de %d lignes a échoué, dit le journal lui-même."},
	JournalFaults:    {"The journal is not what was written: %d faults in %d lines. Look at the first place first, beside a copy.", "Le journal n'est pas ce qui a été écrit : %d défauts sur %d lignes. Regarder d'abord le premier endroit de la liste ; comparer avec une copie."},
	JournalNoHead:    {"Without --head it can't be told whether it was cut after an earlier closing record or written anew.", "Sans --head, rien ne dit s'il a été coupé après une clôture antérieure ou entièrement réécrit."},
	JournalAt:        {"line %d", "ligne %d"},
	JournalMissing:   {"lines numbered %d to %d are missing", "les lignes numérotées %d à %d manquent"},

	"journal.fault.edited":   {"edited: the line is not as it was written", "modifiée : la ligne n'est pas telle qu'elle a été écrite"},
	"journal.fault.removed":  {"removed: lines before this one are missing", "supprimées : des lignes manquent avant celle-ci"},
	"journal.fault.inserted": {"inserted: the line does not belong here", "insérée : la ligne n'a pas sa place ici"},
	"journal.fault.moved":    {"moved: the line belongs elsewhere", "déplacée : la ligne a sa place ailleurs"},
	"journal.fault.cut":      {"cut: the journal goes on after this line, or its closing record is missing", "coupé : le journal continue après cette ligne, ou sa clôture manque"},
	"journal.fault.torn":     {"torn: the last line has no end, as a crash or a full disk leaves it", "déchirée : la dernière ligne n'a pas de fin, comme après une panne ou sur un disque plein"},
}
