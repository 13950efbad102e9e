// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Company is a legal unit as the registry describes it.
type Company struct {
	Evidence           string    `json:"evidence"`
	SIREN              string    `json:"siren"`
	LegalName          string    `json:"legal_name"`
	TradeNames         []string  `json:"trade_names,omitempty"`
	Acronym            string    `json:"acronym,omitempty"`
	Active             bool      `json:"active"`
	Created            string    `json:"created,omitempty"`
	Closed             string    `json:"closed,omitempty"`
	LegalForm          string    `json:"legal_form,omitempty"` // INSEE "catégorie juridique"
	Activity           string    `json:"activity,omitempty"`   // NAF code
	Category           string    `json:"category,omitempty"`   // PME, ETI or GE
	Headcount          string    `json:"headcount,omitempty"`  // band: "20-49", "none_or_unknown"
	HeadcountYear      string    `json:"headcount_year,omitempty"`
	Establishments     int       `json:"establishments"`
	OpenEstablishments *int      `json:"open_establishments,omitempty"`
	Address            string    `json:"address,omitempty"`
	PostalCode         string    `json:"postal_code,omitempty"`
	City               string    `json:"city,omitempty"`
	VAT                []string  `json:"vat,omitempty"`
	Officers           []Officer `json:"officers"`
	Masked             bool      `json:"masked"` // the person opted out of publication: masked fields stay masked
	Association        bool      `json:"association"`
	SoleTrader         bool      `json:"sole_trader"`
	PublicBody         bool      `json:"public_body"`
}

// Officer is a person or company that the registry lists as an officer. The
// month of birth is published too, but nobody reading a report needs it.
type Officer struct {
	Name  string `json:"name"`
	Role  string `json:"role,omitempty"`
	SIREN string `json:"siren,omitempty"` // of a company officer
}

// headcountBands are INSEE's codes for "tranche d'effectif salarié".
var headcountBands = map[string]string{
	"NN": "none_or_unknown", "00": "0", "01": "1-2", "02": "3-5", "03": "6-9", "11": "10-19", "12": "20-49",
	"21": "50-99", "22": "100-199", "31": "200-249", "32": "250-499", "41": "500-999", "42": "1000-1999",
	"51": "2000-4999", "52": "5000-9999", "53": "10000+",
}

// maxOfficers caps the officers handed on; a large company lists hundreds.
const maxOfficers = 50

func (u rechercheUnit) company(evidence string) Company {
	c := Company{
		Evidence: evidence, SIREN: u.SIREN, LegalName: u.legalName(), TradeNames: u.tradeNames(), Acronym: cleanName(u.Acronym),
		Active: u.State == "A", Created: isoDay(u.Created), Closed: isoDay(u.Closed), LegalForm: cleanName(u.LegalForm),
		Activity: cleanName(u.Activity), Category: cleanName(u.Category),
		Headcount: headcountBands[u.Headcount], HeadcountYear: cleanName(u.HeadcountYear),
		Establishments: u.Establishments, OpenEstablishments: u.OpenEstablishments,
		Address: cleanName(u.HeadOffice.Address), PostalCode: cleanName(u.HeadOffice.PostalCode), City: cleanName(u.HeadOffice.City),
		Officers: []Officer{}, Masked: u.Diffusion == "P",
		Association: u.Complements.Association, SoleTrader: u.Complements.SoleTrader, PublicBody: u.Complements.Administration,
	}
	for _, v := range u.VAT {
		c.VAT = append(c.VAT, cleanName(v))
	}
	for _, o := range u.Officers[:min(len(u.Officers), maxOfficers)] {
		name := o.Name
		if name == "" {
			name = strings.TrimSpace(o.FirstNames + " " + o.LastName)
		}
		officer := Officer{Name: cleanName(name), Role: cleanName(o.Role)}
		if supplier.ValidSIREN(o.SIREN) {
			officer.SIREN = o.SIREN
		}
		c.Officers = append(c.Officers, officer)
	}
	return c
}

func (c *Client) company(ctx context.Context, siren string) Answer[Company] {
	a := Answer[Company]{Items: []Company{}}
	env, unit := c.unitBySIREN(ctx, siren)
	a.Envelope = env
	switch env.Status {
	case StatusNotFound:
		a.cite("E-REG-000", env.Query.link(), "Annuaire des entreprises: search for SIREN "+siren, isoDay(env.RetrievedAt.Format(time.DateOnly)))
	case StatusOK:
		id := a.cite("E-REG-001", "https://annuaire-entreprises.data.gouv.fr/entreprise/"+siren, "Annuaire des entreprises: "+unit.legalName(), env.DataAsOf)
		a.Items = append(a.Items, unit.company(id))
	}
	return a
}
