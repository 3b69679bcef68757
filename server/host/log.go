package host

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// quietFor is how long further lines of a kind are held back after one was written.
const quietFor = 10 * time.Second

// rateLog writes lines that anybody on the network can cause in any number, such as refusals. The
// first line of a kind is written at once; those of the next ten seconds are summed up in one.
// Kinds are few: names in the source, never text from the network. Any goroutine may use it.
type rateLog struct {
	mu    sync.Mutex
	w     io.Writer
	kinds map[string]*logKind
	order []string // kinds in the order of their first line, so that summaries have one order
}

// logKind is the state of one kind of line.
type logKind struct {
	written time.Duration // last line
	quiet   bool          // less than quietFor ago
	held    int           // events held back since
	last    string        // the newest of them
}

func newRateLog(w io.Writer) *rateLog {
	if w == nil {
		w = io.Discard
	}
	return &rateLog{w: w, kinds: map[string]*logKind{}}
}

// Write passes a line through that needs no limit.
func (l *rateLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// event logs one event.
func (l *rateLog) event(now time.Duration, kind, format string, args ...any) {
	l.events(now, kind, 1, format, args...)
}

// events logs n events; the text describes the last. n of 0 logs nothing.
func (l *rateLog) events(now time.Duration, kind string, n int, format string, args ...any) {
	if n == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kinds[kind]
	if k == nil {
		k = &logKind{}
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
	fmt.Fprintln(l.w, text)
}

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
		fmt.Fprintln(l.w, k.last)
	default:
		fmt.Fprintf(l.w, "%s (and %d more like it in %.0f s)\n", k.last, k.held-1,
			(now - k.written).Seconds())
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
