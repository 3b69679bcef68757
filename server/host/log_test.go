package host

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The first line of a kind is written at once. A flood of a kind is one line in ten seconds with
// its count, and does not delay other kinds.
func TestLogLimitsKinds(t *testing.T) {
	var w bytes.Buffer
	l := newRateLog(logTo(&w))
	check := func(at time.Duration, want ...string) {
		t.Helper()
		if got := strings.TrimSuffix(w.String(), "\n"); got != strings.Join(want, "\n") {
			t.Errorf("at %v: %q, want %q", at, got, want)
		}
		w.Reset()
	}
	s := time.Second
	l.event(0, slog.LevelInfo, "a", "a %d", 1)
	l.event(1*s, slog.LevelInfo, "b", "b %d", 1)
	check(1*s, "a 1", "b 1")
	for i := range 1000 {
		l.event(2*s, slog.LevelInfo, "a", "a %d", i+2)
	}
	l.flush(9*s, flushDue)
	check(9 * s)
	l.flush(10*s, flushDue)
	check(10*s, "a 1001 (and 999 more like it in 10 s)")
	l.event(15*s, slog.LevelInfo, "a", "a %d", 2000)
	check(15 * s) // still quiet: the summary was five seconds ago
	l.event(15*s, slog.LevelInfo, "b", "b %d", 2)
	check(15*s, "b 2")
	l.flush(21*s, flushDue)
	check(21*s, "a 2000")
	l.flush(31*s, flushDue)
	l.event(31*s, slog.LevelInfo, "a", "a %d", 2001) // the flood is over: at once again
	check(31*s, "a 2001")
	l.events(32*s, slog.LevelInfo, "c", 7, "c")
	l.events(32*s, slog.LevelInfo, "c", 0, "never")
	l.events(33*s, slog.LevelInfo, "c", 5, "c")
	check(33*s, "c (7 times)")
	l.event(34*s, slog.LevelInfo, "a", "a %d", 2002)
	l.flush(34*s, flushAll)
	check(34*s, "a 2002", "c (and 4 more like it in 2 s)")
}

// Repeats of a client's disconnect belong to no session and are not logged. Datagrams beyond them
// are.
func TestDisconnectRepeatsAreNotLogged(t *testing.T) {
	var l disconnectRepeats
	for i, c := range []struct{ unknown, goodbyes, want uint64 }{
		0:  {5, 0, 5},
		1:  {9, 1, 0},
		2:  {1, 0, 1},
		3:  {4, 1, 0}, // five are to come
		4:  {5, 0, 0},
		5:  {1, 0, 1},
		6:  {0, 2, 0}, // all eighteen are to come, or were lost
		7:  {20, 0, 2},
		8:  {0, 2, 0},
		9:  {0, 0, 0},
		10: {1, 0, 1}, // too late
		11: {0, 100, 0},
		12: {0, 1, 0},
		13: {10, 0, 1},
		14: {100, 10, 10},
	} {
		if got := l.unknown(c.unknown, c.goodbyes); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
}
