// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// proceduresOf reads the notices of a payload as those of siren.
func proceduresOf(t *testing.T, file, siren string) (Answer[Notice], Insolvency) {
	t.Helper()
	c := standIn(t, answering(200, "application/json", payload(t, file)))
	a := c.procedures(t.Context(), siren)
	require.Equal(t, StatusOK, a.Status, "%+v", a.Error)
	return a, insolvency(counted(a.Items), c.AsOf())
}

func TestProcedurePayloads(t *testing.T) {
	for _, x := range []struct {
		file, siren string
		want        risk.Insolvency
		since       string
		unclear     bool
	}{
		{"bodacc.collective.liquidation_open.json", "999990013", risk.InsolvencyLiquidation, "2026-10-20", false},
		{"bodacc.collective.redressement_then_plan.json", "999990021", risk.InsolvencyPlan, "2025-11-18", false},
		{"bodacc.collective.cancelled_notice.json", "999990005", risk.InsolvencyNone, "", false},
		{"bodacc.collective.closed.json", "999990138", risk.InsolvencyClosed, "2019-05-14", false},
		{"bodacc.collective.mojibake.json", "999990146", risk.InsolvencyNone, "", false}, // closed more than ten years ago
		{"bodacc.collective.unknown_nature.json", "999990153", risk.InsolvencyUnclassified, "", true},
		{"bodacc.collective.bad_inner_json.json", "999990161", risk.InsolvencyUnclassified, "", true},
	} {
		t.Run(x.file, func(t *testing.T) {
			_, got := proceduresOf(t, x.file, x.siren)
			require.Equal(t, x.want, got.State)
			require.Equal(t, x.since, got.Since)
			require.Equal(t, x.unclear, got.Unclear)
		})
	}
}

func TestJudgmentsNeverCarryFreeText(t *testing.T) {
	a, _ := proceduresOf(t, "bodacc.collective.liquidation_open.json", "999990013")
	b, err := json.Marshal(a)
	require.NoError(t, err)
	require.NotContains(t, string(b), "Me Fictif", "practitioners are natural persons")
	require.Equal(t, "E-BOD-001", a.Items[0].Evidence)
	require.Equal(t, "https://www.bodacc.fr/pages/annonces-commerciales-detail/?q.id=id:A202602121843", a.Evidence[1].URL)
}

func TestMojibakeIsRepaired(t *testing.T) {
	a, _ := proceduresOf(t, "bodacc.collective.mojibake.json", "999990146")
	require.Equal(t, "Jugement de clôture pour insuffisance d'actif", a.Items[0].Nature)
	require.Equal(t, "2008-11-27", a.Items[0].Decided)
	require.Equal(t, "déjà", repair("déjà"), "sound text stays")
}

func TestClassify(t *testing.T) {
	for _, x := range []struct {
		family, nature, complement string
		want                       Effect
	}{
		{"Jugement d'ouverture", "Jugement d'ouverture d'une procédure de sauvegarde accélérée", "", EffectSafeguard},
		{"Jugement d'ouverture", "Jugement d'extension de liquidation judiciaire", "", EffectLiquidation},
		{"Jugement prononçant", "Jugement de conversion en redressement judiciaire de la procédure de sauvegarde", "", EffectReorganisation},
		{"Jugement prononçant", "Jugement de conversion en liquidation judiciaire de la procédure de sauvegarde", "", EffectLiquidation},
		{"Jugement prononçant", "Jugement prononçant la résolution du plan de sauvegarde et le redressement judiciaire", "", EffectReorganisation},
		{"Jugement prononçant", "Jugement prononçant la résolution du plan de cession et la liquidation judiciaire", "", EffectLiquidation},
		{"Jugement prononçant", "Jugement prononçant la résolution du plan de sauvegarde", "", EffectUnclear},
		{"Jugement prononçant", "Jugement mettant fin à la procédure de traitement de sortie de crise et ouvrant une procédure de liquidation judiciaire", "", EffectLiquidation},
		{"Jugement prononçant", "Jugement arrêtant le plan de sauvegarde", "", EffectPlan},
		{"Jugement prononçant", "Jugement arrêtant le plan de cession", "", EffectNone},
		{"Jugement prononçant", "Jugement modifiant le plan de redressement", "", EffectPlan},
		{"Jugement de clôture", "Jugement de clôture pour extinction du passif", "", EffectCloses},
		{"Jugement de clôture", "nature inconnue", "", EffectCloses},
		{"Jugement prononçant", "Autre jugement prononçant", "prononce la LIQUIDATION JUDICIAIRE, met fin au redressement judiciaire", EffectLiquidation},
		{"Jugement d'ouverture", "Autre jugement d'ouverture", "", EffectUnclear},
		{"Jugement prononçant", "Jugement de désignation des organes de la procédure", "", EffectNone},
		{"Avis de dépôt", "Liste des créances nées après le jugement d'ouverture d'une procédure de liquidation judiciaire", "", EffectNone},
		{"Jugement prononçant", "Dépôt de l'état des créances", "", EffectNone},
		{"Arrêt de la Cour d'Appel", "Arrêt de la cour d'appel infirmant une décision soumise à publicité", "", EffectUnclear},
		{"Arrêt de la Cour d'Appel", "Autre arrêt de la Cour d'Appel", "", EffectUnclear},
		{"", "", "", EffectUnclear},
	} {
		require.Equal(t, x.want, classify(bodaccJudgment{Family: x.family, Nature: x.nature, Complement: x.complement}), x.nature)
	}
}

func TestLaterStepsDoNotHideAnOpenLiquidation(t *testing.T) {
	day := func(n int) string { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	open := Notice{Decided: day(1), Effect: EffectLiquidation, Evidence: "E-BOD-001"}
	for _, later := range []Effect{EffectNone, EffectUnclear, EffectConciliation} {
		got := insolvency([]Notice{{Decided: day(2), Effect: later, Evidence: "E-BOD-002"}, open}, SampleDate)
		require.Equal(t, risk.InsolvencyLiquidation, got.State, later)
		require.Equal(t, later == EffectUnclear, got.Unclear)
	}
	closed := insolvency([]Notice{open, {Decided: day(2), Effect: EffectCloses}}, SampleDate)
	require.Equal(t, risk.InsolvencyClosed, closed.State)
	undated := insolvency([]Notice{{Published: day(1), Effect: EffectCloses}, {Decided: day(3), Effect: EffectReorganisation}}, SampleDate)
	require.Equal(t, risk.InsolvencyReorganisation, undated.State)
}

func TestNoticesAfterTheAsOfDateDoNotCount(t *testing.T) {
	c, err := New(Options{AsOf: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	r := c.Resolve(t.Context(), "Bâtisseurs du Menhir")
	f := c.Registry(t.Context(), r.Subject)
	require.Equal(t, "future", f.Procedures.Items[0].Dropped)
	require.Equal(t, risk.InsolvencyNone, f.Insolvency.State)
}

func TestFrenchDates(t *testing.T) {
	for in, want := range map[string]string{
		"2026-06-16": "2026-06-16", "16/06/2026": "2026-06-16", "6/6/2026": "2026-06-06", "27 novembre 2008": "2008-11-27",
		"1er janvier 2020": "2020-01-01", "1er\u00a0janvier\u00a02020": "2020-01-01", "15 FÉVRIER 2021": "2021-02-15", "3 août 2021": "2021-08-03",
		"0009-01-01": "", "5025-01-01": "", "31/02/2020": "", "hier": "", "": "",
	} {
		require.Equal(t, want, frenchDate(in), in)
	}
}
