// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// The wire shape of recherche-entreprises.api.gouv.fr, as its OpenAPI document
// describes it; fields that nothing reads are left out.
type (
	rechercheAnswer struct {
		Results      *[]rechercheUnit `json:"results"`
		TotalResults *int             `json:"total_results"`
		TotalPages   int              `json:"total_pages"`
	}
	rechercheUnit struct {
		SIREN              string                      `json:"siren"`
		FullName           string                      `json:"nom_complet"`
		LegalName          string                      `json:"nom_raison_sociale"`
		Acronym            string                      `json:"sigle"`
		Establishments     int                         `json:"nombre_etablissements"`
		OpenEstablishments *int                        `json:"nombre_etablissements_ouverts"`
		HeadOffice         rechercheSite               `json:"siege"`
		Matching           []rechercheSite             `json:"matching_etablissements"`
		Activity           string                      `json:"activite_principale"`
		Section            string                      `json:"section_activite_principale"`
		Category           string                      `json:"categorie_entreprise"`
		Created            string                      `json:"date_creation"`
		Closed             string                      `json:"date_fermeture"`
		Updated            string                      `json:"date_mise_a_jour"`
		Officers           []rechercheOfficer          `json:"dirigeants"`
		State              string                      `json:"etat_administratif"`
		LegalForm          string                      `json:"nature_juridique"`
		Headcount          string                      `json:"tranche_effectif_salarie"`
		HeadcountYear      string                      `json:"annee_tranche_effectif_salarie"`
		Diffusion          string                      `json:"statut_diffusion"`
		Finances           map[string]rechercheFinance `json:"finances"`
		Complements        rechercheComplements        `json:"complements"`
		VAT                []string                    `json:"tva"`
	}
	rechercheSite struct {
		SIRET      string   `json:"siret"`
		Address    string   `json:"adresse"`
		PostalCode string   `json:"code_postal"`
		City       string   `json:"libelle_commune"`
		Department string   `json:"departement"`
		Extra      string   `json:"complement_adresse"`
		State      string   `json:"etat_administratif"`
		TradeName  string   `json:"nom_commercial"`
		Signs      []string `json:"liste_enseignes"`
	}
	rechercheOfficer struct {
		LastName   string `json:"nom"`
		FirstNames string `json:"prenoms"`
		BirthMonth string `json:"date_de_naissance"`
		Role       string `json:"qualite"`
		Type       string `json:"type_dirigeant"`
		SIREN      string `json:"siren"`
		Name       string `json:"denomination"`
	}
	rechercheFinance struct {
		Turnover  *json.Number `json:"ca"`
		NetResult *json.Number `json:"resultat_net"`
	}
	rechercheComplements struct {
		Association    bool   `json:"est_association"`
		SoleTrader     bool   `json:"est_entrepreneur_individuel"`
		Administration bool   `json:"est_administration"`
		RNA            string `json:"identifiant_association"`
	}
)

var (
	errMalformed    = errors.New("the answer does not have the documented shape")
	errOtherCompany = errors.New("the answer is about another company")
)

func decodeRecherche(body []byte) (rechercheAnswer, error) {
	var a rechercheAnswer
	if err := json.Unmarshal(body, &a); err != nil || a.Results == nil || a.TotalResults == nil {
		return rechercheAnswer{}, errMalformed
	}
	for _, u := range *a.Results {
		if !supplier.ValidSIREN(u.SIREN) || (u.State != "A" && u.State != "C") {
			return rechercheAnswer{}, errMalformed
		}
	}
	return a, nil
}

// perPage is the most results the search returns at once.
const perPage = 25

// searchRegistry asks for one page of the registry's search. A SIREN or SIRET
// as q is a direct look-up that ignores every filter.
func (c *Client) searchRegistry(ctx context.Context, q string, page int, filter url.Values) (Envelope, rechercheAnswer) {
	params := url.Values{"q": {q}, "page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(perPage)}}
	maps.Copy(params, filter)
	env, body := c.get(ctx, c.recherche, "/search", params, gone)
	if body == nil {
		return env, rechercheAnswer{}
	}
	a, err := decodeRecherche(body)
	if err != nil {
		env.fail(StatusInvalid, FailMalformed, err.Error())
		return env, rechercheAnswer{}
	}
	return env, a
}

// unitBySIREN looks one legal unit up; number is its SIREN or the SIRET of one
// of its establishments. The answer must be about that unit and no other.
func (c *Client) unitBySIREN(ctx context.Context, number string) (Envelope, rechercheUnit) {
	env, a := c.searchRegistry(ctx, number, 1, nil)
	if env.Status != StatusOK {
		return env, rechercheUnit{}
	}
	switch {
	case len(*a.Results) == 0:
		env.Status = StatusNotFound
	case len(*a.Results) > 1 || (*a.Results)[0].SIREN != number[:9]:
		env.fail(StatusInvalid, FailOtherCompany, errOtherCompany.Error())
	default:
		u := (*a.Results)[0]
		env.DataAsOf = isoDay(u.Updated)
		return env, u
	}
	return env, rechercheUnit{}
}

// isoDay returns the day of an ISO date or date-time, "" when it is neither.
func isoDay(s string) string {
	if len(s) < len(time.DateOnly) {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]); err != nil {
		return ""
	}
	return s[:len(time.DateOnly)]
}

func cleanName(s string) string { return supplier.Clean(s, supplier.MaxNameLength) }

// tradeNames are the names a unit goes by beside its legal name and acronym.
func (u rechercheUnit) tradeNames() []string {
	var names []string
	for _, s := range append([]string{u.HeadOffice.TradeName}, u.HeadOffice.Signs...) {
		if s = cleanName(s); s != "" && s != cleanName(u.LegalName) && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names
}

// legalName is the registered name. A sole trader has none but the person's, which
// stands before the trade names that nom_complet adds in brackets.
func (u rechercheUnit) legalName() string {
	if u.LegalName != "" {
		return cleanName(u.LegalName)
	}
	name, _, _ := strings.Cut(u.FullName, " (")
	return cleanName(name)
}

func (u rechercheUnit) soleTrader() bool { return u.Complements.SoleTrader || u.LegalForm == "1000" }

// subject is the unit as the one a run is about.
func (u rechercheUnit) subject() supplier.Subject {
	s := supplier.Subject{
		LegalName: u.legalName(), TradeNames: u.tradeNames(), Acronym: cleanName(u.Acronym),
		Country: "FR", SIREN: u.SIREN, City: cleanName(u.HeadOffice.City),
		PostalCode: cleanName(u.HeadOffice.PostalCode), LegalForm: cleanName(u.LegalForm),
	}
	if supplier.ValidSIRET(u.HeadOffice.SIRET) {
		s.SIRET = u.HeadOffice.SIRET
	}
	if len(u.VAT) > 0 {
		s.VAT = cleanName(u.VAT[0])
	}
	return s
}
