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

// keyless refuses a request that does not bring the secret with this sum as a bearer's token.
func keyless(w http.ResponseWriter, r *http.Request, sum [sha256.Size]byte) *refusal {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], sum[:]) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return &refusal{http.StatusUnauthorized, "expected Authorization: Bearer with the server's --http-token"}
	}
	return nil
}

// keyed gives a page only to those who bring the secret, if there is one, also on a port that only this machine can reach.
func keyed(secret string, page http.HandlerFunc) http.HandlerFunc {
	if secret == "" {
		return page
	}
	sum := sha256.Sum256([]byte(secret))
	return func(w http.ResponseWriter, r *http.Request) {
		if no := keyless(w, r, sum); no != nil {
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
	sum := sha256.Sum256([]byte(secret))
	pages = paged(pages, private, secret, refused)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harmless := r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/debug/") && r.URL.Path != "/v1/why" && r.URL.Path != "/v1/shots"
		if no := (*refusal)(nil); !harmless && r.URL.Path != "/v1/connect" {
			switch no = foreign(r); {
			case no != nil:
			case private:
				no = unnamed(r)
			case secret == "":
				no = &refusal{http.StatusForbidden, "this port can be reached from other machines: start the server with --http-token"}
			default:
				no = keyless(w, r, sum)
			}
			if no != nil {
				http.Error(w, no.text, no.status)
				return
			}
		}
		pages.ServeHTTP(w, r)
	})
}
