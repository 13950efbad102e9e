// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

// Package browsertest looks at pages in a headless Chromium.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Width is how wide the page is, for See.
const Width = "document.documentElement.scrollWidth"

// A Browser is a Chromium that lives as long as the test.
type Browser struct {
	ctx context.Context

	mu                   sync.Mutex
	complaints, requests []string
}

// Start starts a browser, or skips the test where there is none. Set
// GARDEFOU_BROWSER=required to make its absence a failure.
func Start(t *testing.T) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("GARDEFOU_BROWSER") == "required" {
			t.Fatal("chromium is not installed")
		}
		t.Skip("chromium is not installed")
	}
	// What Chromium leaves behind goes with the test. The path is short, as a socket is in it.
	temp, err := os.MkdirTemp("", "chromium") //nolint:usetesting // t.TempDir is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Env("TMPDIR="+temp))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx)) // starts it
	b := &Browser{ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	return b
}

func (b *Browser) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch x := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, string(x.Type))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, x.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, x.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, x.Request.URL)
	}
}

// Context is for actions that See does not cover.
func (b *Browser) Context() context.Context { return b.ctx }

// Told returns what the console said and what was fetched since the last call.
func (b *Browser) Told() (complaints, requests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	complaints, requests = b.complaints, b.requests
	b.complaints, b.requests = nil, nil
	return complaints, requests
}

// See runs an action within a minute and returns its value.
func See[T any](t *testing.T, b *Browser, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	require.NoError(t, err)
	return v
}

// brokenWords finds the words of letters and digits that a line break cuts in two. Cells of
// the class "long" may be cut: they hold addresses and hashes.
const brokenWords = `(() => {
	const broken = [], range = document.createRange();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = texts.nextNode();) {
		if (n.parentElement.closest("style, script, .long, code, svg")) continue;
		for (const m of n.data.matchAll(/[\p{L}\p{N}]+/gu)) {
			range.setStart(n, m.index);
			range.setEnd(n, m.index + m[0].length);
			const tops = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
			if (tops.size > 1) broken.push(m[0]);
		}
	}
	return broken;
})()`

// BrokenWords returns the words of the page that a line break cuts in two.
func BrokenWords(t *testing.T, b *Browser) []string {
	t.Helper()
	return See(t, b, chromedp.Evaluate[[]string](brokenWords))
}

// Keep takes a screenshot of the whole page into the test's artifacts.
func Keep(t *testing.T, b *Browser, name string) {
	t.Helper()
	shot := See(t, b, chromedp.FullScreenshot(100))
	require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), shot, 0o600))
}

// Follow goes where the link with this href leads.
func Follow(t *testing.T, b *Browser, href string) {
	t.Helper()
	See(t, b, chromedp.Navigate(See(t, b, chromedp.Evaluate[string](`document.querySelector('a[href="`+href+`"]').href`))))
}

// Text waits for the first element that the CSS selector finds and that shows text, and
// returns its text.
func Text(t *testing.T, b *Browser, selector string) string {
	t.Helper()
	return Wait(t, b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

// Wait waits until the expression, which may meet a page that is still loading, gives a
// text that is not empty, and returns it.
func Wait(t *testing.T, b *Browser, expression string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		// While a page goes and the next comes there is nothing to evaluate in.
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
		cancel()
		if err == nil && got != "" {
			return got
		}
		select {
		case <-b.ctx.Done():
			t.Fatal(b.ctx.Err())
		case <-time.After(50 * time.Millisecond): // a real browser: its clock can't be moved
		}
	}
	t.Fatalf("the page never gave: %s", expression)
	return ""
}
