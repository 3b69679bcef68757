package httpapi

import (
	"bytes"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/internal/web"
)

// Bounds on what requests without the secret may cost on a port that other machines reach.
const (
	strangerRate  = 20 // requests a second of an address
	strangerBurst = 60
	wrongSecret   = 5           // requests that one with a wrong secret counts as
	answerAge     = time.Second // of an answer that is given again
	mostAnswers   = 64          // that are kept
	mostBytes     = 8 << 20     // of answers that are kept, before the newest
	mostAddresses = 4096        // whose requests are counted
)

// strangers answers requests without the secret: at most strangerRate of an address, one at a time, and
// the same answer to equal requests within answerAge. A worker always has a processor beside it, if
// there are two.
type strangers struct {
	pages http.Handler
	since time.Time

	counting sync.Mutex // guards rates
	rates    map[netip.Prefix]ratelimit.Bucket

	answering sync.Mutex // held while a page is made; guards answers
	answers   map[string]*answer
	bytes     int // of answers
}

// answer is what a page has answered to a request.
type answer struct {
	at     time.Time
	status int
	header http.Header
	body   bytes.Buffer
}

func newStrangers(pages http.Handler) *strangers {
	return &strangers{pages: pages, since: time.Now(), rates: map[netip.Prefix]ratelimit.Bucket{},
		answers: map[string]*answer{}}
}

// Header, Write and WriteHeader make an answer an http.ResponseWriter.
func (a *answer) Header() http.Header            { return a.header }
func (a *answer) WriteHeader(status int)         { a.status = status }
func (a *answer) Write(text []byte) (int, error) { return a.body.Write(text) }

// allow counts n requests of an address. It refuses them once the address has asked for too much.
func (s *strangers) allow(r *http.Request, n int) *refusal {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address for a test's request
	from := web.Network(at.Addr())
	now := time.Since(s.since)
	s.counting.Lock()
	defer s.counting.Unlock()
	rate, known := s.rates[from]
	if !known {
		if len(s.rates) >= mostAddresses {
			maps.DeleteFunc(s.rates, func(_ netip.Prefix, b ratelimit.Bucket) bool { return b.Ready(now) })
		}
		if len(s.rates) >= mostAddresses {
			clear(s.rates)
		}
		rate = ratelimit.NewBurst(strangerRate, strangerBurst)
	}
	ok := rate.Allow(now, n)
	s.rates[from] = rate
	if !ok {
		return &refusal{http.StatusTooManyRequests, "too many requests without the secret; try again in a second"}
	}
	return nil
}

// serve answers a request that needs no secret.
func (s *strangers) serve(w http.ResponseWriter, r *http.Request) {
	a := s.answer(r)
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // the reader has gone: nothing to do
}

// answer returns the answer to a request, which nobody changes any more.
func (s *strangers) answer(r *http.Request) *answer {
	key := r.URL.Path + "?" + r.URL.RawQuery + "\n" + r.Header.Get("Accept") + "\n" +
		r.Header.Get("Accept-Encoding") + "\n" + r.Header.Get("If-None-Match")
	s.answering.Lock()
	defer s.answering.Unlock() // also if the page panics
	if a := s.answers[key]; a != nil {
		if time.Since(a.at) < answerAge {
			return a
		}
		delete(s.answers, key)
		s.bytes -= a.body.Len()
	}
	if len(s.answers) >= mostAnswers || s.bytes >= mostBytes {
		clear(s.answers)
		s.bytes = 0
	}
	a := &answer{status: http.StatusOK, header: http.Header{}}
	s.pages.ServeHTTP(a, r)
	a.at, s.bytes = time.Now(), s.bytes+a.body.Len()
	s.answers[key] = a
	return a
}
