// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/gardefou/gardefou/pipeline/risk"
	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Story is one press story, the same wherever it appears.
type Story struct {
	Evidence string   `json:"evidence"`
	Title    string   `json:"title"`
	URL      string   `json:"url,omitempty"` // to show as text: never fetched, never a link
	Seen     string   `json:"seen"`          // ISO date of the oldest copy
	Months   int      `json:"months"`        // its age on the as-of date
	Domains  []string `json:"domains"`       // registrable domains that carry it, sorted
	Gravity  int      `json:"gravity"`       // of its worst word: 0 none, 25 minor, 50 civil or labour, 80 criminal inquiry, 100 conviction or sanction
	ToRead   string   `json:"to_read,omitempty"`
}

// stories keeps the articles whose title holds every word of the subject's
// name, merges the copies of a story, and sorts them by date.
func stories(articles []gdeltArticle, s supplier.Subject, asOf time.Time) []Story {
	name := supplier.Normalize(s.LegalName)
	if len(name.Tokens) == 0 {
		return []Story{}
	}
	articles = slices.Clone(articles)
	slices.SortStableFunc(articles, func(a, b gdeltArticle) int { return cmp.Or(cmp.Compare(a.Seen, b.Seen), cmp.Compare(a.URL, b.URL)) })
	out := []Story{}
	var words [][]string // significant words of each story's first title
	for _, art := range articles {
		seen, err := time.Parse(newsDateStamp, art.Seen)
		title := supplier.Clean(art.Title, supplier.MaxTitleLength)
		tokens := supplier.Words(title)
		if err != nil || day(seen).After(asOf) || !holdsAll(tokens, name.Tokens) {
			continue
		}
		story := Story{Title: title, URL: shownURL(art.URL), Seen: seen.Format(time.DateOnly), Months: risk.WholeMonths(day(seen), asOf), Domains: []string{}}
		story.Gravity, story.ToRead = weigh(title, art.Country, s.Country)
		own := otherWords(tokens, name.Tokens)
		i := slices.IndexFunc(words, func(w []string) bool { return overlap(w, own) >= sameStory })
		if i < 0 || out[i].ToRead != story.ToRead {
			out, words = append(out, story), append(words, own)
			i = len(out) - 1
		}
		if d := registrable(art); d != "" && !slices.Contains(out[i].Domains, d) {
			out[i].Domains = append(out[i].Domains, d)
		}
		out[i].Gravity = max(out[i].Gravity, story.Gravity)
	}
	for i := range out {
		slices.Sort(out[i].Domains)
	}
	return out
}

// weigh ranks a title and says why a person has to read it instead.
func weigh(title, published, subject string) (weight int, toRead string) {
	weight, denied := gravity(title)
	switch {
	case weight == 0:
		return 0, ""
	case denied:
		return weight, ToReadDenied
	case published != "" && subject != "" && supplier.Fold(published) != englishName(subject):
		return weight, ToReadCountry
	}
	return weight, ""
}

var englishRegions = display.Regions(language.English)

// englishName is the English name of an ISO country code, folded, as GDELT
// writes countries.
func englishName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return ""
	}
	return supplier.Fold(englishRegions.Name(region))
}

// otherWords is what a title says beside the subject's name: its words of four
// letters and more.
func otherWords(tokens, name []string) []string {
	var out []string
	for _, t := range tokens {
		if utf8.RuneCountInString(t) >= 4 && !slices.Contains(name, t) && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// overlap is the share of words that two titles have in common, per cent; two
// titles without other words are the same.
func overlap(a, b []string) int {
	common := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			common++
		}
	}
	all := len(a) + len(b) - common
	if all == 0 {
		return 100
	}
	return 100 * common / all
}

func holdsAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

// registrable is the domain that answers for an article, without its
// subdomains, so that ten mirrors of one publisher count once.
func registrable(a gdeltArticle) string {
	host := strings.ToLower(strings.TrimSpace(a.Domain))
	if u, err := url.Parse(a.URL); err == nil && u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http") {
		host = strings.ToLower(u.Hostname())
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return ""
	}
	return supplier.Clean(d, 100)
}

// shownURL is an article's address as text, empty for any scheme but http and
// https.
func shownURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return ""
	}
	return supplier.Clean(u.String(), supplier.MaxTitleLength)
}

// Why a story is for a person to read and scores nothing.
const (
	ToReadDenied  = "denied"        // the title also denies, acquits or opposes
	ToReadCountry = "other_country" // published elsewhere: it may be about a namesake
)
