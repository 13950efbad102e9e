// Copyright 2026 The Gardefou Authors.
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/gardefou/gardefou/internal/httpclient"
)

// ErrToken is the error of a token that is too short, or that an address or a cookie would
// not carry as it is.
var ErrToken = errors.New("the token must be 16 or more of the characters A-Z a-z 0-9 . _ ~ - (openssl rand -hex 24 makes one)")

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{16,}$`)

// CheckToken returns [ErrToken] where token can't be an [Options] Token.
func CheckToken(token string) error {
	if !tokenForm.MatchString(token) {
		return ErrToken
	}
	return nil
}

// maxBody bounds a request: a message, not a file.
const maxBody = 1 << 20

const cookieName = "duediligence_token"

// guarded lets in who shows the token; without one, only requests for a loopback host, so
// that no page elsewhere reaches the server by a name that points here. Requests that a
// browser sends for another site's page are refused in both cases.
func guarded(next http.Handler, token string) http.Handler {
	h := http.MaxBytesHandler(http.NewCrossOriginProtection().Handler(next), maxBody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// ADK's page asks others for fonts, which would tell them who looks at it.
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'self'")
		w.Header().Set("X-Frame-Options", "SAMEORIGIN")
		w.Header().Set("Referrer-Policy", "no-referrer")
		switch {
		case token == "" && !Loopback(r.Host):
			http.Error(w, "this server answers for localhost only; start it with a token to reach it by another name", http.StatusForbidden)
		case token == "":
			h.ServeHTTP(w, r)
		case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("token"):
			logIn(w, r, token)
		case !shows(r, token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "log in with /?token=…, or send Authorization: Bearer …", http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// logIn turns the token of the address into a cookie, so that it stays in no history of
// later pages.
func logIn(w http.ResponseWriter, r *http.Request, token string) {
	if !same(r.URL.Query().Get("token"), token) {
		http.Error(w, "this is not the token", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func shows(r *http.Request, token string) bool {
	if got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(got, token)
	}
	c, err := r.Cookie(cookieName)
	return err == nil && same(c.Value, token)
}

// same compares in a time that tells nothing of either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Loopback reports whether host, a name or an address with or without a port, is this
// machine's own.
func Loopback(host string) bool { return httpclient.Loopback(host) }
