package capture

import (
	"time"

	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/server/metrics"
)

// kind says what a mark marks.
type kind uint8

const (
	kindStage   kind = iota // a stage begins; arg is the stage
	kindConn                // the snapshot of a connection begins; arg is its slot
	kindWith                // so does that of another, at an instant that was not read; arg is its slot
	kindTick                // ticks have ended; arg is the last of them
	kindReceive             // a read of the socket begins
	kindSend                // a write to the socket begins
	kindCall                // a read or write ends; arg is the datagrams that it passed
)

// mark is one event of a thread.
type mark struct {
	at    time.Duration // by the clock of the Recorder
	lobby uint32
	arg   uint32
	kind  kind
}

// maxMarks is the number of marks that a thread keeps: five seconds of a lobby of 64, one of a lobby of
// 500. It is a power of two. More would not fit into the cache that a tick leaves to them.
const maxMarks = 1 << 14

// packed is a mark in 16 bytes.
type packed struct {
	atKind     uint64 // at<<8 | kind: enough for two years
	lobby, arg uint32
}

// ring is the newest marks of a thread.
type ring struct {
	next  uint64 // marks made so far
	marks [maxMarks]packed
}

func (r *ring) add(m mark) {
	r.marks[r.next%maxMarks] = packed{uint64(m.at)<<8 | uint64(m.kind), m.lobby, m.arg}
	r.next++
}

// all returns the marks, oldest first.
func (r *ring) all() []mark {
	n := min(r.next, maxMarks)
	all := make([]mark, n)
	for i := range all {
		p := r.marks[(r.next-n+uint64(i))%maxMarks]
		all[i] = mark{time.Duration(p.atKind >> 8), p.lobby, p.arg, kind(p.atKind)}
	}
	return all
}

// Lobby makes the marks of one lobby. It belongs to the goroutine of the worker that plays the lobby.
type Lobby struct {
	thread *Thread
	id     uint32
	group  int            // connections that share a reading of the clock, 1 or more; 0 before the first tick
	with   int            // connections that share the last reading
	when   *slo.TickWatch // nil: no limit
}

// timedConns is the number of connections from which on two or more share a reading of the clock: 500
// readings would be a hundredth of their tick.
const timedConns = 128

// Port is the ID of the lobby that stands for the socket that several lobbies share.
const Port = ^uint32(0)

// Enter marks the begin of a stage; StageIdle ends a tick. It takes one reading of a clock.
func (l *Lobby) Enter(s metrics.Stage) {
	l.with = l.group // the next connection reads it, too
	l.mark(kindStage, uint32(s))
}

// Beside returns a function for server.Config.EnterStage that calls another one, then Enter.
func (l *Lobby) Beside(label func(metrics.Stage)) func(metrics.Stage) {
	return func(s metrics.Stage) {
		label(s)
		l.Enter(s)
	}
}

// Conn marks the begin of a connection's snapshot, within a stage. In a lobby of 128 connections or
// more it reads the clock for the first of a few.
func (l *Lobby) Conn(slot int) {
	if l.with++; l.with < l.group {
		l.thread.ring.add(mark{0, l.id, uint32(slot), kindWith})
		return
	}
	l.with = 0
	l.mark(kindConn, uint32(slot))
}

// Move makes the marks those of another thread, which plays the lobby from now on. Call it between
// ticks.
func (l *Lobby) Move(to *Thread) { l.thread = to }

func (l *Lobby) mark(k kind, arg uint32) {
	l.thread.ring.add(mark{l.thread.recorder.since(), l.id, arg, k})
}
