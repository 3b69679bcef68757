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
	kindWith                // so do those of others, at instants that were not read; arg is their number
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
	with  uint64 // of kindWith: slots, see packed
}

// maxMarks is the number of marks that a thread keeps: five seconds of a lobby of 64, one of a lobby of
// 500. It is a power of two. More would not fit into the cache that a tick leaves to them.
const maxMarks = 1 << 14

// packed is a mark in 16 bytes.
type packed struct {
	atKind     uint64 // at<<8 | kind: enough for two years; of kindWith slots<<8 | kind, each in slotBits
	lobby, arg uint32
}

// A mark of kindWith has up to maxWith slots.
const (
	slotBits = 14
	maxWith  = 4
)

// ring is the newest marks of a thread.
type ring struct {
	next  uint64 // marks made so far
	marks [maxMarks]packed
}

func (r *ring) add(m mark) {
	r.marks[r.next%maxMarks] = packed{uint64(m.at)<<8 | uint64(m.kind), m.lobby, m.arg}
	r.next++
}

// addWith adds a connection to the newest mark, if that is of kindWith and has room, or else to
// another.
func (r *ring) addWith(lobby, slot uint32) {
	if r.next > 0 {
		p := &r.marks[(r.next-1)%maxMarks]
		if kind(p.atKind) == kindWith && p.lobby == lobby && p.arg < maxWith {
			p.atKind |= uint64(slot) << (8 + slotBits*p.arg)
			p.arg++
			return
		}
	}
	r.marks[r.next%maxMarks] = packed{uint64(slot)<<8 | uint64(kindWith), lobby, 1}
	r.next++
}

// slots appends the slots of a mark of kindWith.
func (m *mark) slots(to []uint32) []uint32 {
	for i := range m.arg {
		to = append(to, uint32(m.with>>(slotBits*i))&(1<<slotBits-1))
	}
	return to
}

// all returns the marks, oldest first.
func (r *ring) all() []mark {
	n := min(r.next, maxMarks)
	all := make([]mark, n)
	for i := range all {
		p := r.marks[(r.next-n+uint64(i))%maxMarks]
		if all[i] = (mark{lobby: p.lobby, arg: p.arg, kind: kind(p.atKind)}); all[i].kind == kindWith {
			all[i].with = p.atKind >> 8
		} else {
			all[i].at = time.Duration(p.atKind >> 8)
		}
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
		l.thread.ring.addWith(l.id, uint32(slot))
		return
	}
	l.with = 0
	l.mark(kindConn, uint32(slot))
}

// Move makes the marks those of another thread, which plays the lobby from now on. Call it between
// ticks.
func (l *Lobby) Move(to *Thread) { l.thread = to }

func (l *Lobby) mark(k kind, arg uint32) {
	l.thread.ring.add(mark{at: l.thread.recorder.since(), lobby: l.id, arg: arg, kind: k})
}
