package server

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// quiet is how long a kind of line stays unsaid once it was said.
const quiet = 10 * time.Second

// logbook writes lines that may become many, such as what strangers cause: the first of a kind at once, the next of its kind
// within ten seconds not at all, and after them one line with their count and the last of them. Kinds are few: names in the
// source, never text from the network. Any goroutine may use it.
type logbook struct {
	mu    sync.Mutex
	w     io.Writer
	kinds map[string]*logKind
	order []string // kinds, as they were first said: summaries come in one order
}

// logKind is what was said of a kind.
type logKind struct {
	said  time.Duration // the last line
	quiet bool          // since less than ten seconds
	held  int           // events since, that were not written
	last  string        // the newest of them
}

// tails are the datagrams of sessions that have just ended. A client says goodbye ten times: the first ends its session, the
// others come from nobody we know, and are nothing to write about.
type tails struct{ room uint64 }

// repeats are a client's goodbyes after the first, as netcode 1.02 has them.
const repeats = 9

// strangers returns how many of a second's datagrams from unknown addresses are no goodbyes, if so many goodbyes were taken in
// it. Those that are late may come in the next second.
func (t *tails) strangers(unknown, goodbyes uint64) uint64 {
	room := t.room + repeats*goodbyes
	tail := min(unknown, room)
	t.room = min(room-tail, repeats*goodbyes)
	return unknown - tail
}

func newLogbook(w io.Writer) *logbook {
	if w == nil {
		w = io.Discard
	}
	return &logbook{w: w, kinds: map[string]*logKind{}}
}

// Write passes a line that needs no limit.
func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// say notes one event.
func (l *logbook) say(now time.Duration, kind, format string, args ...any) {
	l.sayMany(now, kind, 1, format, args...)
}

// sayMany notes n events of which the text tells the last. n of 0 is nothing.
func (l *logbook) sayMany(now time.Duration, kind string, n int, format string, args ...any) {
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
	if k.quiet && now-k.said < quiet {
		k.held += n
		k.last = fmt.Sprintf(format, args...)
		return
	}
	l.summary(now, k)
	text := fmt.Sprintf(format, args...)
	if n > 1 {
		text = fmt.Sprintf("%s (%d times)", text, n)
	}
	k.said, k.quiet = now, true
	fmt.Fprintln(l.w, text)
}

// flush writes the summaries that are due; all of them if the end has come.
func (l *logbook) flush(now time.Duration, end bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.order {
		k := l.kinds[name]
		if k.quiet && (end || now-k.said >= quiet) {
			l.summary(now, k)
		}
	}
}

// summary says how many of a kind were held back. A kind that goes on stays quiet for another ten seconds.
func (l *logbook) summary(now time.Duration, k *logKind) {
	k.quiet = k.held > 0
	if k.held == 0 {
		return
	}
	if k.held == 1 {
		fmt.Fprintln(l.w, k.last)
	} else {
		fmt.Fprintf(l.w, "%s (and %d more like it in %.0f s)\n", k.last, k.held-1, (now - k.said).Seconds())
	}
	k.said, k.held, k.last = now, 0, ""
}
