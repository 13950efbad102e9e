// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package approvers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gardefou/gardefou/guards"
	"github.com/gardefou/gardefou/guards/approvers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func question(lang string) guards.Question {
	args := map[string]any{"to": "Acme", "amount": 12.5}
	return guards.Question{ID: "q1", Call: "c1", Agent: "buyer", Tool: "pay", Args: args, Always: map[string]any{"to": "Acme"}, Lang: lang, Until: time.Now().Add(time.Minute)}
}

func TestTerminal(t *testing.T) {
	for name, tc := range map[string]struct {
		lang, typed      string
		approved, always bool
		asked            int
	}{
		"yes":               {"en", "yes\n", true, false, 1},
		"short":             {"en", "Y\n", true, false, 1},
		"no":                {"en", "no\n", false, false, 1},
		"always":            {"en", "always\n", true, true, 1},
		"French":            {"fr", "oui\n", true, false, 1},
		"always in French":  {"fr", "toujours\n", true, true, 1},
		"after nonsense":    {"en", "\nok\nyes\n", true, false, 3},
		"nothing but":       {"en", "a b\nok\nsure\nyes\n", false, false, 3},
		"no end of line":    {"en", "yes", true, false, 1},
		"English in French": {"fr", "yes\nnon\n", false, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			a, err := approvers.Terminal(strings.NewReader(tc.typed), &out, "jeanne").Ask(t.Context(), question(tc.lang))
			require.NoError(t, err)
			require.Equal(t, guards.Answer{Question: "q1", Call: "c1", Approved: tc.approved, Always: tc.always, By: "jeanne"}, a)
			require.Equal(t, tc.asked, strings.Count(out.String(), "? ["+map[string]string{"en": "yes", "fr": "oui"}[tc.lang]))
			require.Contains(t, out.String(), "  amount: 12.5\n  to: \"Acme\"\n")
		})
	}
}

// What an argument says must be read as text: it can't rub out the question.
func TestTerminalShowsWhatItWouldObey(t *testing.T) {
	q := question("en")
	q.Tool = "pay\u001b[2K"
	q.Args = map[string]any{"to\r": "Acme\u001b[1A\u001b[2K\u202egnihtyna\u009b31m", "list": []any{"\n  to: Acme"}}
	var out strings.Builder
	_, err := approvers.Terminal(strings.NewReader("no\n"), &out, "").Ask(t.Context(), q)
	require.NoError(t, err)
	for _, r := range "\u001b\r\u202e\u009b" {
		require.NotContains(t, out.String(), string(r))
	}
	require.Contains(t, out.String(), `\u202e`)
	require.NotContains(t, out.String(), "\n  to: Acme")
}

func TestTerminalWithoutAnAnswer(t *testing.T) {
	_, err := approvers.Terminal(strings.NewReader(""), io.Discard, "").Ask(t.Context(), question("en"))
	require.ErrorIs(t, err, io.EOF)
	_, err = approvers.Terminal(strings.NewReader("yes\n"), broken{}, "").Ask(t.Context(), question("en"))
	require.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// A line typed for a question that has timed out must not answer the next one.
func TestTerminalALateLineAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typing := io.Pipe()
		var out lockedBuilder
		term := approvers.Terminal(in, &out, "jeanne")
		late, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := term.Ask(late, question("en"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		go io.WriteString(typing, "yes\nno\n")
		second := question("en")
		second.ID = "q2"
		a, err := term.Ask(t.Context(), second)
		require.NoError(t, err)
		require.False(t, a.Approved)
		require.Equal(t, "q2", a.Question)
		require.Contains(t, out.String(), "Too late")
		require.Contains(t, out.String(), "had timed out")
		typing.Close()
	})
}

// Where there is no further chance nothing is read: the next line answers the next
// question.
func TestTerminalReadsNothingAfterTheLastChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typing := io.Pipe()
		var out lockedBuilder
		term := approvers.Terminal(in, &out, "jeanne")
		for _, tc := range []struct {
			typed    string
			approved bool
		}{{"1\n2\n3\n", false}, {"yes\n", true}} {
			go io.WriteString(typing, tc.typed)
			a, err := term.Ask(t.Context(), question("en"))
			require.NoError(t, err)
			require.Equal(t, tc.approved, a.Approved)
			synctest.Wait()
		}
		require.NotContains(t, out.String(), "had timed out")
		typing.Close()
	})
}

type lockedBuilder struct {
	mu sync.Mutex
	sb strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sb.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sb.String()
}

