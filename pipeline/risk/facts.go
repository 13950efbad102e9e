// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

// Each fact below has a type of its own whose empty value means "not known".

// Status is the state of the legal unit in the registry.
type Status string

// The states of a legal unit, as INSEE codes them.
const (
	StatusActive Status = "A"
	StatusCeased Status = "C"
)

// Insolvency is the gravest court procedure that stands, after Livre VI of the
// Code de commerce.
type Insolvency string

// The states of a procedure, from none to liquidation. The values are the
// French terms of law.
const (
	InsolvencyNone           Insolvency = "none"
	InsolvencyClosed         Insolvency = "closed"
	InsolvencyConciliation   Insolvency = "conciliation"
	InsolvencyPlan           Insolvency = "plan"
	InsolvencySafeguard      Insolvency = "sauvegarde"
	InsolvencyReorganisation Insolvency = "redressement"
	InsolvencyLiquidation    Insolvency = "liquidation"
	InsolvencyUnclassified   Insolvency = "unclassified"
)

// Identity tells whether the subject's identifiers agree across sources.
type Identity string

// The outcomes of comparing identifiers.
const (
	IdentityMatch    Identity = "match"
	IdentityMismatch Identity = "mismatch"
)

// Transparency tells what the company lets the public see of its accounts.
type Transparency string

// The degrees of transparency. TransparencyNotDue leaves the factor missing.
const (
	TransparencyPublic       Transparency = "public"
	TransparencyPartial      Transparency = "partial"
	TransparencyConfidential Transparency = "confidential"
	TransparencyNoneFiled    Transparency = "none_filed"
	TransparencyNotDue       Transparency = "not_due"
)

// Sanctions is the best match on an asset-freeze list.
type Sanctions string

// The classes of a sanctions match. A score alone never makes one.
const (
	SanctionsNone       Sanctions = "none"
	SanctionsNameOnly   Sanctions = "name_only"
	SanctionsStrong     Sanctions = "strong"
	SanctionsIdentifier Sanctions = "identifier"
)

// Officers is the best match of an officer on the same lists.
type Officers string

// The classes of an officer match.
const (
	OfficersNone         Officers = "none"
	OfficersNameOnly     Officers = "name_only"
	OfficersNameAndBirth Officers = "name_and_birth"
)

// Debarment is the outcome of a debarment list.
type Debarment string

// The outcomes of a debarment list.
const (
	DebarmentNone      Debarment = "none"
	DebarmentCandidate Debarment = "candidate"
)

// Country is the risk class of the subject's country.
type Country string

// The country classes.
const (
	CountryEU            Country = "eu" // EU or EEA
	CountryOther         Country = "other"
	CountryFATFIncreased Country = "fatf_increased"
	CountryFATFCall      Country = "fatf_call"
)

// Sector is the risk class of the subject's activity.
type Sector string

// The sector classes.
const (
	SectorNormal    Sector = "normal"
	SectorVigilance Sector = "vigilance"
)

// Story is one adverse story, the same in all the places that carry it.
type Story struct {
	Weight  int `json:"weight_pct"` // 25 minor, 50 civil or labour, 80 criminal inquiry, 100 conviction or sanction
	Months  int `json:"months"`     // age in whole months
	Domains int `json:"domains"`    // registrable domains that carry it
}

// Account is one filed set of yearly accounts, in euros. A nil figure is not
// published; so is zero where the factors say so, because the register writes zero for
// "not declared".
type Account struct {
	YearEnd         string   `json:"year_end"` // ISO date
	Turnover        *int64   `json:"turnover"`
	NetResult       *int64   `json:"net_result"`
	EquityRatio     *float64 `json:"equity_ratio_pct"`    // equity / total assets
	DebtRatio       *float64 `json:"debt_ratio_pct"`      // financial debt / equity
	RepaymentYears  *float64 `json:"repayment_years"`     // financial debt / cash flow
	LiquidityRatio  *float64 `json:"liquidity_ratio_pct"` // current assets / short-term liabilities
	SupplierDays    *float64 `json:"supplier_days"`       // supplier credit
	Perimeter       string   `json:"perimeter"`           // C complete, S simplified, K consolidated
	Confidentiality string   `json:"confidentiality"`     // "Public" or "Partiellement confidentiel"
}

// Facts is all that [Score] looks at. The zero value knows nothing.
type Facts struct {
	Status             Status       `json:"status"`
	OpenEstablishments *int         `json:"open_establishments"`
	Insolvency         Insolvency   `json:"insolvency"`
	UnclearNotice      bool         `json:"unclear_notice"` // a procedure notice no rule could read, whatever the state
	Created            string       `json:"created"`        // ISO date
	Changes24Months    *int         `json:"changes_24m"`
	Identity           Identity     `json:"identity"`
	Accounts           []Account    `json:"accounts"` // nil: no source could be read; empty: none public
	Transparency       Transparency `json:"transparency"`
	Sanctions          Sanctions    `json:"sanctions"`
	Officers           Officers     `json:"officers"`
	Debarment          Debarment    `json:"debarment"`
	Media              []Story      `json:"media"` // nil: not searched; empty: nothing adverse found
	Country            Country      `json:"country_risk"`
	Sector             Sector       `json:"sector"`
	AnnualSpend        *int64       `json:"annual_spend"` // euros a year the buyer spends there

	// Missing says why a factor is not known, by factor id, for the report;
	// a factor without an entry reads "not_known".
	Missing map[string]Reason `json:"missing,omitempty"`
	// Evidence lists the evidence ids behind each factor, by factor id.
	Evidence map[string][]string `json:"evidence,omitempty"`
}

// Reason says why a factor is missing.
type Reason string

// The reasons of a missing factor.
const (
	ReasonNotKnown      Reason = "not_known"
	ReasonNotPublished  Reason = "not_published" // exists and is legally hidden, or left out
	ReasonNotFound      Reason = "not_found"     // the source answered: none
	ReasonUnavailable   Reason = "source_unavailable"
	ReasonInvalidAnswer Reason = "invalid_answer"
	ReasonNotAsked      Reason = "not_asked"
	ReasonNotApplicable Reason = "not_applicable"
	ReasonNotDue        Reason = "not_due"
	ReasonInvalidValue  Reason = "invalid_value" // rejected by a plausibility rule
)
