package capture

import (
	"time"

	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/internal/clock"
)

// Thread keeps the newest marks of one worker. It belongs to the goroutine of that worker, which is
// bound to its thread.
type Thread struct {
	recorder *Recorder
	ring     *ring
	delay    *clock.RunDelay // nil before Bind
	unread   unread
	round    round           // in hand
	limited  slo.TickFigures // scratch
}

// round is one wake-up of the worker, in which it plays the lobbies that are due. Durations are those
// of the thread since the round began.
type round struct {
	began    time.Duration // by the clock of the Recorder
	woke     time.Duration // how much later it woke than it had asked for
	cpuAt    time.Duration // CPU time of the thread when it began
	elapsed  time.Duration
	cpu      time.Duration
	runDelay time.Duration // ready to run while other processes had the processor, but for woke
}

// unread is what has happened since the run delay was read last.
type unread struct {
	rounds int
	woke   time.Duration // sum of round.woke
}

// The run delay is read in a round in which the thread did not run for offRead or longer, and in each
// readEvery-th: a reading takes some microseconds. The delay of rounds between is that of the last one
// in which it was read; cause takes no more of it than the thread did not run.
const (
	offRead   = 100 * time.Microsecond
	readEvery = 16
)

// NewThread returns the marks of another worker; nil of a nil Recorder.
func (r *Recorder) NewThread() *Thread {
	if r == nil {
		return nil
	}
	return &Thread{recorder: r, ring: new(ring)}
}

// Bind begins to measure the calling thread, to which the goroutine must be bound. A nil Thread does
// nothing, here and below.
func (t *Thread) Bind() {
	if t != nil {
		t.delay = clock.NewRunDelay()
	}
}

// Close frees what Bind has taken.
func (t *Thread) Close() {
	if t != nil && t.delay != nil {
		t.delay.Close()
	}
}

// Lobby returns the marks of a lobby that this thread plays.
func (t *Thread) Lobby(id uint32) *Lobby {
	return &Lobby{thread: t, id: id, when: t.recorder.cfg.When.Watch()}
}

// BeginRound begins a wake-up of the worker, which woke late by woke.
func (t *Thread) BeginRound(woke time.Duration) {
	if t == nil {
		return
	}
	t.round = round{began: t.recorder.since(), woke: woke, cpuAt: clock.ThreadCPU()}
}

// EndRound measures the wake-up in hand. Ticks may follow, for each tick that was played in it.
func (t *Thread) EndRound() {
	if t == nil {
		return
	}
	r := &t.round
	r.elapsed = t.recorder.since() - r.began
	r.cpu = clock.ThreadCPU() - r.cpuAt
	u := &t.unread
	u.rounds, u.woke = u.rounds+1, u.woke+r.woke
	if r.elapsed-r.cpu < offRead && u.rounds < readEvery {
		return
	}
	// The thread slept until it was due, and woke late.
	r.runDelay = max(0, t.delay.Read(0)-u.woke)
	*u = unread{}
}

// Receive marks the begin of a read of the socket.
func (t *Thread) Receive() { t.call(kindReceive, 0) }

// Send marks the begin of a write to the socket.
func (t *Thread) Send() { t.call(kindSend, 0) }

// Called marks the end of a read or write that has passed n datagrams.
func (t *Thread) Called(n int) { t.call(kindCall, uint32(n)) }

func (t *Thread) call(k kind, arg uint32) {
	t.ring.add(mark{at: t.recorder.since(), lobby: Port, arg: arg, kind: k})
}

// take gives away the marks, and begins anew in spare memory.
func (t *Thread) take(spare *ring) (marks *ring) {
	marks = t.ring
	t.ring = spare
	return marks
}
