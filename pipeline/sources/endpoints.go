// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"errors"
	"fmt"
	"net/url"
)

// BaseURLs holds the root address of each source, without a trailing slash. An
// empty field means the official one. Any other host is refused unless
// [Options.AllowPrivateHosts] is set.
type BaseURLs struct {
	RechercheEntreprises string // https://recherche-entreprises.api.gouv.fr
	BODACC               string // https://bodacc-datadila.opendatasoft.com
	Ratios               string // https://data.economie.gouv.fr
	AssetFreezes         string // https://gels-avoirs.dgtresor.gouv.fr
	GDELT                string // https://api.gdeltproject.org
	GLEIF                string // https://api.gleif.org
	VIES                 string // https://ec.europa.eu
}

// source is one public API.
type source struct {
	name     string
	licence  string
	base     string // root address in use
	official string
	limit    *limiter // nil: not limited
	maxBody  int64
}

const etalab = "Licence Ouverte 2.0"

func (c *Client) setSources() error {
	o := c.options.BaseURLs
	for _, e := range []struct {
		to       *source
		override string
		perSec   float64
		source
	}{
		{&c.recherche, o.RechercheEntreprises, 4, source{name: "recherche_entreprises", licence: etalab, official: "https://recherche-entreprises.api.gouv.fr", maxBody: maxAnswer}},
		{&c.bodacc, o.BODACC, 5, source{name: "bodacc", licence: etalab, official: "https://bodacc-datadila.opendatasoft.com", maxBody: maxAnswer}},
		{&c.ratios, o.Ratios, 5, source{name: "ratios_inpi_bce", licence: etalab, official: "https://data.economie.gouv.fr", maxBody: maxAnswer}},
		{&c.freezes, o.AssetFreezes, 1, source{name: "gels_avoirs", licence: etalab, official: "https://gels-avoirs.dgtresor.gouv.fr", maxBody: maxList}},
		{&c.gdelt, o.GDELT, 0.2, source{name: "gdelt", licence: "GDELT terms of use", official: "https://api.gdeltproject.org", maxBody: maxAnswer}},
		{&c.gleif, o.GLEIF, 1, source{name: "gleif", licence: "CC0 1.0", official: "https://api.gleif.org", maxBody: maxAnswer}},
		{&c.vies, o.VIES, 2, source{name: "vies", licence: "European Commission", official: "https://ec.europa.eu", maxBody: maxAnswer}},
	} {
		src := e.source
		src.base = src.official
		if e.override != "" && e.override != src.official {
			if err := checkBase(e.override, c.options.AllowPrivateHosts); err != nil {
				return fmt.Errorf("%w: base URL of %s: %w", ErrOptions, src.name, err)
			}
			src.base = e.override
			c.overrides = append(c.overrides, src.name+"="+e.override)
		} else if c.options.Mode.asks() {
			src.limit = newLimiter(e.perSec) // the official hosts publish these limits or ask for less
		}
		*e.to = src
	}
	return nil
}

// checkBase refuses an address that is not an official one; the official ones
// never come here.
func checkBase(base string, allowOthers bool) error {
	u, err := url.Parse(base)
	if err != nil {
		return errors.New("not an address")
	}
	switch {
	case u.User != nil:
		return errors.New("carries user information")
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path[len(u.Path)-1] == '/'):
		return errors.New("wanted scheme://host[/path] and nothing else")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("wanted http or https")
	case !allowOthers:
		return fmt.Errorf("host %q is not on the fixed list (AllowPrivateHosts lifts this)", u.Hostname())
	}
	return nil
}
