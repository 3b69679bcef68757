package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// web is the host's HTTP port: health, figures, profiles, tokens.
type web struct {
	listener net.Listener
	server   http.Server
}

// listenWeb opens the port; serve begins to answer.
func listenWeb(addr string) (*web, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http port: %w", err)
	}
	return &web{listener: l}, nil
}

// loopback says whether only this machine can reach the port.
func (w *web) loopback() bool {
	at, ok := w.listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// serve answers until close.
func (w *web) serve(h http.Handler) {
	w.server = http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0)} // what strangers do wrong is theirs to read
	go func() { _ = w.server.Serve(w.listener) }() // ends with close; there is nobody to tell
}

// newMux returns the pages that every host has. There is no /debug/pprof/cmdline: a command line may hold the private key.
func newMux(health, profile http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", health)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

// pages are those of a lobby.
func (h *Host) pages(secret string) *http.ServeMux {
	mux := newMux(h.serveHealth, h.marker.profile)
	if h.view.page != nil {
		h.view.page.Routes(mux)
	}
	mux.HandleFunc("GET /healthz/ready", h.serveReady)
	mux.Handle("GET /metrics", serveMetrics(h.registry))
	mux.Handle("GET /stats", hasty(http.HandlerFunc(h.serveStats)))
	mux.Handle("GET /v1/bits", hasty(http.HandlerFunc(h.serveBits)))
	mux.Handle("GET /v1/why", hasty(keyed(secret, h.serveWhy)))
	mux.HandleFunc("POST /stats/reset", h.serveReset)
	mux.HandleFunc("POST /v1/console", keyed(secret, h.serveConsole))
	mux.HandleFunc("GET /v1/shots", keyed(secret, h.serveShots))
	return mux
}

func (w *web) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	defer w.listener.Close()                       // a server that has hardly begun may not know of it yet; a second time does nothing
	if err := w.server.Shutdown(ctx); err != nil { // a profile may still be running
		return w.server.Close()
	}
	return nil
}

func (h *Host) serveStats(w http.ResponseWriter, _ *http.Request) {
	h.reading.Lock()
	r := h.report()
	h.reading.Unlock()
	writeJSON(w, r)
}

func (h *Host) serveReset(w http.ResponseWriter, _ *http.Request) {
	h.reading.Lock()
	h.reset()
	h.reading.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// healthy answers for who is well as long as he answers.
func healthy(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the reader has gone: nothing to do
}
