// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/browsertest"
	"github.com/gardefou/gardefou/pipeline/serve"
)

// A person types a supplier, watches the agents and reads the report, all in ADK's own
// page, and then the page of the run.
func TestServeInABrowser(t *testing.T) {
	b := browsertest.Start(t)
	address, _ := start(t, serve.Options{Dir: t.TempDir(), Token: token})
	browsertest.See(t, b, chromedp.EmulateViewport(1400, 900))
	browsertest.See(t, b, chromedp.Navigate(address+"/ui/"))
	require.Contains(t, browsertest.Text(t, b, "body"), "log in with")
	browsertest.See(t, b, chromedp.Navigate(address+"/?token="+token))
	browsertest.See(t, b, chromedp.Navigate(address+"/ui/?app=duediligence"))
	browsertest.Wait(t, b, `document.querySelector("textarea:not([disabled])") ? "there" : ""`)
	browsertest.See(t, b, chromedp.Evaluate[bool](`document.querySelector("textarea").focus() ?? true`))
	browsertest.See(t, b, chromedp.KeyEvent("Transports Kervalec\r"))
	for _, agent := range []string{"lookup_registry", "report_finding", "approve_report", "Supplier due diligence: TRANSPORTS KERVALEC", "standard process"} {
		browsertest.Wait(t, b, `document.body.innerText.includes("`+agent+`") ? "seen" : ""`)
	}
	browsertest.Keep(t, b, "serve-report")
	page := browsertest.Wait(t, b, `document.body.innerText.match(/\/runs\/[A-Z0-9]+\/index.html/)?.[0] ?? ""`)
	browsertest.See(t, b, chromedp.Navigate(address+page))
	require.Contains(t, browsertest.Text(t, b, "main"), "ended as it should: done")
}
