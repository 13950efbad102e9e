// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Mode says where answers come from.
type Mode string

// The modes of a [Client].
const (
	ModeSample Mode = "sample" // the embedded fictional companies; no network
	ModeLive   Mode = "live"   // the public APIs
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
}

// Options configures a [Client]. The zero value reads the sample set.
type Options struct {
	// Mode is where answers come from; empty means ModeSample.
	Mode Mode
	// BaseURLs overrides official addresses, for tests and mirrors; refused in
	// ModeSample, which contacts nobody.
	BaseURLs BaseURLs
	// Transport carries the requests of ModeLive; nil means a transport of the
	// client's own that uses no proxy, keeps no cookies and refuses private,
	// loopback and reserved addresses after name resolution. A transport given
	// here must take care of that itself. Refused in ModeSample.
	Transport http.RoundTripper
	// UserAgent names the program to the sources, which ask for one; empty
	// means DefaultUserAgent.
	UserAgent string
	// Timeout bounds one look-up, retries included, waiting for a rate limit
	// not; zero means DefaultTimeout, negative is an error.
	Timeout time.Duration
	// RetryWait is the pause before the first retry of a 5xx or network
	// failure, doubled for the second; zero means half a second, negative is an
	// error. ModeSample never waits.
	RetryWait time.Duration
	// Clock dates the answers; nil means time.Now, and in ModeSample
	// SampleDate, so that a sample run is the same today and in ten years.
	Clock func() time.Time
	// AsOf is the day the facts are judged at; later notices and accounts are
	// left out. Zero means today by Clock; a day after that is an error.
	AsOf time.Time
	// AllowPrivateHosts accepts base URLs on any host, over plain HTTP too, and
	// lets the client connect to private addresses. For stand-ins only: see
	// [Client.Overrides].
	AllowPrivateHosts bool
}

// Defaults of [Options].
const (
	DefaultUserAgent = "gardefou-duediligence (+https://github.com/gardefou/gardefou)"
	DefaultTimeout   = 20 * time.Second
	defaultRetryWait = 500 * time.Millisecond
)

// ErrOptions is what every error of [New] is.
var ErrOptions = errors.New("sources: bad options")

// New returns a client for o, or an error that says which option has no sense.
func New(o Options) (*Client, error) {
	if o.Mode == "" {
		o.Mode = ModeSample
	}
	switch {
	case o.Mode != ModeSample && o.Mode != ModeLive:
		return nil, fmt.Errorf("%w: unknown mode %q", ErrOptions, o.Mode)
	case o.Mode == ModeSample && (o.BaseURLs != BaseURLs{} || o.Transport != nil):
		return nil, fmt.Errorf("%w: the sample set takes no base URL and no transport", ErrOptions)
	case o.Timeout < 0 || o.RetryWait < 0:
		return nil, fmt.Errorf("%w: negative duration", ErrOptions)
	}
	if o.UserAgent == "" {
		o.UserAgent = DefaultUserAgent
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.RetryWait == 0 {
		o.RetryWait = defaultRetryWait
	}
	if o.Clock == nil {
		o.Clock = time.Now
		if o.Mode == ModeSample {
			o.Clock = func() time.Time { return SampleDate }
		}
	}
	today := day(o.Clock())
	if o.AsOf.IsZero() {
		o.AsOf = today
	}
	if o.AsOf = day(o.AsOf); o.AsOf.After(today) {
		return nil, fmt.Errorf("%w: as-of date %s is in the future", ErrOptions, o.AsOf.Format(time.DateOnly))
	}
	c := &Client{options: o, contacted: map[string]bool{}}
	if err := c.setSources(); err != nil {
		return nil, err
	}
	c.http = newHTTP(o)
	return c, nil
}

// day is the UTC day of t.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// source is one public API.
type source struct {
	name     string
	licence  string
	base     string // root address in use
	official string
	limit    *limiter // nil: not limited
	maxBody  int64
}

// Caps on an answer, after decompression.
const (
	maxAnswer = 2 << 20
	maxList   = 32 << 20
)

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
	} {
		src := e.source
		src.base = src.official
		if e.override != "" && e.override != src.official {
			if err := checkBase(e.override, c.options.AllowPrivateHosts); err != nil {
				return fmt.Errorf("%w: base URL of %s: %w", ErrOptions, src.name, err)
			}
			src.base = e.override
			c.overrides = append(c.overrides, src.name+"="+e.override)
		} else if c.options.Mode == ModeLive {
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
