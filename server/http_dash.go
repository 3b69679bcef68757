package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/tickrate/tickrate/server/dash"
)

// paged keeps the live page, which tells where everybody is, from strangers.
func paged(pages http.Handler, private bool, secret string, refused func()) http.Handler {
	sum := sha256.Sum256([]byte(secret))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, dash.Prefix) {
			if no := unwatchable(w, r, private, secret, sum); no != nil {
				if refused != nil {
					refused()
				}
				http.Error(w, no.text, no.status)
				return
			}
		}
		pages.ServeHTTP(w, r)
	})
}

// unwatchable refuses who may not see the live page. A browser cannot send a bearer's token by itself, so it is asked for a password,
// and the secret is that; the user's name does not matter. No page of another site sees it, nor holds a stream of it open.
func unwatchable(w http.ResponseWriter, r *http.Request, private bool, secret string, sum [sha256.Size]byte) *refusal {
	if no := foreign(r); no != nil {
		return no
	}
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" && r.URL.Path != "/" {
		return &refusal{http.StatusForbidden, "not for web pages of other sites"}
	}
	switch {
	case private:
		return unnamed(r)
	case secret == "":
		return &refusal{http.StatusForbidden, "this port can be reached from other machines: start the server with --http-token"}
	}
	if _, given, ok := r.BasicAuth(); ok {
		got := sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(got[:], sum[:]) == 1 {
			return nil
		}
	}
	no := keyless(w, r, sum)
	if no != nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="tickrate: the password is --http-token", charset="UTF-8"`)
	}
	return no
}
