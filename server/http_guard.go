package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// refusal is an answer to who may not have what he asks for.
type refusal struct {
	status int
	text   string
}

// foreign refuses a web page of another site that calls from a browser here.
func foreign(r *http.Request) *refusal {
	if from := r.Header.Get("Origin"); from != "" {
		if u, err := url.Parse(from); err != nil || u.Host != r.Host {
			return &refusal{http.StatusForbidden, "not for web pages of other sites"}
		}
	}
	return nil
}

// unnamed refuses who came by a name that others choose.
func unnamed(r *http.Request) *refusal {
	if !local(r.Host) {
		return &refusal{http.StatusForbidden, "ask by address: the Host header is neither localhost nor a loopback address"}
	}
	return nil
}

// door is how an HTTP port tells strangers.
type door struct {
	private bool              // only this machine can reach the port
	secret  string            // "" = none
	sum     [sha256.Size]byte // of it
}

func newDoor(private bool, secret string) door {
	return door{private, secret, sha256.Sum256([]byte(secret))}
}

// stranger refuses who came by a name where only this machine can reach the port, and elsewhere all who do not bring the secret. Where there
// is none it says so, and what follows from that.
func (d *door) stranger(w http.ResponseWriter, r *http.Request, so string) *refusal {
	switch {
	case d.private:
		return unnamed(r)
	case d.secret == "":
		return &refusal{http.StatusForbidden, "this port can be reached from other machines" + so + ": start the server with --http-token"}
	}
	return d.keyless(w, r)
}

// keyless refuses a request that does not bring the secret as a bearer's token.
func (d *door) keyless(w http.ResponseWriter, r *http.Request) *refusal {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if fits := d.fits(strings.TrimSpace(given)); !fits || !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return &refusal{http.StatusUnauthorized, "expected Authorization: Bearer with the server's --http-token"}
	}
	return nil
}

// fits reports whether this is the secret. How long that takes says nothing of it.
func (d *door) fits(given string) bool {
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(got[:], d.sum[:]) == 1
}

// keyed gives a page only to those who bring the secret, if there is one, also on a port that only this machine can reach.
func keyed(secret string, page http.HandlerFunc) http.HandlerFunc {
	if secret == "" {
		return page
	}
	d := newDoor(false, secret)
	return func(w http.ResponseWriter, r *http.Request) {
		if no := d.keyless(w, r); no != nil {
			http.Error(w, no.text, no.status)
			return
		}
		page(w, r)
	}
}

// guarded keeps profiles, which slow the server down, what one player is told of another, receipts of shots, which tell where people are,
// and whatever changes something from strangers: on a port that only this machine can reach from other sites' web pages, on any other from
// all who do not know the secret. Figures and health are for everybody.
// /v1/connect looks after itself, and so does the live page, of which refused, if set, counts those who may not see it.
func guarded(pages http.Handler, private bool, secret string, refused func()) http.Handler {
	d := newDoor(private, secret)
	pages = d.paged(pages, refused)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harmless := r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/debug/") && r.URL.Path != "/v1/why" && r.URL.Path != "/v1/shots"
		if !harmless && r.URL.Path != "/v1/connect" {
			no := foreign(r)
			if no == nil {
				no = d.stranger(w, r, "")
			}
			if no != nil {
				http.Error(w, no.text, no.status)
				return
			}
		}
		pages.ServeHTTP(w, r)
	})
}
