// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package httpclient_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gardefou/gardefou/internal/httpclient"
)

// Every HTTP client of the module is made here: elsewhere no http.Client is written down,
// and none of net/http's own is used. Retryable clients take theirs from here too.
func TestEveryClientIsMadeHere(t *testing.T) {
	root := filepath.Join("..", "..")
	require.FileExists(t, filepath.Join(root, "go.mod"))
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		case filepath.Base(filepath.Dir(path)) == "httpclient":
			return nil
		}
		files++
		for _, use := range foreignClients(t, path) {
			t.Errorf("%s: use httpclient.New", use)
		}
		return nil
	}))
	require.Greater(t, files, 100)
}

// foreignClients are the places of a file where a client is made or used that may follow
// redirects anywhere.
func foreignClients(t *testing.T, path string) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	named := map[string]string{}
	for _, spec := range file.Imports {
		full := strings.Trim(spec.Path.Value, `"`)
		name := full[strings.LastIndex(full, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		named[name] = full
	}
	forbidden := map[string][]string{
		"net/http":                              {"DefaultClient", "Get", "Head", "Post", "PostForm"},
		"github.com/hashicorp/go-retryablehttp": {"NewClient", "Get", "Head", "Post", "PostForm"},
		"golang.org/x/oauth2":                   {"NewClient"},
	}
	var uses []string
	use := func(n ast.Node) { uses = append(uses, fset.Position(n.Pos()).String()) }
	made := func(e ast.Expr, in, name string) bool {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && named[pkg.Name] == in && sel.Sel.Name == name
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if made(n.Type, "net/http", "Client") {
				use(n)
			}
		case *ast.ValueSpec: // var c http.Client
			if made(n.Type, "net/http", "Client") {
				use(n)
			}
		case *ast.CallExpr: // new(http.Client)
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 && made(n.Args[0], "net/http", "Client") {
				use(n)
			}
		case *ast.SelectorExpr:
			for in, names := range forbidden {
				for _, name := range names {
					if made(n, in, name) {
						use(n)
					}
				}
			}
		}
		return true
	})
	return uses
}

func TestForeignClientsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.go")
	require.NoError(t, os.WriteFile(path, []byte(`package x

import h "net/http"

var a = &h.Client{}
var b h.Client
var c = new(h.Client)
var d = h.DefaultClient
var e, _ = h.Get("x")
var f h.RoundTripper
`), 0o600))
	require.Len(t, foreignClients(t, path), 5)
}

// redirecting answers with a redirect and counts what came where it leads.
func redirecting(t *testing.T, code int, elsewhere bool) (from *httptest.Server, arrived *int) {
	t.Helper()
	arrived = new(int)
	to := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { *arrived++ })
	other := httptest.NewServer(to)
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.Handle("/there", to)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		where := "/there"
		if elsewhere {
			where = other.URL + where
		}
		http.Redirect(w, r, where, code)
	})
	mux.HandleFunc("/again", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", code) })
	from = httptest.NewServer(mux)
	t.Cleanup(from.Close)
	return from, arrived
}

func TestAClientStaysWithItsHost(t *testing.T) {
	asked := 0
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { asked++; return nil }}
	proxied := &http.Client{Transport: &http.Transport{Proxy: httpclient.Proxy}}
	for name, c := range map[string]*http.Client{"new": httpclient.New(0, nil), "stay": httpclient.Stay(own), "proxy": proxied} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			from, arrived := redirecting(t, code, true)
			resp, err := c.Post(from.URL, "text/plain", strings.NewReader("secret"))
			if resp != nil {
				require.NoError(t, resp.Body.Close())
			}
			require.ErrorIs(t, err, httpclient.ErrRedirect, "%s %d", name, code)
			require.Zero(t, *arrived)

			from, arrived = redirecting(t, code, false)
			resp, err = c.Post(from.URL, "text/plain", strings.NewReader("secret"))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, 1, *arrived, "within its host a client may be redirected")

			resp, err = c.Get(from.URL + "/again")
			if resp != nil {
				require.NoError(t, resp.Body.Close())
			}
			require.Error(t, err)
		}
	}
	require.Positive(t, asked, "what the client itself refuses is still asked for")
}

func TestConfidential(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com": true, "http://127.0.0.1:8080/v1": true, "http://[::1]:80": true, "http://localhost": true, "http://LOCALHOST:1": true,
		"http://example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "http://0.0.0.0": false, "ftp://example.com": false,
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, httpclient.Confidential(u), address)
	}
}
