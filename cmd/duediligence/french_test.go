// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/agents/offline"
	"github.com/gardefou/gardefou/internal/standin"
	"github.com/gardefou/gardefou/internal/text"
	"github.com/gardefou/gardefou/pipeline/runpage"
	"github.com/gardefou/gardefou/pipeline/sources"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Why the money gate refused, and what a resumed run is refused for, are told in French
// where the run is French.
func TestMoneyInFrench(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", standin.Key)
	s := standin.Gemini(t, offline.Model{}, nil)
	s.Dear = true
	dir := t.TempDir()
	r := command(t, runArgs(s.URL, dir, "--budget", "0.01", "--lang", "fr")...)
	require.Equal(t, exitExhausted, r.code, r.stderr)
	for _, seen := range []string{r.stderr, r.stdout, html.UnescapeString(file(t, dir, runpage.IndexFile))} {
		require.Contains(t, seen, "il reste au compte run-")
		require.NotContains(t, seen, " is needed")
		require.NotContains(t, seen, "%!")
	}
	for _, args := range [][]string{{"--budget", "0"}, {"--budget", "0.000001"}, {"--ledger", "memory"}} {
		r := command(t, resumeArgs(s.URL, dir, args...)...)
		require.Equal(t, exitRefused, r.code)
		require.Regexp(t, "n'ajoute rien|déjà dépensés|a été lancé avec", r.stderr)
	}
	t.Setenv("LANG", "fr_FR.UTF-8")
	cmd := process(t, "resume", t.TempDir())
	cmd.Env = append(cmd.Env, "LC_ALL=fr_FR.UTF-8")
	require.Contains(t, finish(t, cmd).stderr, "aucun traitement n'est conservé")
}

// Every reason for which nobody was identified has a sentence in both languages.
func TestWhoIsMeantInBothLanguages(t *testing.T) {
	for query, want := range map[string]string{
		"": "le nom est vide", " \t": "blancs", "!!!": "ni lettre ni chiffre", "ab": "au moins 3 caractères", strings.Repeat("x", 201): "200 caractères",
		"ab\xff\xfe": "UTF-8", "a\x1b[2Jbc": "contrôle", "Acme SA\nBeta SARL": "un seul fournisseur", "999990006": "clé de ce numéro",
		"12345678": "9 chiffres", "FR00999991011": "999991011", "5299FICTIF0000000206": "LEI", "a" + strings.Repeat("\u0301", 9) + "bc": "signes",
	} {
		r := command(t, "--lang", "fr", query)
		require.Equal(t, exitRefused, r.code, query)
		require.Contains(t, r.stderr, want)
		require.Contains(t, r.stderr, "Nom de fournisseur invalide. ")
		for _, english := range []string{"wanted", "got", "refused", "%!"} {
			require.NotContains(t, r.stderr, english, query)
		}
		_, err := supplier.ParseQuery(query)
		var refused *supplier.RefusedError
		require.ErrorAs(t, err, &refused, query)
		require.NotContains(t, whyRefused(refused, text.English), "refused.", query)
	}
	mismatch := command(t, "--lang", "fr", "--siren", "999991011", "Bâtisseurs du Menhir")
	require.Contains(t, mismatch.stderr, "appartient à un autre nom")

	live := append(standIn(t, nil), "--lang", "fr")
	require.Contains(t, command(t, append(live, "Zorglub International")...).stderr, "Introuvable au registre : aucune entreprise ne porte ce nom")
	require.Contains(t, command(t, append(live, "999990005")...).stderr, "aucune entreprise n'a ce numéro")
	down := append(standIn(t, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	}), "--lang", "fr")
	require.Contains(t, command(t, append(down, "Transports Kervalec")...).stderr, "la source ne répond pas (recherche")
	gleif := append(standIn(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "lei-records") {
			return false
		}
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	}), "--lang", "fr")
	require.Contains(t, command(t, append(gleif, "Zorglub International")...).stderr, "GLEIF")

	reasons := []supplier.Reason{supplier.ReasonSourceUnavailable, supplier.ReasonRateLimited, supplier.ReasonInvalidAnswer, supplier.ReasonNameNotDisclosed, supplier.ReasonUnknownIdentifier, supplier.ReasonUnknownName}
	for _, lang := range []text.Lang{text.English, text.French} {
		for _, reason := range reasons {
			require.NotContains(t, whyNobody(supplier.Resolution{Status: supplier.StatusNotFound, Reason: reason}, lang), "nobody.", reason)
		}
	}
	_, err := sources.New(sources.Options{Mode: sources.ModeReplay, Dir: t.TempDir()})
	require.ErrorIs(t, err, sources.ErrNoRecording)
}
