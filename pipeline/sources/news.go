// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gardefou/gardefou/pipeline/supplier"
)

// Bounds of a news search.
const (
	maxArticles   = 250 // the most GDELT returns
	minPhrase     = 5   // GDELT refuses shorter phrases
	sameStory     = 60  // per cent of significant words that two titles of a story share
	newsTimespan  = "3m"
	newsDateStamp = "20060102T150405Z"
)

type gdeltAnswer struct {
	Articles []gdeltArticle `json:"articles"`
}

type gdeltArticle struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Seen    string `json:"seendate"`
	Domain  string `json:"domain"`
	Country string `json:"sourcecountry"`
}

var (
	errPhrase  = errors.New("the name cannot be searched")
	errTooFast = errors.New("the source asks for fewer requests")
)

// decodeNews reads an answer. GDELT sends its errors as text with status 200,
// writes "nothing found" as {}, and escapes apostrophes that JSON does not.
func decodeNews(body []byte) ([]gdeltArticle, error) {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "{") {
		switch {
		case strings.Contains(text, "limit requests"):
			return nil, errTooFast
		case strings.Contains(text, "phrase is too short"):
			return nil, errPhrase
		}
		return nil, errMalformed
	}
	var a gdeltAnswer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		if err := json.Unmarshal(dropBadEscapes([]byte(text)), &a); err != nil {
			return nil, errMalformed
		}
	}
	if a.Articles == nil && strings.Trim(text, "{} \r\n\t") != "" {
		return nil, errMalformed // something else than "nothing found"
	}
	if len(a.Articles) > maxArticles {
		a.Articles = a.Articles[:maxArticles]
	}
	return a.Articles, nil
}

// dropBadEscapes removes the backslash before a character that JSON does not
// escape.
func dropBadEscapes(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			if strings.IndexByte(`"\/bfnrtu`, b[i+1]) >= 0 {
				out = append(out, b[i], b[i+1])
				i++
			}
			continue
		}
		out = append(out, b[i])
	}
	return out
}

// newsQuery is the name as one quoted phrase: letters, digits, blanks, hyphens
// and apostrophes, so that no operator of the query language gets through.
func newsQuery(name string) (string, bool) {
	phrase := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == '-', r == '\'', r == '’':
			return r
		case strings.ContainsRune(`"():*?~<>[]{}\/|&=+,;!@#$%^`, r):
			return ' '
		}
		return r
	}, supplier.Clean(name, supplier.MaxNameLength))), " ")
	n := supplier.Normalize(phrase)
	return `"` + phrase + `"`, utf8.RuneCountInString(phrase) >= minPhrase && !n.Weak
}

// news searches the press of the last three months for the subject's name.
func (c *Client) news(ctx context.Context, s supplier.Subject) Answer[Story] {
	query, ok := newsQuery(s.LegalName)
	if !ok {
		return notAsked[Story](c.gdelt, StatusNotAsked, FailUnsearchable, "the name is too short or too common to search the press for")
	}
	a := Answer[Story]{Items: []Story{}}
	env, body := c.get(ctx, c.gdelt, "/api/v2/doc/doc", url.Values{
		"query": {query}, "mode": {"artlist"}, "format": {"json"}, "maxrecords": {strconv.Itoa(maxArticles)},
		"timespan": {newsTimespan}, "sort": {"datedesc"},
	}, gone)
	a.Envelope = env
	if body == nil {
		return a
	}
	articles, err := decodeNews(body)
	switch {
	case errors.Is(err, errTooFast):
		a.fail(StatusRateLimited, FailRateLimit, err.Error())
		return a
	case errors.Is(err, errPhrase):
		a.fail(StatusNotAsked, FailUnsearchable, err.Error())
		return a
	case err != nil:
		a.failDecode(err)
		return a
	}
	a.Truncated = len(articles) == maxArticles
	a.cite("E-NEW-000", env.Query.link(), "GDELT: press of the last three months naming "+cleanName(s.LegalName), env.RetrievedAt.Format(time.DateOnly))
	a.Items = stories(articles, s, c.AsOf())
	for i := range a.Items {
		item := &a.Items[i]
		// The link is the search, at an address that is ours to trust; the
		// article's own address comes from strangers.
		item.Evidence = a.cite(fmt.Sprintf("E-NEW-%03d", i+1), env.Query.link(), "Press: "+item.Title, item.Seen)
	}
	if len(a.Items) == 0 {
		a.Status = StatusNotFound
	}
	return a
}
