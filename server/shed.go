package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
)

// Shed says how a lobby that cannot keep up gets by with less, rung by rung; each rung keeps what those before it do. Inputs
// are never dropped, and nobody who plays is sent away.
type Shed int32

// The rungs, in the order in which they are climbed.
const (
	ShedNothing    Shed = iota
	ShedHalf            // every second snapshot is left out
	ShedQuarter         // three of four are
	ShedDetail          // a snapshot tells of the 16 nearest players, and of the others in turn. Not with RelevanceOff
	ShedSpectators      // those who look on are sent away
	ShedDoor            // nobody new is let in
	ShedTime            // the match runs at four fifths of its speed, for all who are in it
	NumSheds            // how many there are
)

var shedNames = [NumSheds]string{"nothing", "half of the snapshots", "three of four snapshots", "detail", "spectators", "newcomers", "time"}

// String names the rung.
func (s Shed) String() string { return shedNames[s] }

// slowTempo is how fast a match runs on ShedTime, in protocol.FullTempo.
const slowTempo = protocol.FullTempo * 4 / 5

// Tempo is how fast the match runs on a rung: seconds of the match in protocol.FullTempo seconds of life.
func (s Shed) Tempo() uint16 {
	if s >= ShedTime {
		return slowTempo
	}
	return protocol.FullTempo
}

// Shed puts the lobby on a rung from its next tick on.
func (l *Lobby) Shed(s Shed) {
	was := l.shed
	l.shed = s
	l.netcode.Freeze(s >= ShedDoor)
	if s.Tempo() != was.Tempo() {
		l.broadcast(protocol.AppendTempo(l.message[:0], s.Tempo()))
	}
}

// every is how many intervals lie between two snapshots to a guest: as it asked for, or more while the lobby sheds.
func (l *Lobby) every(g *guest) tick.Tick {
	return tick.Tick(g.every) << min(l.shed, ShedQuarter)
}

// detailNear is how many players a snapshot tells of on ShedDetail, the nearest ones, beside a part of the others: one group in
// detailTurns, and in the next snapshots the rest. Half as often would save nothing: what one has not heard of for longer costs more.
const (
	detailNear  = 16
	detailTurns = 4
)

// sketch picks what a guest who could be told of all that it sees is told on ShedDetail.
func (l *Lobby) sketch(g *guest, see []uint64) {
	s := &l.crowd
	l.packer.Weigh(l.encoder, g.tracker, see, s.cost)
	s.nearest(see, s.blank, max(0, g.viewpoint()), detailNear)
	turn := uint64(0xffff) << (16 * g.sketched)
	g.sketched = (g.sketched + 1) % detailTurns
	for i, w := range see {
		s.pick[i] = s.near[i] | w&turn
	}
	l.packer.Pick(s.pick)
	l.Stats.Count[Squeezed].Inc()
}

var _ [snapshot.GroupRows - 64/detailTurns]struct{} // sketch is about such groups

// Overload decides from how long ticks take which rung a lobby should be on. The zero value has seen none.
type Overload struct {
	rung  Shed
	long  int  // overruns in a row
	calm  int  // ticks in a row with room to spare
	fresh int  // ticks since the last step down
	fell  bool // there was one since the last step up
	wait  int  // calm ticks that take a rung off, in recoverAfter; doubles when that was too early
}

// A tick overruns when it takes longer than its period, and is calm when it takes at most calmShare of it. In between a lobby stays on
// its rung: what that saves must not be what takes it off. If it has to go up again soon after it came down, it waits twice as long the
// next time, up to maxWait times.
const (
	shedAfter    = 60  // overruns in a row take a rung
	recoverAfter = 600 // calm ticks give it back
	calmShare    = 5   // eighths of a period
	maxWait      = 8
)

// Tick takes in how long a tick took of its period, and returns the rung and whether it is another than before.
func (o *Overload) Tick(took, period time.Duration) (rung Shed, changed bool) {
	o.wait = max(o.wait, 1)
	o.fresh++
	switch {
	case took > period:
		o.calm = 0
		if o.long++; o.long < shedAfter || o.rung == NumSheds-1 {
			return o.rung, false
		}
		if o.long, o.rung = 0, o.rung+1; o.fell && o.fresh <= 2*recoverAfter {
			o.wait = min(2*o.wait, maxWait)
		}
		o.fell = false
		return o.rung, true
	case 8*took > calmShare*period:
		o.long, o.calm = 0, 0
		return o.rung, false
	}
	o.long = 0
	if o.rung == ShedNothing {
		if o.fresh > maxWait*recoverAfter {
			o.wait = 1
		}
		return o.rung, false
	}
	if o.calm++; o.calm < o.wait*recoverAfter {
		return o.rung, false
	}
	o.calm, o.fresh, o.fell, o.rung = 0, 0, true, o.rung-1
	return o.rung, true
}
