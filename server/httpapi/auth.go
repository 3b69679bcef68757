package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/tickrate/tickrate/internal/web"
	"github.com/tickrate/tickrate/server/dash"
)

// Access is the rule for requests to a port.
type Access struct {
	Loopback bool   // only this machine can reach the port
	Secret   string // of --http-token; "": none
}

// Guard protects everything that slows the server down, changes it, or tells what players know:
// profiles, resets, the console, shots, explanations and the live page. On a loopback port it
// rejects the web pages of other sites, on any other port all requests without the secret. Health is
// open; figures are, too, but strangers get few of them in a second; and /v1/connect has its own checks.
// refused, if set, counts rejected requests.
func Guard(pages http.Handler, access Access, refused func()) http.Handler {
	a, few := newAuth(access), newStrangers(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stranger, no := a.guard(w, r, few)
		switch {
		case no != nil:
			if refused != nil {
				refused()
			}
			if no.status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "1")
			}
			http.Error(w, no.text, no.status)
		case stranger:
			few.serve(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

// guard is the check of one request. It reports whether it is one of a stranger: of a machine that is not
// this one, without the secret.
func (a *auth) guard(w http.ResponseWriter, r *http.Request, few *strangers) (stranger bool, no *refusal) {
	if web.IsHealth(r) || r.URL.Path == "/v1/connect" {
		return false, nil
	}
	if no := checkSite(r); no != nil {
		return false, no
	}
	secret := a.given(r)
	if !a.Loopback && a.Secret != "" && secret == wrongCredential {
		if no := few.allow(r, wrongSecret); no != nil {
			return false, no
		}
	}
	if isPublic(r) {
		if a.Loopback || secret == rightCredential {
			return false, nil
		}
		return true, few.allow(r, 1)
	}
	no = a.check(w, r, "")
	if isDashPath(r.URL.Path) || strings.HasPrefix(r.URL.Path, "/debug/") {
		askPassword(w, no)
	}
	return false, no
}

// isPublic reports whether a request needs no secret.
func isPublic(r *http.Request) bool {
	path := r.URL.Path
	return r.Method == http.MethodGet && !strings.HasPrefix(path, "/debug/") && !isDashPath(path) &&
		path != "/v1/explain" && path != "/v1/shots" && !r.URL.Query().Has("full")
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

// credential is what a request has in the place of the secret.
type credential int

const (
	noCredential credential = iota
	wrongCredential
	rightCredential
)

// given looks for the secret, as a bearer token or as the password of a URL
// (https://any:SECRET@host/debug/pprof/profile). The user name does not matter.
func (a *auth) given(r *http.Request) credential {
	header := r.Header.Get("Authorization")
	scheme, given, _ := strings.Cut(header, " ")
	if _, password, basic := r.BasicAuth(); basic {
		given = password
	} else if !strings.EqualFold(scheme, "Bearer") {
		given = ""
	}
	switch {
	case header == "":
		return noCredential
	case a.Secret != "" && a.isSecret(strings.TrimSpace(given)):
		return rightCredential
	}
	return wrongCredential
}

// checkSecret rejects a request without the secret, and one that a browser sends for the page of another
// site with a password that its user once gave.
func (a *auth) checkSecret(w http.ResponseWriter, r *http.Request) *refusal {
	if a.given(r) == rightCredential {
		return checkSite(r)
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return &refusal{http.StatusUnauthorized, "expected Authorization: Bearer with the server's " +
		"--http-token, or that as the password of the URL"}
}

// isSecret compares in constant time.
func (a *auth) isSecret(given string) bool {
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(got[:], a.sum[:]) == 1
}

// askPassword makes a browser ask its user for the password, if that is what a page lacks: it cannot send
// a bearer token by itself.
func askPassword(w http.ResponseWriter, no *refusal) {
	if no != nil && no.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate",
			`Basic realm="tickrate: the password is --http-token", charset="UTF-8"`)
	}
}

// checkSite rejects requests that a browser sends for the web page of another site: with Origin, or where
// the page asks for an image or the like, with Sec-Fetch-Site alone. A link to the live page may be
// anywhere.
func checkSite(r *http.Request) *refusal {
	no := &refusal{http.StatusForbidden, "not for web pages of other sites"}
	if from := r.Header.Get("Origin"); from != "" {
		if u, err := url.Parse(from); err != nil || u.Host != r.Host {
			return no
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if r.Method == http.MethodGet && r.URL.Path == "/" {
		return nil
	}
	return no
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
