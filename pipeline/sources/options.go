// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Mode says where answers come from.
type Mode string

// The modes of a [Client].
const (
	ModeSample Mode = "sample" // the embedded fictional companies; no network
	ModeLive   Mode = "live"   // the public APIs
	ModeRecord Mode = "record" // ModeLive, and every answer is kept in a folder
	ModeReplay Mode = "replay" // such a folder, byte for byte; no network
)

// ParseMode reads "sample", "live", "record:DIR" or "replay:DIR".
func ParseMode(s string) (m Mode, dir string, err error) {
	name, dir, _ := strings.Cut(s, ":")
	switch m = Mode(name); m {
	case ModeSample, ModeLive:
		if name == s {
			return m, "", nil
		}
	case ModeRecord, ModeReplay:
		if dir != "" {
			return m, dir, nil
		}
	}
	return "", "", fmt.Errorf("%w: wanted sample, live, record:DIR or replay:DIR, got %q", ErrOptions, supplier.Clean(s, 60))
}

// asks reports whether the mode sends requests to the network.
func (m Mode) asks() bool { return m == ModeLive || m == ModeRecord }

// Options configures a [Client]. The zero value reads the sample set.
type Options struct {
	// Mode is where answers come from; empty means ModeSample.
	Mode Mode
	// Dir is the folder of ModeRecord and ModeReplay, refused elsewhere.
	// ModeRecord creates it.
	Dir string
	// CacheDir keeps answers between runs of ModeLive, and is refused elsewhere;
	// empty means no cache. It is created when absent.
	CacheDir string
	// CacheTTL is how long a kept answer is used; zero means a day, negative is
	// an error. The register of asset freezes asks for its own date first.
	CacheTTL time.Duration
	// BaseURLs overrides official addresses, for tests and mirrors; refused in
	// ModeSample, which contacts nobody. A replay needs those of its recording.
	BaseURLs BaseURLs
	// Transport carries the requests of ModeLive and ModeRecord; nil means a transport of the
	// client's own that uses no proxy, keeps no cookies and refuses private,
	// loopback and reserved addresses after name resolution. A transport given
	// here must take care of that itself. Refused in the other modes.
	Transport http.RoundTripper
	// UserAgent names the program to the sources, which ask for one; empty
	// means DefaultUserAgent.
	UserAgent string
	// Timeout bounds one look-up, retries included, waiting for a rate limit
	// not; zero means DefaultTimeout, negative is an error.
	Timeout time.Duration
	// RetryWait is the pause before the first retry of a 5xx or network
	// failure, doubled for the second; zero means half a second, negative is an
	// error. Modes without a network never wait.
	RetryWait time.Duration
	// Clock dates the answers; nil means time.Now, and SampleDate in ModeSample,
	// so that a sample run is the same today and in ten years. ModeRecord reads
	// it once, a recording being of one moment; ModeReplay ignores it and says
	// the time of the recording.
	Clock func() time.Time
	// AsOf is the day the facts are judged at; later notices and accounts are
	// left out. Zero means today by Clock, and in ModeReplay the day the
	// recording was judged at; a day after today is an error.
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
	defaultCacheTTL  = 24 * time.Hour
)

// ErrOptions is what every error of [New] is.
var ErrOptions = errors.New("sources: bad options")

// New returns a client for o, or an error that says which option has no sense.
// Close it after use in the modes that keep a folder open.
func New(o Options) (*Client, error) {
	if o.Mode == "" {
		o.Mode = ModeSample
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.setDefaults()
	c := &Client{contacted: map[string]bool{}}
	if err := c.openStore(&o); err != nil {
		return nil, err
	}
	today := day(o.Clock())
	if o.AsOf.IsZero() {
		o.AsOf = today
	}
	if o.AsOf = day(o.AsOf); o.AsOf.After(today) {
		return nil, fmt.Errorf("%w: as-of date %s is in the future", ErrOptions, o.AsOf.Format(time.DateOnly))
	}
	if o.Mode == ModeRecord {
		if err := c.vault.writeManifest(manifest{RecordedAt: o.Clock(), AsOf: o.AsOf.Format(time.DateOnly)}); err != nil {
			return nil, err
		}
	}
	c.options = o
	if err := c.setSources(); err != nil {
		return nil, err
	}
	c.setTransport()
	return c, nil
}

func (o Options) check() error {
	var err error
	switch {
	case !slices.Contains([]Mode{ModeSample, ModeLive, ModeRecord, ModeReplay}, o.Mode):
		err = fmt.Errorf("unknown mode %q", o.Mode)
	case o.Mode == ModeSample && o.BaseURLs != BaseURLs{}:
		err = errors.New("the sample set takes no base URL")
	case !o.Mode.asks() && o.Transport != nil:
		err = errors.New("a mode without a network takes no transport")
	case (o.Mode == ModeRecord || o.Mode == ModeReplay) != (o.Dir != ""):
		err = errors.New("record and replay take a folder, and no other mode does")
	case o.CacheDir != "" && o.Mode != ModeLive:
		err = errors.New("only live answers are cached")
	case o.Timeout < 0 || o.RetryWait < 0 || o.CacheTTL < 0:
		err = errors.New("negative duration")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.UserAgent == "" {
		o.UserAgent = DefaultUserAgent
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.RetryWait == 0 {
		o.RetryWait = defaultRetryWait
	}
	if o.CacheTTL == 0 {
		o.CacheTTL = defaultCacheTTL
	}
	if o.Clock == nil {
		o.Clock = time.Now
		if o.Mode == ModeSample {
			o.Clock = func() time.Time { return SampleDate }
		}
	}
}

// openStore opens the folder that the mode works with and fixes the time that
// goes with it.
func (c *Client) openStore(o *Options) (err error) {
	switch {
	case o.Mode == ModeRecord:
		moment := o.Clock().UTC().Truncate(time.Second)
		o.Clock = func() time.Time { return moment }
		c.vault, err = openVault(o.Dir, true)
	case o.Mode == ModeReplay:
		if c.vault, err = openVault(o.Dir, false); err != nil {
			return err
		}
		var m manifest
		if m, err = c.vault.readManifest(); err != nil {
			return err
		}
		o.Clock = func() time.Time { return m.RecordedAt }
		if o.AsOf.IsZero() {
			o.AsOf, err = time.Parse(time.DateOnly, m.AsOf)
		}
	case o.CacheDir != "":
		c.vault, err = openVault(o.CacheDir, true)
	}
	return err
}

// setTransport stacks what the mode needs under the retrying client.
func (c *Client) setTransport() {
	o := c.options
	transport := o.Transport
	if o.Mode.asks() {
		if transport == nil {
			transport = newTransport(o)
		}
		transport = hostLog{transport, c}
	}
	switch {
	case o.Mode == ModeSample:
		transport = handlerTransport{SampleHandler()}
	case o.Mode == ModeReplay:
		transport = replayTransport{c.vault}
	case o.Mode == ModeRecord:
		t := &recordTransport{next: transport, vault: c.vault, clock: o.Clock}
		transport, c.storeError = t, t.first
	case c.vault != nil:
		t := &cacheTransport{next: transport, vault: c.vault, ttl: o.CacheTTL, clock: o.Clock}
		transport, c.storeError = t, t.first
	}
	wait := o.RetryWait
	if !o.Mode.asks() {
		wait = 0
	}
	c.http = newHTTP(transport, wait)
}

// day is the UTC day of t.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Caps on an answer, after decompression.
const (
	maxAnswer = 2 << 20
	maxList   = 32 << 20
)
