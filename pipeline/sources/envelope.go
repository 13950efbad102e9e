// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"errors"
	"net/url"
	"time"
)

// Status says what came of a look-up.
type Status string

// The statuses of a look-up. Only StatusNotFound means "the source was read and
// holds nothing".
const (
	StatusOK            Status = "ok"
	StatusNotFound      Status = "not_found"          // answered the question asked: nothing there
	StatusUnavailable   Status = "source_unavailable" // no usable answer: network, time-out, 5xx, refusal
	StatusInvalid       Status = "invalid_answer"     // an answer that cannot be read or is about someone else
	StatusRateLimited   Status = "rate_limited"       // the source asked to come back later, twice
	StatusNotAsked      Status = "not_asked"          // not connected, switched off, or the name cannot be searched
	StatusNotApplicable Status = "not_applicable"     // the question has no sense for this kind of entity
)

// Read reports whether the source was read: ok or not_found.
func (s Status) Read() bool { return s == StatusOK || s == StatusNotFound }

// Query is what was asked, without secrets, so that anyone can ask it again.
type Query struct {
	URL    string     `json:"url"`
	Params url.Values `json:"params,omitempty"`
}

// Evidence is one thing a report can cite. Its ID is unique within a run and
// stable as long as the source only adds to what it holds: items are numbered
// from the oldest, and number 000 is the look-up itself.
type Evidence struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Label string `json:"label"`
	Date  string `json:"date,omitempty"` // ISO date of the thing cited
}

// Failure says why a look-up gave no usable answer. Code is for programs, Text
// is English and safe to print: it never repeats what the source sent.
type Failure struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// The codes of a [Failure].
const (
	FailTimeout       = "timeout"
	FailCancelled     = "cancelled"
	FailNetwork       = "network"
	FailBlocked       = "blocked_address" // the host resolves to a private or reserved address
	FailRedirect      = "redirect"        // to another host or scheme
	FailHTTPStatus    = "http_status"
	FailRateLimit     = "rate_limit"
	FailTooLarge      = "too_large"
	FailNotJSON       = "not_json" // an HTML page, say
	FailMalformed     = "malformed"
	FailOtherCompany  = "other_company"
	FailOtherQuery    = "other_query"    // answered a question that was not asked
	FailNotConnected  = "not_connected"  // this build asks no such source
	FailStale         = "stale"          // older than the source's own rule allows
	FailUnsearchable  = "not_searchable" // the name is too short or too common
	FailNotRecorded   = "not_recorded"   // a replay was asked what its recording does not hold
	FailMember        = "member_state"   // VIES: the country's own register did not answer
	FailNoOfficers    = "no_officers"    // none is published
	FailNoIdentifier  = "no_identifier"  // the subject lacks the identifier this source needs
	FailNotApplicable = "not_applicable" // this kind of entity has no such thing
	FailNoSource      = "no_source"      // no connected source covers the subject's country
)

// Envelope is what every look-up returns around its items.
type Envelope struct {
	Source      string     `json:"source"`
	Status      Status     `json:"status"`
	Query       Query      `json:"query"`
	RetrievedAt time.Time  `json:"retrieved_at,omitzero"` // UTC, whole seconds
	DataAsOf    string     `json:"data_as_of,omitempty"`  // ISO date the source gives for its data
	Licence     string     `json:"licence"`
	ListVersion *string    `json:"list_version"` // for lists: the publication read
	SHA256      string     `json:"sha256,omitempty"`
	Truncated   bool       `json:"truncated"` // the source holds more than was read
	Evidence    []Evidence `json:"evidence"`
	Error       *Failure   `json:"error"`
}

// Answer is an [Envelope] with its items, in the order of their evidence ids.
type Answer[T any] struct {
	Envelope
	Items []T `json:"items"`
}

// fail turns e into the outcome of a look-up that gave nothing usable.
func (e *Envelope) fail(s Status, code, text string) {
	e.Status, e.Error, e.Evidence = s, &Failure{Code: code, Text: text}, []Evidence{}
}

// failDecode turns e into an answer that cannot be used, by what was wrong.
func (e *Envelope) failDecode(err error) {
	code := FailMalformed
	switch {
	case errors.Is(err, errOtherCompany):
		code = FailOtherCompany
	case errors.Is(err, errOtherQuery):
		code = FailOtherQuery
	}
	e.fail(StatusInvalid, code, err.Error())
}

// cite appends evidence and returns its id.
func (e *Envelope) cite(id, link, label, date string) string {
	e.Evidence = append(e.Evidence, Evidence{ID: id, URL: link, Label: label, Date: date})
	return id
}

// link is the whole address asked, parameters included.
func (q Query) link() string {
	if len(q.Params) == 0 {
		return q.URL
	}
	return q.URL + "?" + q.Params.Encode()
}

// notAsked is the answer of a source that was not asked, and why.
func notAsked[T any](src source, s Status, code, text string) Answer[T] {
	a := Answer[T]{Envelope: Envelope{Source: src.name, Licence: src.licence}, Items: []T{}}
	a.fail(s, code, text)
	return a
}
