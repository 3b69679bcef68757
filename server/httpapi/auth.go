package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/tickrate/tickrate/server/dash"
)

// Access is the rule for requests to a port.
type Access struct {
	Loopback bool   // only this machine can reach the port
	Secret   string // of --http-token; "": none
}

// Guard protects everything that slows the server down, changes it, or tells what players know:
// profiles, resets, the console, shots, explanations and the live page. On a loopback port it
// rejects the web pages of other sites, on any other port all requests without the secret. Figures
// and health are open, and /v1/connect has its own checks. refused, if set, counts rejected
// requests for the live page.
func Guard(pages http.Handler, access Access, refused func()) http.Handler {
	a := newAuth(access)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if no := a.guard(w, r, refused); no != nil {
			http.Error(w, no.text, no.status)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// guard is the check of one request.
func (a *auth) guard(w http.ResponseWriter, r *http.Request, refused func()) *refusal {
	if isDashPath(r.URL.Path) {
		if no := a.checkDash(w, r); no != nil {
			if refused != nil {
				refused()
			}
			return no
		}
	}
	if isPublic(r) || r.URL.Path == "/v1/connect" {
		return nil
	}
	if no := checkOrigin(r); no != nil {
		return no
	}
	no := a.check(w, r, "")
	if strings.HasPrefix(r.URL.Path, "/debug/") {
		askPassword(w, no)
	}
	return no
}

// isPublic reports whether a request needs no secret.
func isPublic(r *http.Request) bool {
	return r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/debug/") &&
		r.URL.Path != "/v1/explain" && r.URL.Path != "/v1/shots"
}

// isDashPath reports whether a path belongs to the live page, which tells all positions.
func isDashPath(path string) bool { return path == "/" || strings.HasPrefix(path, dash.Prefix) }

// refusal is the answer to a request that is rejected.
type refusal struct {
	status int
	text   string
}

// auth checks requests against an Access.
type auth struct {
	Access
	sum [sha256.Size]byte // of the secret
}

func newAuth(a Access) auth { return auth{a, sha256.Sum256([]byte(a.Secret))} }

// check rejects a Host header that is not loopback on a loopback port, and a request without the
// secret elsewhere. consequence completes the error of a port without a secret.
func (a *auth) check(w http.ResponseWriter, r *http.Request, consequence string) *refusal {
	switch {
	case a.Loopback:
		return checkHost(r)
	case a.Secret == "":
		return &refusal{http.StatusForbidden, "this port can be reached from other " +
			"machines" + consequence + ": start the server with --http-token"}
	}
	return a.checkSecret(w, r)
}

// checkSecret rejects a request without the secret, as a bearer token or as the password of a URL
// (https://any:SECRET@host/debug/pprof/profile). The user name does not matter.
func (a *auth) checkSecret(w http.ResponseWriter, r *http.Request) *refusal {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch _, password, basic := r.BasicAuth(); {
	case basic && a.isSecret(password):
		return checkBrowser(r)
	case strings.EqualFold(scheme, "Bearer") && a.isSecret(strings.TrimSpace(given)):
		return nil
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return &refusal{http.StatusUnauthorized, "expected Authorization: Bearer with the server's " +
		"--http-token, or that as the password of the URL"}
}

// checkBrowser rejects what a browser may send with a password that its user gave to another page: a
// request that the page of another site caused.
func checkBrowser(r *http.Request) *refusal {
	if no := checkOrigin(r); no != nil {
		return no
	}
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" && from != "none" {
		return &refusal{http.StatusForbidden, "not for web pages of other sites"}
	}
	return nil
}

// isSecret compares in constant time.
func (a *auth) isSecret(given string) bool {
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(got[:], a.sum[:]) == 1
}

// checkDash rejects requests for the live page. Browsers cannot send a bearer token by themselves:
// they are asked for a password, which is the secret; the user name does not matter. No page of
// another site may read it.
func (a *auth) checkDash(w http.ResponseWriter, r *http.Request) *refusal {
	if no := checkOrigin(r); no != nil {
		return no
	}
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" && r.URL.Path != "/" {
		return &refusal{http.StatusForbidden, "not for web pages of other sites"}
	}
	if _, given, ok := r.BasicAuth(); ok && !a.Loopback && a.Secret != "" && a.isSecret(given) {
		return nil
	}
	no := a.check(w, r, "")
	askPassword(w, no)
	return no
}

// askPassword makes a browser ask its user for the password, if that is what a page lacks.
func askPassword(w http.ResponseWriter, no *refusal) {
	if no != nil && no.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate",
			`Basic realm="tickrate: the password is --http-token", charset="UTF-8"`)
	}
}

// checkOrigin rejects requests that a browser sends for the web page of another site.
func checkOrigin(r *http.Request) *refusal {
	if from := r.Header.Get("Origin"); from != "" {
		if u, err := url.Parse(from); err != nil || u.Host != r.Host {
			return &refusal{http.StatusForbidden, "not for web pages of other sites"}
		}
	}
	return nil
}

// checkHost rejects a Host header that is not loopback (DNS rebinding).
func checkHost(r *http.Request) *refusal {
	if !isLoopback(r.Host) {
		return &refusal{http.StatusForbidden, "ask by address: the Host header is neither localhost nor " +
			"a loopback address"}
	}
	return nil
}

// isLoopback reports whether a Host header names this machine without a name server.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && at.Unmap().IsLoopback()
}

// requireSecret serves a page only with the secret, if there is one, on a loopback port too.
func requireSecret(secret string, page http.HandlerFunc) http.HandlerFunc {
	if secret == "" {
		return page
	}
	a := newAuth(Access{Secret: secret})
	return func(w http.ResponseWriter, r *http.Request) {
		if no := a.checkSecret(w, r); no != nil {
			http.Error(w, no.text, no.status)
			return
		}
		page(w, r)
	}
}
