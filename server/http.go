package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// web is the host's HTTP port: health, figures, profiles.
type web struct {
	listener net.Listener
	server   http.Server
}

// openWeb listens on addr and serves until close.
func (h *Host) openWeb(addr string) (*web, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http port: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /stats", h.serveStats)
	mux.HandleFunc("POST /stats/reset", h.serveReset)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	w := &web{listener: l, server: http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}
	go func() { _ = w.server.Serve(l) }() // ends with close; there is nobody to tell
	return w, nil
}

// HTTPAddr is the address of the HTTP port, "" if there is none.
func (h *Host) HTTPAddr() string {
	if h.web == nil {
		return ""
	}
	return h.web.listener.Addr().String()
}

func (w *web) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.server.Shutdown(ctx); err != nil { // a profile may still be running
		return w.server.Close()
	}
	return nil
}

func (h *Host) serveStats(w http.ResponseWriter, _ *http.Request) {
	h.reading.Lock()
	r := h.report()
	h.reading.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r) // the reader has gone: nothing to do
}

func (h *Host) serveReset(w http.ResponseWriter, _ *http.Request) {
	h.reading.Lock()
	h.reset()
	h.reading.Unlock()
	w.WriteHeader(http.StatusNoContent)
}
