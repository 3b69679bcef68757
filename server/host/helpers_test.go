package host

import (
	"io"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/textlog"
	"github.com/tickrate/tickrate/netio/netcode"
)

// publicAddrs are addresses of a server as tokens name it.
var publicAddrs = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913"),
	netip.MustParseAddrPort("[::1]:7913")}

// waitLimit bounds every wait for a host: a busy machine may stall for seconds.
const waitLimit = 20 * time.Second

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}

// logTo is a log of lines with neither time nor level.
func logTo(w io.Writer) *slog.Logger { return slog.New(textlog.New(w, "")) }

var labKey = netcode.Key{0: 29, 1: 7, 31: 9}

// alone skips a long test under the race detector if it runs on one goroutine.
func alone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
