// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

// Families of factors.
const (
	FamilyLegal     = "legal"
	FamilyFinance   = "finance"
	FamilyIntegrity = "integrity"
	FamilyExposure  = "exposure"
)

// Factor ids.
const (
	L1Status       = "L1_status"
	L2Insolvency   = "L2_insolvency"
	L3Age          = "L3_age"
	L4Changes      = "L4_changes"
	L5Identity     = "L5_identity"
	F1Equity       = "F1_equity"
	F2Repayment    = "F2_repayment"
	F3Liquidity    = "F3_liquidity"
	F4Result       = "F4_result"
	F5RevenueTrend = "F5_revenue_trend"
	F6Payment      = "F6_payment"
	F7Transparency = "F7_transparency"
	I1Sanctions    = "I1_sanctions"
	I2Officers     = "I2_officers"
	I3Debarment    = "I3_debarment"
	I4Media        = "I4_media"
	X1Country      = "X1_country"
	X2Sector       = "X2_sector"
	X3Dependency   = "X3_dependency"
)

// How a factor's points are found: by a named choice, by a band of a number, or
// by the media rule.
type scale int

const (
	byChoice scale = iota
	byBand
	byMedia
)

// layout is what the code knows how to score; a model file sets the weights,
// points and bands of exactly these.
var layout = []struct {
	family  string
	factors []factorLayout
}{
	{FamilyLegal, []factorLayout{
		{L1Status, byChoice, []string{"active", "dormant", "ceased"}},
		{L2Insolvency, byChoice, []string{
			string(InsolvencyNone), string(InsolvencyClosed), string(InsolvencyConciliation), string(InsolvencyPlan),
			string(InsolvencySafeguard), string(InsolvencyUnclassified), string(InsolvencyReorganisation), string(InsolvencyLiquidation),
		}},
		{L3Age, byBand, nil},
		{L4Changes, byBand, nil},
		{L5Identity, byChoice, []string{string(IdentityMatch), string(IdentityMismatch)}},
	}},
	{FamilyFinance, []factorLayout{
		{F1Equity, byBand, nil},
		{F2Repayment, byBand, nil},
		{F3Liquidity, byBand, nil},
		{F4Result, byChoice, []string{"profit", "thin_margin", "loss", "two_losses"}},
		{F5RevenueTrend, byBand, nil},
		{F6Payment, byBand, nil},
		{F7Transparency, byChoice, []string{
			string(TransparencyPublic), string(TransparencyPartial), string(TransparencyConfidential), string(TransparencyNoneFiled),
		}},
	}},
	{FamilyIntegrity, []factorLayout{
		{I1Sanctions, byChoice, []string{string(SanctionsNone), string(SanctionsNameOnly), string(SanctionsStrong), string(SanctionsIdentifier)}},
		{I2Officers, byChoice, []string{string(OfficersNone), string(OfficersNameOnly), string(OfficersNameAndBirth)}},
		{I3Debarment, byChoice, []string{string(DebarmentNone), string(DebarmentCandidate)}},
		{I4Media, byMedia, nil},
	}},
	{FamilyExposure, []factorLayout{
		{X1Country, byChoice, []string{string(CountryEU), string(CountryOther), string(CountryFATFIncreased), string(CountryFATFCall)}},
		{X2Sector, byChoice, []string{string(SectorNormal), string(SectorVigilance)}},
		{X3Dependency, byBand, nil},
	}},
}

type factorLayout struct {
	id      string
	scale   scale
	choices []string
}
