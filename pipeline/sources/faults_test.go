// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

const brumeval = "999990005" // the healthy company of the payloads

var subject = supplier.Subject{LegalName: "ATELIER BRUMEVAL", Country: "FR", SIREN: brumeval}

func payload(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "payloads", name))
	require.NoError(t, err)
	return string(b)
}

// standIn serves h on a local port and returns a live client whose sources are
// all there.
func standIn(t *testing.T, h http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := New(Options{
		Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: allBases(server.URL),
		Timeout: 2 * time.Second, RetryWait: time.Millisecond,
		Clock: func() time.Time { return SampleDate },
	})
	require.NoError(t, err)
	return c
}

func allBases(url string) BaseURLs {
	return BaseURLs{RechercheEntreprises: url, BODACC: url, Ratios: url, AssetFreezes: url, GDELT: url, GLEIF: url, VIES: url}
}

// answering serves the same body to every request.
func answering(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// lookups are the questions that every source must answer with a value whatever
// the network does.
var lookups = []struct {
	name  string
	good  string // a payload about brumeval
	empty string
	wrong string // a good answer about another company; "" where answers name none
	skip  string // faults that are no fault here
	ask   func(context.Context, *Client) Envelope
}{
	{
		"recherche_entreprises", "recherche_entreprises.search.one.json", "recherche_entreprises.search.empty.json", "recherche_entreprises.search.ceased.json", "",
		func(ctx context.Context, c *Client) Envelope { return c.company(ctx, brumeval).Envelope },
	},
	{
		"bodacc", "bodacc.collective.cancelled_notice.json", "bodacc.none.json", "bodacc.collective.liquidation_open.json", "",
		func(ctx context.Context, c *Client) Envelope { return c.procedures(ctx, brumeval).Envelope },
	},
	{
		"ratios_inpi_bce", "ratios_inpi_bce.ok.json", "ratios_inpi_bce.empty.json", "ratios_inpi_bce.losses_negative_equity.json", "",
		func(ctx context.Context, c *Client) Envelope { return c.accounts(ctx, brumeval).Envelope },
	},
	{
		"gleif", "gleif.lei-records.one.json", "gleif.lei-records.none.json", "gleif.lei-records.german.json", "",
		func(ctx context.Context, c *Client) Envelope { return c.leiRecord(ctx, subject).Envelope },
	},
	{
		"vies", "vies.get.valid.json", "", "vies.get.invalid.json", "siren as number",
		func(ctx context.Context, c *Client) Envelope {
			return c.vatCheck(ctx, subject, []string{"FR05999990005"}).Envelope
		},
	},
	{
		"gdelt", "gdelt.injection.json", "gdelt.empty.json", "", "siren as number, empty object",
		func(ctx context.Context, c *Client) Envelope { return c.news(ctx, subject).Envelope },
	},
	{
		"gels_avoirs", "", "", "", "siren as number, too large",
		func(ctx context.Context, c *Client) Envelope { return c.Reputation(ctx, subject).Sanctions.Envelope },
	},
}

func TestFaults(t *testing.T) {
	const page = "<html><body>Veuillez vous connecter</body></html>"
	elsewhere := httptest.NewServer(answering(200, "application/json", "{}"))
	t.Cleanup(elsewhere.Close)
	for _, l := range lookups {
		good := string(sampleFreezes()) // the one answer too large for a file
		if l.good != "" {
			good = payload(t, l.good)
		}
		for _, f := range []struct {
			name   string
			h      http.Handler
			status Status
			code   string
		}{
			{"200", answering(200, "application/json", good), StatusOK, ""},
			{"empty", answering(200, "application/json", optional(t, l.empty)), StatusNotFound, ""},
			{"other company", answering(200, "application/json", optional(t, l.wrong)), StatusInvalid, FailOtherCompany},
			{"truncated", answering(200, "application/json", good[:len(good)/2]), StatusInvalid, FailMalformed},
			{"two values", answering(200, "application/json", good+good), StatusInvalid, FailMalformed},
			{"empty object", answering(200, "application/json", "{}"), StatusInvalid, FailMalformed},
			{"null", answering(200, "application/json", "null"), StatusInvalid, FailMalformed},
			{"no body", answering(200, "application/json", ""), StatusInvalid, FailMalformed},
			{"nested too deep", answering(200, "application/json", strings.Repeat(`{"results":[`, 20000)), StatusInvalid, FailMalformed},
			{"siren as number", answering(200, "application/json", strings.ReplaceAll(good, `"`+brumeval+`"`, brumeval)), StatusInvalid, FailMalformed},
			{"login page", answering(200, "text/html; charset=utf-8", page), StatusInvalid, FailNotJSON},
			{"login page called JSON", answering(200, "application/json", page), StatusInvalid, FailNotJSON},
			{"400", answering(400, "application/json", payload(t, "recherche_entreprises.error400.json")), StatusInvalid, FailHTTPStatus},
			{"403", answering(403, "text/html", page), StatusUnavailable, FailHTTPStatus},
			{"404", answering(404, "text/html", page), StatusUnavailable, FailHTTPStatus},
			{"429", limited("0"), StatusRateLimited, FailRateLimit},
			{"500 page", answering(500, "text/html", page), StatusUnavailable, FailHTTPStatus},
			{"500 JSON", answering(500, "application/json", payload(t, "recherche_entreprises.error500.json")), StatusUnavailable, FailHTTPStatus},
			{"redirect to another host", redirect(elsewhere.URL), StatusInvalid, FailRedirect},
			{"redirect to another scheme", redirect("https://127.0.0.1/"), StatusInvalid, FailRedirect},
			{"redirect for ever", loop(), StatusInvalid, FailRedirect},
			{"too large", answering(200, "application/json", strings.Repeat(" ", maxAnswer+1)), StatusInvalid, FailTooLarge},
			{"cut connection", cutShort(), StatusUnavailable, FailNetwork},
		} {
			t.Run(l.name+"/"+f.name, func(t *testing.T) {
				if strings.Contains(l.skip, f.name) || f.name == "empty" && l.empty == "" || f.name == "other company" && l.wrong == "" {
					t.Skip("no fault for this source")
				}
				env := l.ask(t.Context(), standIn(t, f.h))
				if f.name == "200" && l.good == "" {
					f.status = StatusNotFound // the list was read and names nobody
				}
				require.Equal(t, f.status, env.Status, "%+v", env.Error)
				if f.code == "" {
					require.Nil(t, env.Error)
					require.NotEmpty(t, env.Evidence)
				} else {
					require.Equal(t, f.code, env.Error.Code)
					require.Empty(t, env.Evidence, "a failed look-up proves nothing")
					require.NotContains(t, env.Error.Text, "connecter")
				}
				require.Equal(t, l.name, env.Source)
				require.Equal(t, SampleDate, env.RetrievedAt)
			})
		}
	}
}

// optional reads a payload that a source may not have.
func optional(t *testing.T, name string) string {
	if name == "" {
		return ""
	}
	return payload(t, name)
}

func limited(after string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		http.Error(w, "429 Too Many Requests", http.StatusTooManyRequests)
	})
}

