// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package risk

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the built-in model file
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

//go:embed sdd-1.json
var builtIn []byte

// ErrModel is what every error of [ParseModel] is.
var ErrModel = errors.New("risk: bad model file")

// Model is a set of weights, points, bands, floors and limits: company policy,
// kept in a file whose hash every result carries. Make one with [ParseModel];
// it is immutable and safe for concurrent use.
type Model struct {
	file modelFile
	hash string
}

type (
	modelFile struct {
		Name     string        `json:"name"`
		Families []modelFamily `json:"families"`
		Media    struct {
			Share     int    `json:"share_pct"`
			Decay     []band `json:"decay"` // by age in months, per cent
			Domains   int    `json:"corroboration_domains"`
			FloorFrom int    `json:"floor_from"`
		} `json:"media"`
		Ratings []struct {
			Below  *int   `json:"below"`
			Rating Rating `json:"rating"`
		} `json:"ratings"`
		Floors   map[FloorCode]int `json:"floors"`
		Dilution struct {
			CoverageMin int      `json:"family_coverage_min"`
			RaisedFrom  int      `json:"raised_from"`
			HighFrom    int      `json:"high_from"`
			Exempt      []string `json:"exempt"`
		} `json:"dilution_guard"`
		Coverage struct {
			Insufficient int `json:"insufficient_below"`
			LowForbidden int `json:"low_forbidden_below"`
		} `json:"coverage"`
		AccountsMonths int   `json:"accounts_usable_months"`
		ThinMargin     int64 `json:"thin_margin_below_pct"`
	}
	modelFamily struct {
		ID      string        `json:"id"`
		Weight  int           `json:"weight"`
		Factors []modelFactor `json:"factors"`
	}
	modelFactor struct {
		ID        string         `json:"id"`
		Weight    int            `json:"weight"`
		Mandatory bool           `json:"mandatory"`
		Points    map[string]int `json:"points"`
		Bands     []band         `json:"bands"`
		Unit      string         `json:"unit"`
	}
	// band holds the values below a bound, or up to and including it; the last
	// band of a list has neither and holds the rest.
	band struct {
		Below  *int64 `json:"below"`
		UpTo   *int64 `json:"upto"`
		Points int    `json:"points"`
	}
)

var defaultModel = func() *Model {
	m, err := ParseModel(builtIn)
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return m
}()

// DefaultModel returns the built-in model, sdd-1.0.0.
func DefaultModel() *Model { return defaultModel }

// DefaultModelFile returns a copy of the built-in model's file, to start a
// company's own from.
func DefaultModelFile() []byte { return bytes.Clone(builtIn) }

// ParseModel reads a model file. It must name every family, factor, choice and
// floor that the code scores and no other; weights must add up to 100 in each
// family and over the families; points lie between 0 and 100; bands rise and end
// with a catch-all. Anything else is an error that is an [ErrModel].
func ParseModel(data []byte) (*Model, error) {
	var f modelFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%w: text after the object", ErrModel)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	sum := sha256.Sum256(data)
	return &Model{file: f, hash: hex.EncodeToString(sum[:])}, nil
}

// Name returns the model's name and version.
func (m *Model) Name() string { return m.file.Name }

// Hash returns the SHA-256 of the model file, in hexadecimal.
func (m *Model) Hash() string { return m.hash }

func (f *modelFile) check() error {
	if f.Name == "" {
		return errors.New("no name")
	}
	if len(f.Families) != len(layout) {
		return fmt.Errorf("wanted %d families, got %d", len(layout), len(f.Families))
	}
	total := 0
	for i, want := range layout {
		fam := f.Families[i]
		total += fam.Weight
		if fam.ID != want.family || fam.Weight < 0 {
			return fmt.Errorf("family %d: wanted %q with a weight, got %q", i+1, want.family, fam.ID)
		}
		if err := fam.check(want.factors); err != nil {
			return fmt.Errorf("family %s: %w", fam.ID, err)
		}
	}
	if total != 100 {
		return fmt.Errorf("family weights add up to %d, not 100", total)
	}
	return errors.Join(f.checkLimits(), f.checkFloors(), checkBands(f.Media.Decay))
}

func (fam modelFamily) check(want []factorLayout) error {
	if len(fam.Factors) != len(want) {
		return fmt.Errorf("wanted %d factors, got %d", len(want), len(fam.Factors))
	}
	total := 0
	for i, w := range want {
		x := fam.Factors[i]
		total += x.Weight
		if x.ID != w.id || x.Weight < 0 {
			return fmt.Errorf("factor %d: wanted %q with a weight, got %q", i+1, w.id, x.ID)
		}
		if err := x.check(w); err != nil {
			return fmt.Errorf("%s: %w", x.ID, err)
		}
	}
	if total != 100 {
		return fmt.Errorf("weights add up to %d, not 100", total)
	}
	return nil
}

func (x modelFactor) check(w factorLayout) error {
	if w.scale == byBand {
		return checkBands(x.Bands)
	}
	if len(x.Points) != len(w.choices) {
		return fmt.Errorf("wanted points for %v", w.choices)
	}
	for _, c := range w.choices {
		if p, ok := x.Points[c]; !ok || p < 0 || p > 100 {
			return fmt.Errorf("wanted points between 0 and 100 for %q", c)
		}
	}
	return nil
}

func checkBands(bands []band) error {
	if len(bands) == 0 {
		return errors.New("no bands")
	}
	for i, b := range bands {
		last := i == len(bands)-1
		bounds := 0
		if b.Below != nil {
			bounds++
		}
		if b.UpTo != nil {
			bounds++
		}
		switch {
		case b.Points < 0 || b.Points > 100:
			return fmt.Errorf("band %d: points outside 0 to 100", i+1)
		case last && bounds != 0, !last && bounds != 1:
			return fmt.Errorf("band %d: every band but the last has one bound", i+1)
		case i > 0 && !last && b.bound() <= bands[i-1].bound():
			return fmt.Errorf("band %d: bounds do not rise", i+1)
		}
	}
	return nil
}

func (b band) bound() int64 {
	if b.Below != nil {
		return *b.Below
	}
	return *b.UpTo
}

func (f *modelFile) checkFloors() error {
	if len(f.Floors) != len(floorCodes) {
		return fmt.Errorf("wanted floors for %v", floorCodes)
	}
	for _, c := range floorCodes {
		if v, ok := f.Floors[c]; !ok || v < 0 || v > 100 {
			return fmt.Errorf("wanted a floor between 0 and 100 for %q", c)
		}
	}
	return nil
}

func (f *modelFile) checkLimits() error {
	below := 0
	for i, r := range f.Ratings {
		last := i == len(f.Ratings)-1
		switch {
		case (r.Below == nil) != last:
			return errors.New("ratings: every rating but the last has a bound")
		case !last && *r.Below <= below:
			return errors.New("ratings: bounds do not rise")
		case i >= len(ratingOrder) || r.Rating != ratingOrder[i]:
			return fmt.Errorf("ratings: wanted %v in this order", ratingOrder)
		}
		if !last {
			below = *r.Below
		}
	}
	switch {
	case len(f.Ratings) != len(ratingOrder):
		return fmt.Errorf("ratings: wanted %v", ratingOrder)
	case f.AccountsMonths <= 0 || f.Media.Domains < 1 || f.Media.Share < 0 || f.Media.Share > 100 || f.ThinMargin < 0:
		return errors.New("a limit is out of range")
	case f.Coverage.Insufficient < 0 || f.Coverage.LowForbidden > 100 || f.Coverage.Insufficient > f.Coverage.LowForbidden:
		return errors.New("coverage limits out of range")
	}
	return nil
}
