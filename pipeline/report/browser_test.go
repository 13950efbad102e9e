// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser starts a headless Chromium, or skips the test where there is none.
// Set GARDEFOU_BROWSER=required to make its absence a failure.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("GARDEFOU_BROWSER") == "required" {
			t.Fatal("chromium is not installed")
		}
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx)) // starts it
	return ctx
}

// see runs an action within a minute and returns its value.
func see[T any](ctx context.Context, t *testing.T, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	require.NoError(t, err)
	return v
}

// The page in a real browser: nothing logged, nothing fetched, nothing wider
// than a phone, the banner and the rating to be seen, and a sheet of paper that
// holds it.
func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	var mu sync.Mutex
	var complaints, requests []string
	note := func(list *[]string, s string) {
		mu.Lock()
		defer mu.Unlock()
		*list = append(*list, s)
	}
	require.NoError(t, chromedp.Listen(ctx, func(ev any) {
		switch x := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			note(&complaints, string(x.Type))
		case *runtime.EventExceptionThrown:
			note(&complaints, x.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			note(&complaints, x.Entry.Text)
		case *network.EventRequestWillBeSent:
			note(&requests, x.Request.URL)
		}
	}))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	pages := map[string][]byte{}
	for _, q := range []string{"Conserverie des Embruns"} {
		pages[q] = reportOn(t, q).HTML(French)
	}
	for _, name := range hostileNames[3:4] {
		pages[name] = reportNamed(t, name).HTML(English)
	}
	dir := t.TempDir()
	n := 0
	for name, content := range pages {
		n++
		file := filepath.Join(dir, string(rune('a'+n))+".html")
		require.NoError(t, os.WriteFile(file, content, 0o600))
		address := (&url.URL{Scheme: "file", Path: file}).String()
		mu.Lock()
		complaints, requests = nil, nil
		mu.Unlock()
		const width = "document.documentElement.scrollWidth"
		see(ctx, t, chromedp.EmulateViewport(360, 780))
		see(ctx, t, chromedp.Navigate(address))
		require.LessOrEqual(t, see(ctx, t, chromedp.Evaluate[float64](width)), 360.0, name)
		require.NotEmpty(t, see(ctx, t, chromedp.Text("p.banner", chromedp.NodeVisible)))
		require.NotEmpty(t, see(ctx, t, chromedp.Text("h2#summary + table strong", chromedp.NodeVisible)))
		shot := see(ctx, t, chromedp.FullScreenshot(80))
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		require.NoError(t, err)
		see(ctx, t, chromedp.EmulateViewport(794, 1123)) // A4 at 96 dots an inch
		require.LessOrEqual(t, see(ctx, t, chromedp.Evaluate[float64](width)), 794.0, name)
		pdf := see(ctx, t, chromedp.PrintToPDF())
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		require.NoError(t, err)
		mu.Lock()
		require.Empty(t, complaints, name)
		for _, r := range requests {
			require.Equal(t, address, r, name)
		}
		mu.Unlock()
		require.True(t, strings.HasPrefix(string(pdf), "%PDF"))
		require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), filepath.Base(file)+".jpg"), shot, 0o600))
	}
}
