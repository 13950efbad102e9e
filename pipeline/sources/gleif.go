// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// The wire shape of GLEIF's LEI records (JSON:API).
type (
	gleifList struct {
		Meta gleifMeta      `json:"meta"`
		Data *[]gleifRecord `json:"data"`
	}
	gleifOne struct {
		Meta gleifMeta    `json:"meta"`
		Data *gleifRecord `json:"data"`
	}
	gleifMeta struct {
		Golden struct {
			Published string `json:"publishDate"`
		} `json:"goldenCopy"`
		Pagination struct {
			Total int `json:"total"`
		} `json:"pagination"`
	}
	gleifRecord struct {
		Attributes struct {
			LEI    string `json:"lei"`
			Entity struct {
				LegalName  gleifName   `json:"legalName"`
				OtherNames []gleifName `json:"otherNames"`
				LatinNames []gleifName `json:"transliteratedOtherNames"`
				Address    struct {
					City       string `json:"city"`
					Country    string `json:"country"`
					PostalCode string `json:"postalCode"`
				} `json:"legalAddress"`
				RegisteredAs string `json:"registeredAs"`
				Status       string `json:"status"`
				Created      string `json:"creationDate"`
			} `json:"entity"`
			Registration struct {
				Status      string `json:"status"`
				NextRenewal string `json:"nextRenewalDate"`
			} `json:"registration"`
		} `json:"attributes"`
	}
	gleifName struct {
		Name string `json:"name"`
	}
)

// LEIRecord is a legal entity as GLEIF describes it.
type LEIRecord struct {
	Evidence     string `json:"evidence"`
	LEI          string `json:"lei"`
	LegalName    string `json:"legal_name"`
	Country      string `json:"country,omitempty"`
	City         string `json:"city,omitempty"`
	RegisteredAs string `json:"registered_as,omitempty"` // number in the national register
	Active       bool   `json:"active"`
	Created      string `json:"created,omitempty"`
	Registration string `json:"registration,omitempty"` // ISSUED, LAPSED, …: LAPSED is an unpaid renewal, no insolvency
	NextRenewal  string `json:"next_renewal,omitempty"`
}

func (r gleifRecord) lei() LEIRecord {
	a := r.Attributes
	return LEIRecord{
		LEI: a.LEI, LegalName: cleanName(a.Entity.LegalName.Name), Country: cleanName(a.Entity.Address.Country),
		City: cleanName(a.Entity.Address.City), RegisteredAs: cleanName(a.Entity.RegisteredAs), Active: a.Entity.Status == "ACTIVE",
		Created: isoDay(a.Entity.Created), Registration: cleanName(a.Registration.Status), NextRenewal: isoDay(a.Registration.NextRenewal),
	}
}

func (r gleifRecord) valid() bool {
	e := r.Attributes.Entity
	return supplier.ValidLEI(r.Attributes.LEI) && e.LegalName.Name != "" && (e.Status == "ACTIVE" || e.Status == "INACTIVE")
}

const gleifPath = "/api/v1/lei-records"

func decodeLEIs(body []byte) (gleifList, error) {
	var l gleifList
	if err := json.Unmarshal(body, &l); err != nil || l.Data == nil {
		return l, errMalformed
	}
	for _, r := range *l.Data {
		if !r.valid() {
			return l, errMalformed
		}
	}
	return l, nil
}

// leisWhere asks for the records that a filter selects.
func (c *Client) leisWhere(ctx context.Context, filter, value string) (Envelope, []gleifRecord) {
	env, body := c.get(ctx, c.gleif, gleifPath, url.Values{"filter[" + filter + "]": {value}, "page[size]": {"10"}}, gone)
	if body == nil {
		return env, nil
	}
	l, err := decodeLEIs(body)
	if err != nil {
		env.failDecode(err)
		return env, nil
	}
	env.DataAsOf = isoDay(l.Meta.Golden.Published)
	env.Truncated = l.Meta.Pagination.Total > len(*l.Data)
	if len(*l.Data) == 0 {
		env.Status = StatusNotFound
	}
	return env, *l.Data
}

// leiByCode looks one LEI up; the answer must be about it.
func (c *Client) leiByCode(ctx context.Context, lei string) (Envelope, gleifRecord) {
	env, body := c.get(ctx, c.gleif, gleifPath+"/"+lei, nil, nothing)
	if body == nil {
		return env, gleifRecord{}
	}
	var one gleifOne
	switch err := json.Unmarshal(body, &one); {
	case err != nil, one.Data == nil, !one.Data.valid():
		env.failDecode(errMalformed)
	case one.Data.Attributes.LEI != lei:
		env.failDecode(errOtherCompany)
	default:
		env.DataAsOf = isoDay(one.Meta.Golden.Published)
		return env, *one.Data
	}
	return env, gleifRecord{}
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// leiRecord finds the subject's LEI record: by its LEI, or by its SIREN as the
// number in the national register, whose format varies.
func (c *Client) leiRecord(ctx context.Context, s supplier.Subject) Answer[LEIRecord] {
	a := Answer[LEIRecord]{Items: []LEIRecord{}}
	var records []gleifRecord
	if s.LEI != "" {
		env, r := c.leiByCode(ctx, s.LEI)
		if a.Envelope = env; env.Status == StatusOK {
			records = []gleifRecord{r}
		}
	} else {
		a.Envelope, records = c.leisWhere(ctx, "entity.registeredAs", s.SIREN)
		for _, r := range records {
			if onlyDigits(r.Attributes.Entity.RegisteredAs) != s.SIREN {
				a.failDecode(errOtherCompany)
				return a
			}
		}
		if len(records) > 1 {
			records = records[:1] // one company, one LEI: further records are its funds and branches
		}
	}
	if !a.Status.Read() {
		return a
	}
	a.cite("E-LEI-000", a.Query.link(), "GLEIF: "+cleanName(s.LegalName), a.RetrievedAt.Format(time.DateOnly))
	for _, r := range records {
		item := r.lei()
		item.Evidence = a.cite("E-LEI-001", "https://search.gleif.org/#/record/"+item.LEI, "GLEIF: "+item.LegalName, a.DataAsOf)
		a.Items = append(a.Items, item)
	}
	return a
}
