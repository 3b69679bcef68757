package server

import (
	"slices"
	"sync"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Summary is what a lobby publishes of itself once a second, for any goroutine to read.
type Summary struct {
	Bandwidth   metrics.Bandwidth
	Replication ReplicationSample
	Census      Census
}

// ReplicationSample counts players and objects in the sampled snapshots by Reason: sent, or why
// not.
type ReplicationSample struct {
	Snapshots uint64                             // sampled, one of Bandwidth.Every on average
	Players   [NumReasons]uint64                 // pairs of client and player
	Objects   [netstate.Kinds][NumReasons]uint64 // pairs of client and object, by class
}

// Census says how a lobby is filled.
type Census struct {
	Players         int  // players with a session
	Spectators      int  // spectators with a session
	Ready           int  // of both, those that get snapshots
	Joining         int  // of those, the ones that do not hold all visible rows yet
	Reconnectable   int  // of both, those whose session timed out and that may return
	Arriving        int  // sessions that wait for a player
	PlayerSlots     int  // most players
	SpectatorSlots  int  // most spectators
	AcceptsNewcomer bool // another player may join
}

// account gathers what the tick publishes. It belongs to the goroutine of the lobby, but for
// shared.
type account struct {
	bandwidth   metrics.BandwidthMeter
	replication ReplicationSample
	snapshots   metrics.Sampler // of snapshots for replication
	pending     metrics.Pending
	ticks       int // since the tick last published

	mu     sync.Mutex // guards shared; the tick only tries to lock it
	shared Summary
}

// replicationSeed differs from the seed of the other samplers, so that samples do not coincide.
const replicationSeed = 0xbf58476d1ce4e5b9

func (a *account) init(every int) {
	a.bandwidth, a.snapshots = metrics.NewBandwidthMeter(every), metrics.NewSampler(every, replicationSeed)
	a.shared.Bandwidth.Cells = make([]metrics.Cell, 0, metrics.MaxCells)
}

// Observe turns measuring on or off; it is on from the start. A lobby that is not observed plays
// and sends the same, but reads no clock, keeps no histogram and no byte account, and counts no
// commands. Counters of datagrams and events go on. Benchmarks use it to price the measuring. Call
// it between ticks.
func (l *Lobby) Observe(on bool) { l.timer.Off = !on }

// Live is the number of connections with a session. Call it between ticks.
func (l *Lobby) Live() int { return len(l.live) }

// Timer measures the ticks of the lobby. Only the goroutine of the lobby may use it.
func (l *Lobby) Timer() *metrics.TickTimer { return &l.timer }

// Bandwidth is the account of all bytes sent until now, without cells. It is not a copy: only the
// goroutine of the lobby may read it, between ticks.
func (l *Lobby) Bandwidth() *metrics.Bandwidth { return l.account.bandwidth.Total() }

var noCounters netcode.Counters

// endTick adds the counts of the tick to the figures, and publishes them once a second.
func (l *Lobby) endTick() {
	a := &l.account
	l.Stats.LoadLevel[l.replication.loadLevel].Inc()
	a.pending.Flush(&l.Stats)
	l.traffic.flush(&l.Stats)
	l.timer.End(&l.Stats)
	if l.timer.Off {
		return
	}
	if l.port.alone != nil {
		l.Stats.CheckBalance(l.port.netcode.Counters())
	} else {
		l.Stats.CheckBalance(&noCounters) // the port checks those of netcode
	}
	if a.ticks += max(l.replication.batchTicks, 1); a.ticks >= int(l.cfg.Rules.Rate) {
		a.ticks = 0
		l.Publish()
	}
}

// Publish makes the current figures those that Summary returns, unless a reader copies them at this
// moment. The tick calls it once a second. It allocates nothing and does not block. Only the
// goroutine of the lobby may call it.
func (l *Lobby) Publish() {
	a := &l.account
	if !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	s := &a.shared
	cells := a.bandwidth.AppendCells(s.Bandwidth.Cells[:0])
	s.Bandwidth, s.Replication, s.Census = *a.bandwidth.Total(), a.replication, l.join.census()
	s.Bandwidth.Cells = cells
}

// Summary returns a copy of the figures as they were at most a second ago. Any goroutine may call
// it.
func (l *Lobby) Summary() Summary {
	a := &l.account
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.shared
	s.Bandwidth.Cells = slices.Clone(s.Bandwidth.Cells)
	return s
}

// census counts connections and slots.
func (j *join) census() Census {
	n := Census{
		Reconnectable: len(j.reconnectable), Arriving: len(j.arrivals),
		PlayerSlots: j.cfg.Players - j.cfg.Spectators, SpectatorSlots: j.cfg.Spectators,
	}
	for _, slot := range j.live {
		c := &j.conns[slot]
		if c.roster.role == roleSpectator {
			n.Spectators++
		} else {
			n.Players++
		}
		if c.session.ready {
			n.Ready++
			if c.repl.view.byRow && !c.repl.join.done {
				n.Joining++
			}
		}
	}
	n.AcceptsNewcomer = j.l.replication.loadLevel < overload.NoNewPlayers && !j.awaiting.on &&
		j.hasSlot(rolePlayer)
	return n
}
