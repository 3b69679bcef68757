package agones

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// The address is that of the first port, as soon as the record has one; names are resolved.
func TestAddress(t *testing.T) {
	answers := []string{"", "{}", `{"status": {"address": "10.0.0.1", "ports": []}}`,
		`{"status": {"address": "10.0.0.1", "ports": [{"name": "game", "port": 7654}, {"port": 1}]}}`}
	n := 0
	sdk := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[min(n, len(answers)-1)])
		n++
	}))
	defer sdk.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if at, err := Address(ctx, sdk.URL); err != nil || at != netip.MustParseAddrPort("10.0.0.1:7654") || n != 4 {
		t.Errorf("%v after %d questions: %v", at, n, err)
	}
	answers = []string{`{"status": {"address": "localhost", "ports": [{"port": 7654}]}}`}
	if at, err := Address(ctx, sdk.URL); err != nil || !at.Addr().IsLoopback() || at.Port() != 7654 {
		t.Errorf("a name: %v: %v", at, err)
	}
	answers = []string{`{"status": {"address": "10.0.0.1", "ports": [{"port": 70000}]}}`}
	cancel()
	if _, err := Address(ctx, sdk.URL); err == nil || !strings.Contains(err.Error(), "gives no address") {
		t.Errorf("none: %v", err)
	}
}
