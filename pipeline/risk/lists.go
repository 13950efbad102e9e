// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	_ "embed" // the country and sector lists
	"encoding/json"
	"slices"
	"strings"
)

//go:embed lists.json
var listFile []byte

// lists holds countries by ISO 3166 code and activities by the start of their
// NAF rev. 2 code. The version is the day of the FATF plenary the lists follow.
var lists = func() (l struct {
	Version       string   `json:"version"`
	EUEEA         []string `json:"eu_eea"`
	FATFIncreased []string `json:"fatf_increased"`
	FATFCall      []string `json:"fatf_call"`
	VigilanceNAF  []string `json:"vigilance_naf"`
},
) {
	if err := json.Unmarshal(listFile, &l); err != nil {
		panic(err) // the embedded file is part of the program
	}
	return l
}()

// ListsVersion returns the day of the FATF plenary that the built-in country
// lists follow, as an ISO date.
func ListsVersion() string { return lists.Version }

// CountryOf returns the class of an ISO 3166 alpha-2 country code, "" for
// anything else. A FATF list outweighs membership of the EU.
func CountryOf(code string) Country {
	switch {
	case len(code) != 2 || strings.ToUpper(code) != code:
		return ""
	case slices.Contains(lists.FATFCall, code):
		return CountryFATFCall
	case slices.Contains(lists.FATFIncreased, code):
		return CountryFATFIncreased
	case slices.Contains(lists.EUEEA, code):
		return CountryEU
	}
	return CountryOther
}

// SectorOf returns the class of a NAF rev. 2 code such as "49.41A", "" for
// none. Building, haulage, catering, temporary work, guarding and cleaning are
// where illegal work is most often found, and so where a buyer has to look.
func SectorOf(naf string) Sector {
	if naf == "" {
		return ""
	}
	for _, prefix := range lists.VigilanceNAF {
		if strings.HasPrefix(naf, prefix) {
			return SectorVigilance
		}
	}
	return SectorNormal
}
