// Package web is the HTTP server of all programs of this module. Requests go in, whole and within a
// time; what a handler writes comes out. No stranger can keep a port from answering: there are bounds
// on the time of a request, on its body, and on the connections of an address and of all.
package web

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Bounds on a request. A handler that streams sets the deadline of each write itself, by an
// http.ResponseController.
const (
	MaxBody       = 64 << 10         // bytes of a request's body
	headerTimeout = 5 * time.Second  // from the first byte of a request to the last of its header
	bodyTimeout   = 5 * time.Second  // from there to the last byte of its body
	writeTimeout  = 10 * time.Second // from the header to the last byte of the answer
	idleTimeout   = time.Minute      // between two requests of a connection
	maxHeader     = 16 << 10         // bytes
)

// Server is an HTTP port.
type Server struct {
	pool *pool
	http http.Server
}

// Listen opens the TCP port addr, host:port; Serve begins to answer. The caller must call Close.
func Listen(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http port: %w", err)
	}
	return &Server{pool: newPool(l, maxConns())}, nil
}

// Addr is the address of the port.
func (s *Server) Addr() string { return s.pool.Addr().String() }

// Loopback reports whether only this machine can reach the port.
func (s *Server) Loopback() bool {
	at, ok := s.pool.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// Serve answers requests on a goroutine of its own until Close.
func (s *Server) Serve(h http.Handler) {
	s.http = http.Server{
		Handler:           readWhole(s.pool.answer(h)),
		ReadHeaderTimeout: headerTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext:    remember, ConnState: s.pool.changed,
		ErrorLog: log.New(io.Discard, "", 0), // errors of clients are for the clients to read
	}
	go func() { _ = s.http.Serve(s.pool) }() // ends with Close
}

// ServeUntil answers requests until ctx ends, and closes the port.
func (s *Server) ServeUntil(ctx context.Context, h http.Handler) error {
	s.Serve(h)
	<-ctx.Done()
	return s.Close()
}

// Close stops the port. Requests that are still running after a second are cut off.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// a server that has hardly begun may not know its listener yet; closing twice is harmless
	defer s.pool.Close()
	if err := s.http.Shutdown(ctx); err != nil {
		return s.http.Close()
	}
	return nil
}

// MayTake gives a handler a time longer than writeTimeout for its answer.
func MayTake(w http.ResponseWriter, d time.Duration) {
	// the recorders of tests have no deadline
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d + writeTimeout))
}
