// Package metrics holds the figures of one lobby: counters, histograms by stage, and an account of
// every byte that was sent. The lobby's tick writes them without locks or allocations; any
// goroutine reads them. It opens no socket, starts no goroutine and reads no clock: clocks are
// functions that the caller gives.
package metrics

import (
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
)

// Stats are a lobby's figures, for any goroutine to read.
type Stats struct {
	*Histograms
	Count [NumCounts]meter.Counter

	LoadLevel [overload.NumLevels]meter.Counter // ticks, or batches of them, on each level
	// Datagrams in that the netcode server refused, by reason.
	AuthDrops   [netcode.NumDrops]meter.Counter
	ChatRefused [chat.NumRefusals]meter.Counter // chat lines refused, by reason
	PacketDrops [packet.NumDrops]meter.Counter  // packets in that were dropped, by reason
	SlotMissing []meter.Counter                 // InputsMissing by slot; nil of a port
}

// Histograms are distributions of one lobby. Native histograms count from the start; Tick and Stage
// can be reset. Durations are in nanoseconds.
type Histograms struct {
	Tick  *meter.Histogram   // CPU time of a tick; by a sparse TickTimer, of one in 16
	Stage []*meter.Histogram // CPU time by Stage, of one tick in 16

	Rewind *meter.Native // how far the views of shots that hit lay behind the tick
	// Distance by which claimed views were clamped, at most two seconds.
	ViewClamp           *meter.Native
	TickCPU, TickWall   *meter.Native   // CPU time and time elapsed of a tick
	StageCPU, StageWall []*meter.Native // likewise by Stage, of the same ticks as Stage
	SnapshotBytes       *meter.Native   // UDP payload of a snapshot to one client
	// of every client once a second: smoothed round trip and its mean deviation
	RTT, RTTVar *meter.Native
	InputBuffer *meter.Native // likewise: lead of its commands over the match
	// likewise: aim score of players that have hit, in thousandths; see sim/aim
	Aim *meter.Native
}

// maxTick is the longest tick that the histograms tell apart.
const maxTick = int64(time.Second)

// maxView is the range of the histograms of rewinds and clamps.
const maxView = int64(2 * time.Second)

// NewHistograms makes the histograms. Without a CPU clock all times are zero, and those of Tick and
// Stage need no room.
func NewHistograms(timed bool) *Histograms {
	longest := maxTick
	if !timed {
		longest = 2
	}
	seconds, view := NewSeconds(), meter.NewNative(1e-9, maxView)
	h := &Histograms{
		Tick:   meter.NewHistogram(longest, meter.Coarse),
		Rewind: view, ViewClamp: view.Another(), TickCPU: seconds, TickWall: seconds.Another(),
		SnapshotBytes: meter.NewNative(1, 1<<20), Aim: meter.NewNative(1e-3, 1000),
		RTT: seconds.Another(), RTTVar: seconds.Another(), InputBuffer: seconds.Another(),
	}
	for range NumStages {
		h.Stage = append(h.Stage, meter.NewHistogram(longest, meter.Rough))
		h.StageCPU, h.StageWall = append(h.StageCPU, seconds.Another()),
			append(h.StageWall, seconds.Another())
	}
	return h
}

// NewSeconds returns a histogram of nanoseconds that is exported in seconds, up to a minute.
func NewSeconds() *meter.Native { return meter.NewNative(1e-9, 64*int64(time.Second)) }

// CheckBalance counts a tick in UnbalancedTicks unless every datagram received is counted once. c
// are the counters of the lobby's netcode server.
func (s *Stats) CheckBalance(c *netcode.Counters) {
	sum := s.Count[Accepted].Load()
	for i := range s.AuthDrops {
		sum += s.AuthDrops[i].Load()
	}
	for i := range s.PacketDrops {
		sum += s.PacketDrops[i].Load()
	}
	if n := c.Amplification - s.Count[AmplificationBlocked].Load(); n > 0 {
		s.Count[AmplificationBlocked].Add(n)
	}
	if s.Count[Received].Load() != sum || !c.Balanced() {
		s.Count[UnbalancedTicks].Inc()
	}
}

// Pending are counts of the tick in hand that happen once for each connection. They are plain
// numbers: 500 atomic additions would show in the time of a tick.
type Pending struct {
	Snapshots uint64
	Inputs    sim.CommandCounts
}

// AddInputs counts the growth of one inbox since was, and makes was the newest count.
func (p *Pending) AddInputs(c, was *sim.CommandCounts) {
	n := &p.Inputs
	n.Used += c.Used - was.Used
	n.Missing += c.Missing - was.Missing
	n.Duplicate += c.Duplicate - was.Duplicate
	n.Stale += c.Stale - was.Stale
	n.Future += c.Future - was.Future
	n.Conflict += c.Conflict - was.Conflict
	n.Clamped += c.Clamped - was.Clamped
	*was = *c
}

// Flush adds the pending counts to s and clears them.
func (p *Pending) Flush(s *Stats) {
	n, c := &s.Count, &p.Inputs
	n[Snapshots].Add(p.Snapshots)
	n[InputsUsed].Add(c.Used)
	n[InputsMissing].Add(c.Missing)
	n[InputsDuplicate].Add(c.Duplicate)
	n[InputsStale].Add(c.Stale)
	n[InputsFuture].Add(c.Future)
	n[InputsConflict].Add(c.Conflict)
	n[InputsClamped].Add(c.Clamped)
	*p = Pending{}
}
