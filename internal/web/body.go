package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// readWhole reads the body of each request before h sees it, so that no handler waits for a stranger.
func readWhole(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			body, err := readBody(w, r)
			if err != nil {
				refuseBody(w, err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		h.ServeHTTP(w, r)
	})
}

// readBody reads the body of a request within bodyTimeout.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // a test's recorder has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	return body, err
}

// refuseBody answers a request whose body could not be read, and ends its connection.
func refuseBody(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		http.Error(w, fmt.Sprintf("the body is longer than %d bytes", MaxBody), http.StatusRequestEntityTooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded):
		http.Error(w, fmt.Sprintf("the body did not come within %v", bodyTimeout), http.StatusRequestTimeout)
	default:
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
	}
}
