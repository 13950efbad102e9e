// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// The wire shape of the BODACC data set on Opendatasoft's Explore API v2.1.
// Several fields hold JSON inside a string.
type (
	odsAnswer[T any] struct {
		Total   *int `json:"total_count"`
		Results *[]T `json:"results"`
	}
	bodaccNotice struct {
		ID             string   `json:"id"`
		Kind           string   `json:"typeavis"`
		Family         string   `json:"familleavis"`
		Published      string   `json:"dateparution"`
		Court          string   `json:"tribunal"`
		Registers      []string `json:"registre"`
		Persons        string   `json:"listepersonnes"`
		Judgment       string   `json:"jugement"`
		Deposit        string   `json:"depot"`
		Changes        string   `json:"modificationsgenerales"`
		Strike         string   `json:"radiationaurcs"`
		Act            string   `json:"acte"`
		Predecessor    string   `json:"parutionavisprecedent"`
		FormerOwner    string   `json:"listeprecedentproprietaire"`
		FormerOperator string   `json:"listeprecedentexploitant"`
	}
	bodaccJudgment struct {
		Family     string `json:"famille"`
		Nature     string `json:"nature"`
		Date       string `json:"date"`
		Complement string `json:"complementJugement"`
	}
	bodaccPredecessor struct {
		Publication string      `json:"nomPublication"`
		Issue       json.Number `json:"numeroParution"`
		Number      json.Number `json:"numeroAnnonce"`
	}
)

// Families of BODACC notices.
const (
	familyCollective   = "collective"
	familyConciliation = "conciliation"
	familyRecovery     = "retablissement_professionnel"
	familyModification = "modification"
	familyStrike       = "radiation"
	familySale         = "vente"
	familyCreation     = "creation"
	familyRegistration = "immatriculation"
	familyOther        = "divers"
	familyDeposit      = "dpc"
)

// The page size and the number of pages read: 500 procedure notices are more
// than any company has had.
const (
	bodaccPage     = 100
	maxBODACCPages = 5
)

var errOtherQuery = errors.New("the answer holds what was not asked for")

// notices asks BODACC for every notice of the families about siren. It returns
// them newest first, or an envelope that says why it could not.
func (c *Client) notices(ctx context.Context, siren string, families ...string) (Envelope, []bodaccNotice) {
	var all []bodaccNotice
	var hashes []string
	for page := range maxBODACCPages {
		env, body := c.get(ctx, c.bodacc, "/api/explore/v2.1/catalog/datasets/annonces-commerciales/records", url.Values{
			"where":    {bodaccWhere(siren, families)},
			"order_by": {"dateparution desc"},
			"limit":    {strconv.Itoa(bodaccPage)},
			"offset":   {strconv.Itoa(page * bodaccPage)},
		}, gone)
		if body == nil {
			return env, nil
		}
		a, err := decodeNotices(body, siren, families)
		if err != nil {
			env.failDecode(err)
			return env, nil
		}
		all = append(all, *a.Results...)
		hashes = append(hashes, env.SHA256)
		if last := len(*a.Results) < bodaccPage; last || len(all) >= *a.Total || page == maxBODACCPages-1 {
			env.Truncated = len(all) < *a.Total
			env.SHA256 = strings.Join(hashes, " ")
			if len(all) == 0 {
				env.Status = StatusNotFound
			}
			return env, all
		}
	}
	panic("unreachable: the last page returns")
}

// bodaccWhere is the filter of a query. Only checked digits and the constants
// above ever reach it.
func bodaccWhere(siren string, families []string) string {
	terms := make([]string, len(families))
	for i, f := range families {
		terms[i] = `familleavis="` + f + `"`
	}
	return fmt.Sprintf(`registre like "%s" and (%s)`, siren, strings.Join(terms, " or "))
}

func decodeNotices(body []byte, siren string, families []string) (odsAnswer[bodaccNotice], error) {
	var a odsAnswer[bodaccNotice]
	if err := json.Unmarshal(body, &a); err != nil || a.Total == nil || a.Results == nil || *a.Total < len(*a.Results) {
		return a, errMalformed
	}
	for _, n := range *a.Results {
		switch {
		case n.ID == "" || isoDay(n.Published) == "":
			return a, errMalformed
		case !slices.ContainsFunc(n.Registers, func(r string) bool { return strings.ReplaceAll(r, " ", "") == siren }):
			return a, errOtherCompany
		case !slices.Contains(families, n.Family):
			return a, errOtherQuery
		}
	}
	return a, nil
}

// embedded decodes JSON inside a string. An empty string is an absent field.
func embedded[T any](s string) (v T, present bool, err error) {
	if strings.TrimSpace(s) == "" {
		return v, false, nil
	}
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return v, true, errMalformed
	}
	return v, true, nil
}

// Notice is one BODACC notice, without the free text of judgments: that names
// natural persons, and its classified effect is what counts.
type Notice struct {
	ID        string `json:"id"`
	Evidence  string `json:"evidence"`
	Family    string `json:"family"`
	Published string `json:"published"`
	Court     string `json:"court,omitempty"`
	Nature    string `json:"nature,omitempty"`   // judgments: the court's own wording
	Decided   string `json:"decided,omitempty"`  // judgments: ISO date, empty when unreadable
	Effect    Effect `json:"effect,omitempty"`   // judgments: what it does to the procedure
	Text      string `json:"text,omitempty"`     // other notices: their own text
	Role      string `json:"role,omitempty"`     // sales: RoleSeller, RoleBuyer or RoleUnknown
	Dropped   string `json:"dropped,omitempty"`  // "cancelled", "cancels", "corrected" or "future": not counted
	YearEnd   string `json:"year_end,omitempty"` // deposits: closing date of the accounts
}

// The roles of the subject in a sale.
const (
	RoleSeller  = "seller"
	RoleBuyer   = "buyer"
	RoleUnknown = "unknown"
)

// noticeURL is where a person reads a notice. The id is the source's: it is
// escaped, and the address is never fetched.
func noticeURL(id string) string {
	return "https://www.bodacc.fr/pages/annonces-commerciales-detail/?q.id=id:" + url.QueryEscape(supplier.Clean(id, 40))
}
