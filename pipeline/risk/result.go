// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"fmt"
	"strconv"
)

// Tenths is a figure between 0.0 and 100.0 in tenths: 125 is 12.5. It marshals
// to a JSON number with exactly one decimal.
type Tenths int

// String returns the figure with one decimal.
func (t Tenths) String() string { return fmt.Sprintf("%d.%d", int(t)/10, int(t)%10) }

// MarshalJSON writes the figure with one decimal.
func (t Tenths) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalJSON reads a number and rounds it to a tenth.
func (t *Tenths) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(f >= 0 && f <= 100) {
		return fmt.Errorf("risk: %q is no figure between 0 and 100", b)
	}
	*t = Tenths(f*10 + 0.5)
	return nil
}

// tenths is num/den to one decimal, half up; both are positive or num is zero.
func tenths(num, den int) Tenths { return Tenths((20*num + den) / (2 * den)) }

// Rating is the class of a supplier.
type Rating string

// The ratings. RatingStop and RatingInsufficient carry no score.
const (
	RatingLow          Rating = "LOW"
	RatingMedium       Rating = "MEDIUM"
	RatingHigh         Rating = "HIGH"
	RatingCritical     Rating = "CRITICAL"
	RatingStop         Rating = "STOP"
	RatingInsufficient Rating = "INSUFFICIENT_DATA"
)

var ratingOrder = []Rating{RatingLow, RatingMedium, RatingHigh, RatingCritical}

// Decision says who acts next. None approves a supplier: a person does.
type Decision string

// The decisions.
const (
	DecisionStandard Decision = "standard"
	DecisionReview   Decision = "human-review"
	DecisionStop     Decision = "stop-pending-human"
)

// StopCode names a finding that no score can express.
type StopCode string

// The stops.
const (
	StopCeased      StopCode = "S1_ceased"
	StopLiquidation StopCode = "S2_open_liquidation"
	StopSanctioned  StopCode = "S3_sanctions_identifier"
)

// FloorCode names a finding below whose value the score cannot fall.
type FloorCode string

// The floors.
const (
	FloorDormant             FloorCode = "dormant"
	FloorPlan                FloorCode = "plan"
	FloorSafeguard           FloorCode = "sauvegarde"
	FloorReorganisation      FloorCode = "redressement"
	FloorUnclassifiedNotice  FloorCode = "unclassified_notice"
	FloorIdentifiersDisagree FloorCode = "identifiers_disagree"
	FloorNegativeEquity      FloorCode = "negative_equity"
	FloorSanctionsNamesake   FloorCode = "sanctions_namesake"
	FloorSanctionsStrong     FloorCode = "sanctions_strong"
	FloorOfficer             FloorCode = "officer_name_and_birth"
	FloorDebarment           FloorCode = "debarment_candidate"
	FloorAdverseCoverage     FloorCode = "adverse_coverage"
	FloorFATFCall            FloorCode = "fatf_call"
	FloorFamilyHigh          FloorCode = "family_high"   // one family is very bad: the others must not dilute it
	FloorFamilyRaised        FloorCode = "family_raised" // one family is bad
)

var floorCodes = []FloorCode{
	FloorDormant, FloorPlan, FloorSafeguard, FloorReorganisation, FloorUnclassifiedNotice, FloorIdentifiersDisagree,
	FloorNegativeEquity, FloorSanctionsNamesake, FloorSanctionsStrong, FloorOfficer, FloorDebarment, FloorAdverseCoverage,
	FloorFATFCall, FloorFamilyHigh, FloorFamilyRaised,
}

// ReviewCode names what a person has to look at.
type ReviewCode string

// The review flags.
const (
	ReviewDormant             ReviewCode = "R1_dormant"
	ReviewUnclassifiedNotice  ReviewCode = "R2_unclassified_notice"
	ReviewIdentifiersDisagree ReviewCode = "R3_identifiers_disagree"
	ReviewAskAccounts         ReviewCode = "R4_ask_for_accounts"
	ReviewSanctionsNotDone    ReviewCode = "R5_sanctions_not_screened"
	ReviewSanctionsNamesake   ReviewCode = "R6_sanctions_namesake"
	ReviewSanctionsStrong     ReviewCode = "R7_sanctions_candidate"
	ReviewOfficerNamesake     ReviewCode = "R8_officer_namesake"
	ReviewDebarment           ReviewCode = "R9_debarment_candidate"
	ReviewSingleSourceStory   ReviewCode = "R10_single_source_story"
	ReviewMandatoryMissing    ReviewCode = "R11_mandatory_check_missing"
	ReviewCorroboratedStory   ReviewCode = "R12_corroborated_story"
	ReviewMediaNotDone        ReviewCode = "R13_media_search_not_done"
	ReviewLowCoverage         ReviewCode = "R14_low_coverage"
)

// NoteCode says why a LOW rating was raised.
type NoteCode string

// The notes.
const (
	NoteMandatoryMissing NoteCode = "low_forbidden_mandatory_check_missing"
	NoteLowCoverage      NoteCode = "low_forbidden_low_coverage"
)

// Stop is a stop and the evidence behind it.
type Stop struct {
	Code     StopCode `json:"code"`
	Evidence []string `json:"evidence,omitempty"`
}

// Floor is a floor that applied, whether or not it raised the score.
type Floor struct {
	Code   FloorCode `json:"code"`
	Value  int       `json:"value"`
	Family string    `json:"family,omitempty"` // of the two family floors
}

// Factor is one scored or missing factor. Points is nil exactly when Missing is
// set.
type Factor struct {
	ID       string   `json:"id"`
	Weight   int      `json:"weight"` // inside its family, of 100
	Points   *int     `json:"points"` // 0 to 100, 100 worst
	Rule     string   `json:"rule,omitempty"`
	Value    string   `json:"value,omitempty"` // what the rule looked at, in Unit
	Unit     string   `json:"unit,omitempty"`
	Missing  Reason   `json:"missing,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

// Family is the outcome of one family of factors.
type Family struct {
	ID       string   `json:"id"`
	Weight   int      `json:"weight"`   // of 100
	Score    *Tenths  `json:"score"`    // over its known factors; nil when none is known
	Coverage int      `json:"coverage"` // weight of its known factors, of 100
	Factors  []Factor `json:"factors"`
}

// RejectedAccount is a filing that a plausibility rule put aside.
type RejectedAccount struct {
	YearEnd   string `json:"year_end"`
	Perimeter string `json:"perimeter"`
	Why       string `json:"why"` // closing_date_in_future, equity_ratio_out_of_range, conflicting_duplicate, unreadable_date, figure_out_of_range
}

// Result is a score with everything it was made of.
type Result struct {
	Model            string            `json:"model"`
	ModelHash        string            `json:"model_hash"`
	AsOf             string            `json:"as_of"`
	Score            *Tenths           `json:"score"`    // nil for a stop, for insufficient data and when nothing is known
	Base             *Tenths           `json:"base"`     // before floors; nil when nothing is known
	Interval         [2]Tenths         `json:"interval"` // base if everything missing were best, and worst
	Coverage         Tenths            `json:"coverage"` // per cent of the weight that is known
	Rating           Rating            `json:"rating"`
	Decision         Decision          `json:"decision"`
	Stops            []Stop            `json:"stops"`
	MandatoryMissing []string          `json:"mandatory_missing"` // factor ids
	Floors           []Floor           `json:"floors"`
	Reviews          []ReviewCode      `json:"reviews"`
	Notes            []NoteCode        `json:"notes"`
	RejectedAccounts []RejectedAccount `json:"rejected_accounts"`
	Families         []Family          `json:"families"`
}
