// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/risk"
)

// accountsPage is the most accounts read at once: a company files one or two
// sets a year.
const accountsPage = 50

// Account is one set of accounts from ratios_inpi_bce. A nil figure is not
// declared or not readable.
type Account struct {
	Evidence string `json:"evidence"`
	risk.Account
	GrossMargin  *float64 `json:"gross_margin"` // euros, like EBITDA and EBIT
	EBITDA       *float64 `json:"ebitda"`       // excédent brut d'exploitation
	EBIT         *float64 `json:"ebit"`
	CustomerDays *float64 `json:"customer_days"`
}

// ratioRecord is the wire shape of one record.
type ratioRecord struct {
	SIREN           string       `json:"siren"`
	YearEnd         string       `json:"date_cloture_exercice"`
	Turnover        *json.Number `json:"chiffre_d_affaires"`
	GrossMargin     *json.Number `json:"marge_brute"`
	EBITDA          *json.Number `json:"ebe"`
	EBIT            *json.Number `json:"ebit"`
	NetResult       *json.Number `json:"resultat_net"`
	DebtRatio       *json.Number `json:"taux_d_endettement"`
	Liquidity       *json.Number `json:"ratio_de_liquidite"`
	Equity          *json.Number `json:"autonomie_financiere"`
	Repayment       *json.Number `json:"capacite_de_remboursement"`
	CustomerDays    *json.Number `json:"credit_clients_jours"`
	SupplierDays    *json.Number `json:"credit_fournisseurs_jours"`
	Perimeter       string       `json:"type_bilan"`
	Confidentiality string       `json:"confidentiality"`
}

func (r ratioRecord) account() Account {
	a := Account{
		Account: risk.Account{
			YearEnd: isoDay(r.YearEnd), Turnover: euros(r.Turnover), NetResult: euros(r.NetResult),
			EquityRatio: declared(r.Equity), DebtRatio: number(r.DebtRatio), RepaymentYears: number(r.Repayment),
			LiquidityRatio: declared(r.Liquidity), SupplierDays: declared(r.SupplierDays),
			Perimeter: cleanName(r.Perimeter), Confidentiality: cleanName(r.Confidentiality),
		},
		GrossMargin: number(r.GrossMargin), EBITDA: number(r.EBITDA), EBIT: number(r.EBIT), CustomerDays: declared(r.CustomerDays),
	}
	if e, t := number(r.EBITDA), number(r.Turnover); e != nil && t != nil && *e == *t {
		a.EBITDA = nil // the file repeats the turnover there: unreadable
	}
	return a
}

func decodeAccounts(body []byte, siren string) (odsAnswer[ratioRecord], error) {
	var a odsAnswer[ratioRecord]
	if err := json.Unmarshal(body, &a); err != nil || a.Total == nil || a.Results == nil || *a.Total < len(*a.Results) {
		return a, errMalformed
	}
	for _, r := range *a.Results {
		switch {
		case isoDay(r.YearEnd) == "":
			return a, errMalformed
		case r.SIREN != siren:
			return a, errOtherCompany
		}
	}
	return a, nil
}

func (c *Client) accounts(ctx context.Context, siren string) Answer[Account] {
	a := Answer[Account]{Items: []Account{}}
	env, body := c.get(ctx, c.ratios, "/api/explore/v2.1/catalog/datasets/ratios_inpi_bce/records", url.Values{
		"where":    {`siren="` + siren + `"`},
		"order_by": {"date_cloture_exercice desc"},
		"limit":    {strconv.Itoa(accountsPage)},
	}, gone)
	a.Envelope = env
	if body == nil {
		return a
	}
	records, err := decodeAccounts(body, siren)
	if err != nil {
		a.failDecode(err)
		return a
	}
	a.Truncated = len(*records.Results) < *records.Total
	a.cite("E-RAT-000", env.Query.link(), "INPI/BCE ratios: accounts of SIREN "+siren, env.RetrievedAt.Format(time.DateOnly))
	for _, r := range *records.Results {
		a.Items = append(a.Items, r.account())
	}
	slices.SortStableFunc(a.Items, func(x, y Account) int {
		return strings.Compare(x.YearEnd+x.Perimeter, y.YearEnd+y.Perimeter)
	})
	for i := range a.Items {
		item := &a.Items[i]
		item.Evidence = a.cite(fmt.Sprintf("E-RAT-%03d", i+1), env.Query.link(), "INPI/BCE ratios: accounts closed "+item.YearEnd+" ("+item.Perimeter+")", item.YearEnd)
	}
	if len(a.Items) == 0 {
		a.Status = StatusNotFound
	}
	return a
}
