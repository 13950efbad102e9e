// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package supplier

// Status is the outcome of a resolution.
type Status string

// The five outcomes. Only StatusResolved lets research start.
const (
	StatusResolved    Status = "resolved"
	StatusCandidates  Status = "candidates"  // several could be meant, or one that is not sure enough
	StatusNotFound    Status = "not_found"   // the registry answered: nobody
	StatusRefused     Status = "refused"     // the query is no question that can be asked
	StatusUnavailable Status = "unavailable" // the registry could not be read: nothing is known
)

// Subject is the one legal unit a run is about. A zero Subject is none.
type Subject struct {
	LegalName  string   `json:"legal_name"`
	TradeNames []string `json:"trade_names,omitempty"`
	Acronym    string   `json:"acronym,omitempty"`
	Country    string   `json:"country"`         // ISO 3166 alpha-2; "FR" with a SIREN
	SIREN      string   `json:"siren,omitempty"` // empty outside France
	SIRET      string   `json:"siret,omitempty"` // the establishment asked for, else the head office
	VAT        string   `json:"vat,omitempty"`
	LEI        string   `json:"lei,omitempty"`
	City       string   `json:"city,omitempty"`
	PostalCode string   `json:"postal_code,omitempty"`
	LegalForm  string   `json:"legal_form,omitempty"` // INSEE "catégorie juridique"
	Notes      []Note   `json:"notes,omitempty"`
}

// Same reports whether two subjects are the same company: by SIREN where both have one, else
// by LEI, else by VAT number, else by country and name. What only one of them has says
// nothing: a company may have got its LEI since.
func (s Subject) Same(o Subject) bool {
	for _, id := range [][2]string{{s.SIREN, o.SIREN}, {s.LEI, o.LEI}, {s.VAT, o.VAT}} {
		if id[0] != "" && id[1] != "" {
			return id[0] == id[1]
		}
	}
	return s.Country == o.Country && Fold(s.LegalName) == Fold(o.LegalName)
}

// MatchedOn says which registered text answered a name query.
type MatchedOn string

// What a candidate was found by.
const (
	MatchedLegalName MatchedOn = "legal_name"
	MatchedTradeName MatchedOn = "trade_name"
	MatchedAcronym   MatchedOn = "acronym"
	MatchedAddress   MatchedOn = "address" // the search engine saw the words, the names do not hold them
)

// Candidate is a legal unit that may be the one asked for.
type Candidate struct {
	LegalName string    `json:"legal_name"`
	SIREN     string    `json:"siren,omitempty"`
	LEI       string    `json:"lei,omitempty"`
	Country   string    `json:"country"`
	City      string    `json:"city,omitempty"`
	Activity  string    `json:"activity,omitempty"` // NAF code
	Ceased    bool      `json:"ceased"`
	Created   string    `json:"created,omitempty"` // ISO date
	MatchedOn MatchedOn `json:"matched_on"`
	Match     Match     `json:"match"`
	Name      string    `json:"name,omitempty"` // the trade name or acronym that matched
}

// MaxCandidates is how many candidates a [Resolution] lists at most.
const MaxCandidates = 10

// Reasons of a resolution that found nobody or could not look.
const (
	ReasonSourceUnavailable Reason = "source_unavailable"
	ReasonRateLimited       Reason = "rate_limited"
	ReasonInvalidAnswer     Reason = "invalid_answer"
	ReasonNameNotDisclosed  Reason = "name_not_disclosed" // the VAT number is valid, its country names nobody
	ReasonForeignCandidates Reason = "foreign_candidates" // only holders of a LEI outside the French registry match
	ReasonUnknownIdentifier Reason = "unknown_identifier"
	ReasonUnknownName       Reason = "unknown_name"
	ReasonSeveralMatch      Reason = "several_match"
	ReasonNoExactMatch      Reason = "no_exact_match"
	ReasonWeakName          Reason = "weak_name"
	ReasonOnlyCeased        Reason = "only_ceased"
	ReasonPersonsName       Reason = "persons_name" // a sole trader: persons share names, companies hardly
	ReasonNotFullyRead      Reason = "results_not_fully_read"
)

// Resolution is the answer to "who is meant?". Subject is set only when Status
// is [StatusResolved], Candidates only for [StatusCandidates].
type Resolution struct {
	Status     Status      `json:"status"`
	Query      Query       `json:"query"`
	Subject    Subject     `json:"subject,omitzero"`
	Candidates []Candidate `json:"candidates,omitempty"`
	Total      int         `json:"total,omitempty"` // results the registry counted
	Reason     Reason      `json:"reason,omitempty"`
	Detail     string      `json:"detail,omitempty"` // English, for the log; safe to print
}

// Refusal returns the outcome for a query that [ParseQuery] refused.
func Refusal(err *RefusedError) Resolution {
	return Resolution{Status: StatusRefused, Reason: err.Reason, Detail: err.Error()}
}