func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
}

func loop() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) })
}

func cutShort() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("{"))
	})
}

func TestServerErrorIsAskedAgain(t *testing.T) {
	calls := 0
	c := standIn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls < 3 {
			http.Error(w, "", http.StatusBadGateway)
			return
		}
		answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json")).ServeHTTP(w, r)
	}))
	require.Equal(t, StatusOK, c.company(t.Context(), brumeval).Status)
	require.Equal(t, 3, calls)
}

// inBubble runs f with a live client whose transport is h and whose time is
// virtual; it returns how long f took.
func inBubble(t *testing.T, h http.Handler, f func(ctx context.Context, c *Client)) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{Mode: ModeLive, Transport: handlerTransport{h}})
		require.NoError(t, err)
		start := time.Now()
		f(t.Context(), c)
		took = time.Since(start)
	})
	return took
}

func TestRetryAfterIsHonouredOnce(t *testing.T) {
	for _, x := range []struct {
		header string
		wait   time.Duration
	}{{"2", 2 * time.Second}, {"3600", maxRetryAfter}, {"", defaultRetryWait}, {"soon", defaultRetryWait}, {"-4", defaultRetryWait}} {
		calls := 0
		took := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			limited(x.header).ServeHTTP(w, r)
		}), func(ctx context.Context, c *Client) {
			require.Equal(t, StatusRateLimited, c.company(ctx, brumeval).Status)
		})
		require.Equal(t, 2, calls, x.header)
		require.Equal(t, x.wait, took, x.header)
	}
}

func TestSilenceEndsAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{Mode: ModeLive, Transport: silent{}})
		require.NoError(t, err)
		start := time.Now()
		env := c.company(t.Context(), brumeval).Envelope
		require.Equal(t, StatusUnavailable, env.Status)
		require.Equal(t, FailTimeout, env.Error.Code)
		require.Equal(t, DefaultTimeout, time.Since(start))
	})
}

