package server

import (
	"net/http"
	"strings"

	"github.com/tickrate/tickrate/server/dash"
)

// paged keeps the live page, which tells where everybody is, from strangers.
func (d door) paged(pages http.Handler, refused func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, dash.Prefix) {
			if no := d.unwatchable(w, r); no != nil {
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
func (d *door) unwatchable(w http.ResponseWriter, r *http.Request) *refusal {
	if no := foreign(r); no != nil {
		return no
	}
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" && r.URL.Path != "/" {
		return &refusal{http.StatusForbidden, "not for web pages of other sites"}
	}
	if _, given, ok := r.BasicAuth(); ok && !d.private && d.secret != "" && d.fits(given) {
		return nil
	}
	no := d.stranger(w, r, "")
	if no != nil && no.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="tickrate: the password is --http-token", charset="UTF-8"`)
	}
	return no
}
