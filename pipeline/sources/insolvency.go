// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Effect is what a judgment does to the state of a procedure.
type Effect string

// The effects of a judgment.
const (
	EffectLiquidation    Effect = "opens_liquidation"
	EffectReorganisation Effect = "opens_reorganisation" // redressement judiciaire
	EffectSafeguard      Effect = "opens_safeguard"      // sauvegarde
	EffectConciliation   Effect = "conciliation"
	EffectPlan           Effect = "plan"
	EffectCloses         Effect = "closes"
	EffectNone           Effect = "none"    // a step inside a procedure: bodies named, time granted, list filed
	EffectUnclear        Effect = "unclear" // no rule knows it, or an appeal undid something: a person must read it
)

var opened = map[Effect]risk.Insolvency{
	EffectLiquidation:    risk.InsolvencyLiquidation,
	EffectReorganisation: risk.InsolvencyReorganisation,
	EffectSafeguard:      risk.InsolvencySafeguard,
	EffectPlan:           risk.InsolvencyPlan,
	EffectCloses:         risk.InsolvencyClosed,
}

// classify reads the effect of a judgment from its family, its nature and, for
// the two natures that say nothing themselves, its complement. The natures are
// those that the official "annuaire des entreprises" pipeline lists, and the
// plans, which it leaves out.
func classify(j bodaccJudgment) Effect {
	family, nature, complement := fold(j.Family), fold(j.Nature), fold(j.Complement)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(nature, w) })
	}
	switch {
	case strings.Contains(family, "avis de depot"), strings.Contains(family, "loi de 1967"),
		strings.HasPrefix(nature, "depot "), strings.HasPrefix(nature, "liste des creances"), nature == "autre avis de depot":
		return EffectNone
	case has("infirmant", "annulant", "retractation"):
		return EffectUnclear
	case has("resolution du plan", "mettant fin a la procedure"):
		return opening(nature) // without a word on what follows: unclear
	case strings.Contains(family, "cloture"), has("cloture"):
		return EffectCloses
	case has("plan de cession"):
		return EffectNone
	case has("arretant le plan", "modifiant le plan", "jugement de plan de redressement", "plan de continuation"):
		return EffectPlan
	case has("autre jugement prononcant", "autre jugement d ouverture"):
		return opening(complement)
	case has("ouverture", "extension", "conversion"):
		return opening(nature)
	case has("designation des organes", "accordant un delai"):
		return EffectNone
	}
	return EffectUnclear
}

// opening names the gravest procedure that text mentions. In "conversion en
// liquidation judiciaire de la procédure de sauvegarde" that is also the new
// one.
func opening(text string) Effect {
	switch {
	case strings.Contains(text, "liquidation judiciaire"):
		return EffectLiquidation
	case strings.Contains(text, "redressement judiciaire"):
		return EffectReorganisation
	case strings.Contains(text, "procedure de sauvegarde"), strings.Contains(text, "la sauvegarde"):
		return EffectSafeguard
	}
	return EffectUnclear
}

// fold lower-cases text, takes accents off and repairs the double encoding that
// old notices suffer from.
func fold(s string) string { return supplier.Fold(repair(s)) }

// repair undoes "clÃ´ture": UTF-8 that was once read as Latin-1. Text that was
// not so damaged comes back as it was.
func repair(s string) string {
	raw, err := charmap.ISO8859_1.NewEncoder().String(s)
	if err != nil || !utf8.ValidString(raw) {
		return s
	}
	return raw
}

// Insolvency is the state of court procedures that the notices add up to.
type Insolvency struct {
	State    risk.Insolvency `json:"state"`              // empty when BODACC could not be read
	Since    string          `json:"since,omitempty"`    // ISO date of the judgment, or of its notice, that made it so
	Unclear  bool            `json:"unclear"`            // some kept notice no rule could read
	Evidence []string        `json:"evidence,omitempty"` // the notices that count, or the search that found none
}

// closedFor is how long a closed procedure still counts.
const closedFor = 10

// insolvency runs the kept notices, in the order of their judgments, through
// the states of a procedure. An unreadable or unknown judgment never makes an
// open procedure disappear.
func insolvency(kept []Notice, asOf time.Time) Insolvency {
	notices := slices.Clone(kept)
	slices.SortStableFunc(notices, func(a, b Notice) int { return strings.Compare(a.when(), b.when()) })
	state := Insolvency{State: risk.InsolvencyNone}
	for _, n := range notices {
		switch n.Effect {
		case EffectNone:
			continue
		case EffectUnclear:
			state.Unclear = true
		case EffectConciliation:
			if state.State == risk.InsolvencyNone || state.State == risk.InsolvencyClosed {
				state.State, state.Since = risk.InsolvencyConciliation, n.when()
			}
		default:
			next, known := opened[n.Effect]
			if !known {
				state.Unclear = true
				break
			}
			state.State, state.Since = next, n.when()
		}
		state.Evidence = append(state.Evidence, n.Evidence)
	}
	if state.State == risk.InsolvencyClosed && state.Since < asOf.AddDate(-closedFor, 0, 0).Format(time.DateOnly) {
		state.State, state.Since = risk.InsolvencyNone, ""
	}
	if state.State == risk.InsolvencyNone && state.Unclear {
		state.State = risk.InsolvencyUnclassified
	}
	return state
}

// when is the day of the judgment or, failing that, of its publication.
func (n Notice) when() string {
	if n.Decided != "" {
		return n.Decided
	}
	return n.Published
}

var (
	slashDate = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})$`)
	wordDate  = regexp.MustCompile(`^(\d{1,2})(?:er)? ([a-z]+) (\d{4})$`)
	months    = []string{"janvier", "fevrier", "mars", "avril", "mai", "juin", "juillet", "aout", "septembre", "octobre", "novembre", "decembre"}
)

// frenchDate reads the ways courts write a date and returns it as ISO, or ""
// for an absurd or unreadable one.
func frenchDate(s string) string {
	s = supplier.Clean(s, 40)
	if d := isoDay(s); d != "" {
		return plausible(d)
	}
	if m := slashDate.FindStringSubmatch(s); m != nil {
		return plausible(m[3] + "-" + pad(m[2]) + "-" + pad(m[1]))
	}
	if m := wordDate.FindStringSubmatch(fold(s)); m != nil {
		if i := slices.Index(months, m[2]); i >= 0 {
			return plausible(m[3] + "-" + pad(strconv.Itoa(i+1)) + "-" + pad(m[1]))
		}
	}
	return ""
}

func pad(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

// plausible drops dates outside the life of the procedures' law and register.
func plausible(iso string) string {
	t, err := time.Parse(time.DateOnly, iso)
	if err != nil || t.Year() < 1950 || t.Year() > 2100 {
		return ""
	}
	return iso
}
