package dash

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tickrate/tickrate/internal/webplot"
)

// headHTML begins both pages.
//
//go:embed assets/head.html
var headHTML string

//go:embed assets/page.html
var pageHTML string

//go:embed assets/lobbies.html
var lobbiesHTML string

//go:embed assets/lobbies.js
var lobbiesScript string

//go:embed assets/dash.css
var style string

//go:embed assets/dash.js
var script string

// policy lets the page load from its own host only. The page has no inline style or script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
	"data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Prefix begins all paths of the page but /.
const Prefix = "/dash/"

// text is a file of the page; tag is a hash of its content.
type text struct{ kind, body, tag string }

func newText(kind, body string) text {
	sum := sha256.Sum256([]byte(body))
	return text{kind, body, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// Routes adds the page to a mux: GET / and below /dash/. The caller checks access.
func (d *Dash) Routes(mux *http.ServeMux) {
	for path, t := range map[string]text{
		"/{$}":              newText("text/html; charset=utf-8", headHTML+pageHTML),
		Prefix + "page.css": newText("text/css; charset=utf-8", webplot.Style()+"\n"+style),
		Prefix + "page.js":  newText("text/javascript; charset=utf-8", webplot.Script()+"\n"+script),
	} {
		mux.HandleFunc("GET "+path, t.serve)
	}
	mux.HandleFunc("GET "+Prefix+"map.json", d.serveMap)
	mux.HandleFunc("GET "+Prefix+"events", d.serveEvents)
}

// guard sets the headers of every answer.
func guard(h http.Header, kind string) {
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// Lobbies returns the pages of a host with several lobbies: GET / lists them, with links to the live
// page of each at /?lobby=N. The caller checks access.
func Lobbies() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", newText("text/html; charset=utf-8", headHTML+lobbiesHTML).serve)
	mux.HandleFunc("GET "+Prefix+"lobbies.js", newText("text/javascript; charset=utf-8", lobbiesScript).serve)
	return mux
}

// IsLobbies reports whether a request is for one of the pages of Lobbies.
func IsLobbies(r *http.Request) bool {
	return r.URL.Path == "/" && !r.URL.Query().Has("lobby") || r.URL.Path == Prefix+"lobbies.js"
}

func (t text) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	guard(h, t.kind)
	h.Set("Cache-Control", "no-cache") // revalidated by ETag
	h.Set("ETag", t.tag)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(t.body))
}

func (d *Dash) serveMap(w http.ResponseWriter, _ *http.Request) {
	guard(w.Header(), "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(*d.maps.Load()) // the reader has gone: nothing to do
}

// serveEvents streams about once and then frames. An event before a frame says how many frames this
// reader has missed, if that has grown.
func (d *Dash) serveEvents(w http.ResponseWriter, r *http.Request) {
	reader := d.join()
	if reader == nil {
		count(d.Refused)
		w.Header().Set("Retry-After", "5")
		http.Error(w, fmt.Sprintf("%d readers already", MaxReaders), http.StatusServiceUnavailable)
		return
	}
	defer d.leave(reader)
	guard(w.Header(), "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := stream{w: w, to: http.NewResponseController(w), timeout: d.readTimeout}
	hush := time.NewTicker(quiet)
	defer hush.Stop()
	err, missed := out.send(d.about), uint64(0)
	for err == nil {
		select {
		case <-r.Context().Done():
			return
		case <-d.ended:
			return
		case text := <-reader.frames:
			if now := reader.missed.Load(); now != missed {
				missed = now
				err = out.write(event("missed", missed))
			}
			if err == nil {
				err = out.send(text)
			}
		case <-hush.C:
			err = out.send([]byte(": still here\n\n"))
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		count(d.Kicked)
	}
}

// stream writes to a reader, each time for at most timeout.
type stream struct {
	w       http.ResponseWriter
	to      *http.ResponseController
	timeout time.Duration
}

func (s *stream) write(text []byte) error {
	_ = s.to.SetWriteDeadline(time.Now().Add(s.timeout)) // a test's recorder has none
	_, err := s.w.Write(text)
	return err
}

func (s *stream) send(text []byte) error {
	if err := s.write(text); err != nil {
		return err
	}
	return s.to.Flush()
}