// Two questions at once are shown one after the other.
func TestTerminalAsksOneAtATime(t *testing.T) {
	in, typing := io.Pipe()
	var out lockedBuilder
	term := approvers.Terminal(in, &out, "jeanne")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			_, err := term.Ask(t.Context(), question("en"))
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		io.WriteString(typing, "yes\n")
	}
	wg.Wait()
	require.Equal(t, 2, strings.Count(out.String(), "wants to call"))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := term.Ask(done, question("en"))
	require.ErrorIs(t, err, context.Canceled)
	typing.Close()
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A desk is the other side of a webhook: it keeps the questions it is posted.
type desk struct {
	*httptest.Server
	hook      *approvers.Webhook
	answers   *httptest.Server
	questions chan guards.Question
	status    int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{questions: make(chan guards.Question, 8), status: http.StatusOK}
	d.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var q guards.Question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		rw.WriteHeader(d.status)
		d.questions <- q
	}))
	t.Cleanup(d.Close)
	var err error
	d.hook, err = approvers.NewWebhook(approvers.WebhookOptions{URL: d.URL, Secret: secret, Client: d.Client()})
	require.NoError(t, err)
	d.answers = httptest.NewServer(d.hook)
	t.Cleanup(d.answers.Close)
	return d
}

// post answers and returns the status; with forges the signature afterwards.
func (d *desk) post(t *testing.T, a guards.Answer, with func(*http.Request)) int {
	t.Helper()
	body, err := json.Marshal(a)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.answers.URL, bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, d.hook.SignRequest(req, "answer-1", body))
	if with != nil {
		with(req)
	}
	resp, err := d.answers.Client().Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

func TestWebhook(t *testing.T) {
	d := newDesk(t)
	type got struct {
		a   guards.Answer
		err error
	}
	done := make(chan got, 1)
	asked := question("en")
	asked.ID = "q7"
	go func() {
		a, err := d.hook.Ask(t.Context(), asked)
		done <- got{a, err}
	}()
	q := <-d.questions
	require.Equal(t, map[string]any{"to": "Acme", "amount": 12.5}, q.Args)
	yes := q.Answer(true, "jeanne")

	require.Equal(t, http.StatusUnauthorized, d.post(t, yes, func(r *http.Request) { r.Header.Set("webhook-signature", "v1,Zm9yZ2Vk") }))
	require.Equal(t, http.StatusUnauthorized, d.post(t, yes, func(r *http.Request) { r.Header.Del("webhook-signature") }))
	require.Equal(t, http.StatusUnauthorized, d.post(t, yes, func(r *http.Request) { r.Header.Set("webhook-timestamp", "1") }))
	require.Equal(t, http.StatusUnauthorized, d.post(t, yes, func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(`{"question":"q7"}`))
		r.ContentLength = 17
	}), "an altered body")
	altered := yes
	altered.Call = "another call"
	require.Equal(t, http.StatusUnprocessableEntity, d.post(t, altered, nil))
	unknown := yes
	unknown.Question = "q8"
	require.Equal(t, http.StatusNotFound, d.post(t, unknown, nil))
	require.Equal(t, http.StatusMethodNotAllowed, d.post(t, yes, func(r *http.Request) { r.Method = http.MethodPut }))
	require.Empty(t, done, "none of these was an answer")

	require.Equal(t, http.StatusNoContent, d.post(t, yes, nil))
	require.Equal(t, http.StatusConflict, d.post(t, q.Answer(false, "somebody"), nil))
	require.Equal(t, got{yes, nil}, <-done)
}

func TestWebhookFails(t *testing.T) {
	d := newDesk(t)
	d.status = http.StatusTeapot
	_, err := d.hook.Ask(t.Context(), question("en"))
	require.ErrorContains(t, err, "418")
	<-d.questions
	d.status = http.StatusOK
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-d.questions; cancel() }()
	_, err = d.hook.Ask(ctx, question("en"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, http.StatusNotFound, d.post(t, question("en").Answer(true, "late"), nil))

	for name, o := range map[string]approvers.WebhookOptions{
		"no URL":         {Secret: secret},
		"a relative URL": {URL: "/desk", Secret: secret},
		"a file":         {URL: "file:///desk", Secret: secret},
		"no secret":      {URL: d.URL},
		"short secret":   {URL: d.URL, Secret: "whsec_c2hvcnQ="},
		"no base64":      {URL: d.URL, Secret: "whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"},
	} {
		_, err := approvers.NewWebhook(o)
		require.Error(t, err, name)
	}
}

func TestScript(t *testing.T) {
	s := approvers.NewScript(approvers.Yes, approvers.No, approvers.Always)
	for _, want := range []guards.Answer{
		{Question: "q1", Call: "c1", Approved: true, By: "test"},
		{Question: "q1", Call: "c1", By: "test"},
		{Question: "q1", Call: "c1", Approved: true, Always: true, By: "test"},
	} {
		a, err := s.Ask(t.Context(), question("en"))
		require.NoError(t, err)
		require.Equal(t, want, a)
	}
	_, err := s.Ask(t.Context(), question("en"))
	require.ErrorIs(t, err, approvers.ErrScriptOver)
	require.Len(t, s.Questions(), 4)
}
