package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/trace"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/bench/slo"
)

// Config describes a Recorder.
type Config struct {
	Dir  string         // folder of the captures; made if need be
	When *slo.TickLimit // captures ticks above it, too; nil: only those that miss their deadline
	Most int            // captures in Dir, those of earlier runs included, 1 or more
	// Every is the least time between two captures; default DefaultEvery.
	Every time.Duration
	// Await captures nothing until Allow is called.
	Await bool
	Log   io.Writer // a line for each capture; nil: none
	// ReplayFlags are the flags with which tickrate replay finds a map and a content pack, by the names
	// that the lobby has for them. Any goroutine may call it. nil: there are none.
	ReplayFlags func(mapName, content string) []string
}

// DefaultEvery is the default of Config.Every.
const DefaultEvery = time.Minute

const (
	// traceAge and traceBytes bound what the flight recorder keeps.
	traceAge   = 5 * time.Second
	traceBytes = 16 << 20
)

// Recorder keeps the newest ticks of a process and writes captures. Threads belong to their workers;
// any goroutine may use the rest.
type Recorder struct {
	cfg    Config
	when   string // why a tick above the limit is captured
	begin  time.Time
	flight *trace.FlightRecorder

	claimed  atomic.Int64 // when a capture is allowed next, by since
	spare    chan *ring   // memory for a thread that gives its own away; has one
	evidence chan evidence
	done     chan struct{} // closed when the writer has ended
	hiccups  hiccups
}

// New makes the folder. The recorder runs from Start on.
func New(cfg Config) (*Recorder, error) {
	if cfg.Most < 1 {
		return nil, fmt.Errorf("capture: at most %d captures: expected 1 or more", cfg.Most)
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	cfg.Every = cmp.Or(cfg.Every, DefaultEvery)
	if cfg.Log == nil {
		cfg.Log = io.Discard
	}
	r := &Recorder{cfg: cfg, begin: time.Now(), spare: make(chan *ring, 1), evidence: make(chan evidence, 1),
		done: make(chan struct{}), flight: NewFlightRecorder()}
	if cfg.When != nil {
		r.when = "exceeded " + cfg.When.String()
	}
	if cfg.Await {
		r.claimed.Store(never)
	}
	r.spare <- new(ring)
	return r, nil
}

// NewFlightRecorder returns a flight recorder as a Recorder starts it.
func NewFlightRecorder() *trace.FlightRecorder {
	return trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: traceAge, MaxBytes: traceBytes})
}

// since is the clock of the recorder.
func (r *Recorder) since() time.Duration { return time.Since(r.begin) }

// Start starts the flight recorder, which a process may have only one of, and the goroutine that writes
// captures.
func (r *Recorder) Start() error {
	if err := r.flight.Start(); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	go r.run()
	return nil
}

// Close waits until all captures are written and stops the flight recorder. No thread may capture
// after it. A nil Recorder has none.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	close(r.evidence)
	<-r.done
	r.flight.Stop()
}

// run writes captures, one after another.
func (r *Recorder) run() {
	defer close(r.done)
	for e := range r.evidence {
		r.contained(&e)
		e.marks.next = 0
		r.spare <- e.marks
	}
}

// contained writes one capture; a panic of it ends neither the server nor the recorder.
func (r *Recorder) contained(e *evidence) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(r.cfg.Log, "capture: not written: %v\n", fault)
		}
	}()
	path, err := r.write(e)
	switch {
	case errors.Is(err, errFull):
		fmt.Fprintf(r.cfg.Log, "capture: lobby %s, tick %d %s, but %s has %d captures already, "+
			"the most that --capture-most allows\n", e.about.Name, e.tick.Last, e.why, r.cfg.Dir, r.cfg.Most)
	case err != nil:
		fmt.Fprintf(r.cfg.Log, "capture: lobby %s, tick %d %s: %v\n", e.about.Name, e.tick.Last, e.why, err)
	default:
		fmt.Fprintf(r.cfg.Log, "capture: lobby %s, tick %d %s: %s\n", e.about.Name, e.tick.Last, e.why, path)
	}
}

// never is an instant after all others, by the clock of a Recorder.
const never = math.MaxInt64

// Allow allows captures of a recorder that awaits it. Any goroutine may call it; a nil Recorder does
// nothing.
func (r *Recorder) Allow() {
	if r != nil {
		r.claimed.CompareAndSwap(never, int64(r.since()))
	}
}

// claim reports whether a capture may begin, and if so allows the next one only after Config.Every.
// The first may begin at once; none may while another is being written.
func (r *Recorder) claim(now time.Duration) bool {
	at := r.claimed.Load()
	return int64(now) >= at && len(r.spare) == 1 && r.claimed.CompareAndSwap(at, int64(now+r.cfg.Every))
}
