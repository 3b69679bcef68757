package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// All requests without the secret share one answer a second, and an address may send few of them. Requests
// with the secret have no limit, and those with a wrong one count several times.
func TestThreat43StrangersGetLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, refused := 0, 0
		h := Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			made++
			fmt.Fprint(w, made)
		}), Access{Secret: "s"}, func() { refused++ })
		ask := func(path, from, secret string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
			if r.RemoteAddr = from; secret != "" {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			h.ServeHTTP(w, r)
			return w
		}
		const mallory, other = "10.0.0.1:5", "10.0.0.2:5"
		for i := range strangerBurst {
			if w := ask("/stats", mallory, ""); w.Code != 200 || w.Body.String() != "1" {
				t.Fatalf("request %d: %d %q, expected the first answer again", i, w.Code, w.Body)
			}
		}
		if w := ask("/stats", mallory, ""); w.Code != 429 || w.Header().Get("Retry-After") == "" || refused != 1 {
			t.Errorf("one request too many: %d, %d counted", w.Code, refused)
		}
		if w := ask("/healthz", mallory, ""); w.Code != 200 {
			t.Errorf("health: %d", w.Code)
		}
		if w := ask("/stats", other, ""); w.Code != 200 {
			t.Errorf("another address: %d", w.Code)
		}
		for range 2 * strangerBurst {
			if w := ask("/stats", mallory, "s"); w.Code != 200 {
				t.Fatalf("with the secret: %d", w.Code)
			}
		}
		time.Sleep(answerAge)
		if w := ask("/stats", mallory, ""); w.Code != 200 || w.Body.String() == "1" {
			t.Errorf("a second later: %d %q", w.Code, w.Body)
		}
		guesses := 0
		for ; ask("/v1/shots", other, "guess").Code == http.StatusUnauthorized; guesses++ {
		}
		if want := strangerBurst / wrongSecret; guesses > want {
			t.Errorf("%d wrong secrets at once, expected at most %d", guesses, want)
		}
		for i := range 2 * mostAddresses { // counting addresses takes bounded memory
			ask("/stats", fmt.Sprintf("10.%d.%d.%d:1", 1+i>>16, i>>8&255, i&255), "")
		}
	})
}

// A page that panics leaves the port able to answer.
func TestPanicLeavesStrangersAnswered(t *testing.T) {
	s := newStrangers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stats" {
			panic("a fault of the page")
		}
	}))
	func() {
		defer func() { _ = recover() }() // as net/http does
		s.serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/stats", nil))
	}()
	if !s.answering.TryLock() {
		t.Fatal("the lock is held after a panic: nobody is answered any more")
	}
	s.answering.Unlock()
}

// Answers that differ take bounded memory.
func TestAnswersAreBounded(t *testing.T) {
	s := newStrangers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }))
	for i := range 200 {
		s.serve(httptest.NewRecorder(), httptest.NewRequest("GET", fmt.Sprintf("/stats?%d", i), nil))
		if s.bytes > mostBytes+1<<20 || len(s.answers) > mostAnswers {
			t.Fatalf("%d answers of %d bytes are kept", len(s.answers), s.bytes)
		}
	}
}
