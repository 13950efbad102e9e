// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/browsertest"
)

// The page in a real browser: nothing logged, nothing fetched, nothing wider
// than a phone, the banner and the rating to be seen, and a sheet of paper that
// holds it.
func TestPageInABrowser(t *testing.T) {
	b := browsertest.Start(t)
	ctx := b.Context()
	pages := map[string][]byte{}
	for _, q := range []string{"Conserverie des Embruns", "999991029"} {
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
		b.Told()
		browsertest.See(t, b, chromedp.EmulateViewport(360, 780))
		browsertest.See(t, b, chromedp.Navigate(address))
		require.LessOrEqual(t, browsertest.See(t, b, chromedp.Evaluate[float64](browsertest.Width)), 360.0, name)
		require.NotEmpty(t, browsertest.Text(t, b, "p.banner"))
		for _, width := range []int64{1280, 794} {
			browsertest.See(t, b, chromedp.EmulateViewport(width, 780))
			require.Empty(t, browsertest.BrokenWords(t, b), "%s at %d", name, width)
		}
		browsertest.See(t, b, chromedp.EmulateViewport(360, 780))
		require.NotEmpty(t, browsertest.Text(t, b, "h2#summary + table strong"))
		browsertest.Keep(t, b, filepath.Base(file))
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		require.NoError(t, err)
		browsertest.See(t, b, chromedp.EmulateViewport(794, 1123)) // A4 at 96 dots an inch
		require.LessOrEqual(t, browsertest.See(t, b, chromedp.Evaluate[float64](browsertest.Width)), 794.0, name)
		pdf := browsertest.See(t, b, chromedp.PrintToPDF())
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		require.NoError(t, err)
		complaints, requests := b.Told()
		require.Empty(t, complaints, name)
		for _, r := range requests {
			require.Equal(t, address, r, name)
		}
		require.True(t, strings.HasPrefix(string(pdf), "%PDF"))
	}
}