func TestCancelledRunReadsUnavailable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, l := range lookups {
		env := l.ask(ctx, standIn(t, answering(200, "application/json", "{}")))
		require.Equal(t, StatusUnavailable, env.Status)
		require.Equal(t, FailCancelled, env.Error.Code)
	}
}

// silent never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestRateLimitOfTheOfficialHost(t *testing.T) {
	took := inBubble(t, answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json")), func(ctx context.Context, c *Client) {
		for range 9 {
			require.Equal(t, StatusOK, c.company(ctx, brumeval).Status)
		}
	})
	require.Equal(t, 2*time.Second, took, "four a second")
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	server := httptest.NewServer(answering(200, "application/json", "{}"))
	t.Cleanup(server.Close)
	o := Options{Timeout: DefaultTimeout}
	resp, err := (&http.Client{Transport: newTransport(o)}).Get(server.URL)
	if err == nil {
		resp.Body.Close()
	}
	require.Error(t, err)
	var env Envelope
	env.failNetwork(t.Context(), err)
	require.Equal(t, FailBlocked, env.Error.Code, "%v", err)
}

func TestRequestsNameTheProgramAndCarryNoCookie(t *testing.T) {
	var seen []http.Header
	c := standIn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
		answering(200, "application/json", payload(t, "recherche_entreprises.search.one.json")).ServeHTTP(w, r)
	}))
	for range 2 {
		require.Equal(t, StatusOK, c.company(t.Context(), brumeval).Status)
	}
	require.Len(t, seen, 2)
	require.Equal(t, DefaultUserAgent, seen[1].Get("User-Agent"))
	require.Empty(t, seen[1].Get("Cookie"))
	require.Equal(t, []string{"127.0.0.1"}, c.Hosts())
	require.Len(t, c.Overrides(), 7)
}

func TestNonsenseOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"mode":               {Mode: "other"},
		"sample with base":   {BaseURLs: BaseURLs{BODACC: "http://127.0.0.1"}},
		"sample transport":   {Transport: http.DefaultTransport},
		"negative timeout":   {Timeout: -1},
		"negative wait":      {RetryWait: -1},
		"future as-of":       {AsOf: SampleDate.AddDate(0, 0, 1)},
		"loopback":           {Mode: ModeLive, BaseURLs: BaseURLs{BODACC: "http://127.0.0.1"}},
		"look-alike":         {Mode: ModeLive, BaseURLs: BaseURLs{RechercheEntreprises: "https://recherche-entreprises.api.gouv.fr@evil.example"}},
		"look-alike allowed": {Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: BaseURLs{RechercheEntreprises: "https://recherche-entreprises.api.gouv.fr@evil.example"}},
		"scheme":             {Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: BaseURLs{BODACC: "file:///etc/passwd"}},
		"query":              {Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: BaseURLs{BODACC: "http://127.0.0.1?x=1"}},
		"trailing slash":     {Mode: ModeLive, AllowPrivateHosts: true, BaseURLs: BaseURLs{BODACC: "http://127.0.0.1/"}},
	} {
		_, err := New(o)
		require.ErrorIs(t, err, ErrOptions, name)
	}
	_, err := New(Options{Mode: ModeLive, BaseURLs: BaseURLs{BODACC: "https://bodacc-datadila.opendatasoft.com"}})
	require.NoError(t, err, "the official address needs no leave")
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	const total = 250
	record := func(i int) string {
		return fmt.Sprintf(`{"id":"A2026%04d1","typeavis":"annonce","familleavis":"collective","dateparution":"2026-01-02","registre":["999990005"]}`, i)
	}
	c := standIn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offset := intParam(r, "offset", 0, 0, total)
		var page []string
		for i := offset; i < min(offset+100, total); i++ {
			page = append(page, record(i))
		}
		answering(200, "application/json", fmt.Sprintf(`{"total_count":%d,"results":[%s]}`, total, strings.Join(page, ","))).ServeHTTP(w, r)
	}))
	a := c.procedures(t.Context(), brumeval)
	require.Equal(t, StatusOK, a.Status)
	require.Len(t, a.Items, total)
	require.False(t, a.Truncated)
	require.Len(t, strings.Fields(a.SHA256), 3)
}

func jsonText(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// jsonSIREN is the SIREN of a payload's first record.
func jsonSIREN(t testing.TB, file string) string {
	t.Helper()
	var a odsAnswer[struct {
		SIREN string `json:"siren"`
	}]
	require.NoError(t, json.Unmarshal([]byte(payload(t, file)), &a))
	return (*a.Results)[0].SIREN
}
