package host

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// quietFor is how long further lines of a kind are held back after one was written.
const quietFor = 10 * time.Second

// rateLog is a log with a limit for records that anybody on the network can cause in any number, such
// as refusals. The first record of a kind is written at once; those of the next ten seconds are summed
// up in one. Kinds are few: names in the source, never text from the network. Any goroutine may use
// it.
type rateLog struct {
	*slog.Logger
	mu    sync.Mutex
	kinds map[string]*logKind
	order []string // kinds in the order of their first record, so that summaries have one order
}

// logKind is the state of one kind of record.
type logKind struct {
	level   slog.Level
	written time.Duration // last record
	quiet   bool          // less than quietFor ago
	held    int           // events held back since
	last    string        // the newest of them
}

func newRateLog(l *slog.Logger) *rateLog {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return &rateLog{Logger: l, kinds: map[string]*logKind{}}
}

// event logs one event.
func (l *rateLog) event(now time.Duration, level slog.Level, kind, format string, args ...any) {
	l.events(now, level, kind, 1, format, args...)
}

// events logs n events; the text describes the last. n of 0 logs nothing.
func (l *rateLog) events(now time.Duration, level slog.Level, kind string, n int, format string, args ...any) {
	if n == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kinds[kind]
	if k == nil {
		k = &logKind{level: level}
		l.kinds[kind], l.order = k, append(l.order, kind)
	}
	text := fmt.Sprintf(format, args...)
	if k.quiet && now-k.written < quietFor {
		k.held += n
		k.last = text
		return
	}
	l.summary(now, k)
	if n > 1 {
		text = fmt.Sprintf("%s (%d times)", text, n)
	}
	k.written, k.quiet = now, true
	l.write(level, text)
}

// write writes a record at a level that only the caller knows.
func (l *rateLog) write(level slog.Level, text string) { l.Log(context.Background(), level, text) }

// flushMode says which summaries flush writes.
type flushMode int

const (
	flushDue flushMode = iota // of kinds that have been quiet for long enough
	flushAll
)

// flush writes summaries of events that were held back.
func (l *rateLog) flush(now time.Duration, mode flushMode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.order {
		k := l.kinds[name]
		if k.quiet && (mode == flushAll || now-k.written >= quietFor) {
			l.summary(now, k)
		}
	}
}

// summary writes how many events of a kind were held back. A kind that goes on stays quiet for
// another quietFor.
func (l *rateLog) summary(now time.Duration, k *logKind) {
	k.quiet = k.held > 0
	switch {
	case k.held == 0:
		return
	case k.held == 1:
		l.write(k.level, k.last)
	default:
		l.write(k.level, fmt.Sprintf("%s (and %d more like it in %.0f s)", k.last, k.held-1,
			(now-k.written).Seconds()))
	}
	k.written, k.held, k.last = now, 0, ""
}

// disconnectRepeats tells datagrams of sessions that have just ended from those of unknown
// addresses. A client sends its disconnect ten times: the first ends the session, the others come
// from an address without one.
type disconnectRepeats struct{ expected uint64 }

// repeatsPerDisconnect is the number of disconnect datagrams after the first, as netcode 1.02 sends
// them.
const repeatsPerDisconnect = 9

// unknown returns the number of datagrams from unknown addresses in a second that are no repeated
// disconnects. disconnects is the number of disconnects in that second; late repeats may arrive in
// the next one.
func (d *disconnectRepeats) unknown(datagrams, disconnects uint64) uint64 {
	expected := d.expected + repeatsPerDisconnect*disconnects
	repeats := min(datagrams, expected)
	d.expected = min(expected-repeats, repeatsPerDisconnect*disconnects)
	return datagrams - repeats
}
