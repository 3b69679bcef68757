package server

import (
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// SetLoadLevel sets what the lobby leaves out from its next tick on.
func (l *Lobby) SetLoadLevel(level overload.Level) {
	was := l.replication.level
	l.replication.level = level
	if level >= overload.NoNewPlayers {
		l.netcode.PauseAccepting()
	} else {
		l.netcode.ResumeAccepting()
	}
	if level.Timescale() != was.Timescale() {
		l.broadcast(protocol.AppendTimescale(l.message[:0], level.Timescale()))
	}
}

// every is how many intervals lie between two snapshots to a connection: as it asked for, or more while the lobby sheds.
func (l *Lobby) every(c *conn) tick.Tick {
	return tick.Tick(c.repl.pacing.every) << min(l.replication.level, overload.QuarterRate)
}

// detailNear is how many players a snapshot tells of on overload.LowDetail, the nearest ones, beside a part of the others: one group in
// detailTurns, and in the next snapshots the rest. Half as often would save nothing: what one has not heard of for longer costs more.
const (
	detailNear  = 16
	detailTurns = 4
)

// sketch picks what a connection who could be told of all that it sees is told on overload.LowDetail.
func (l *Lobby) sketch(c *conn, see []uint64) {
	s := &l.replication.players
	l.replication.players.packer.Weigh(l.replication.players.encoder, c.repl.acks.tracker, see, s.cost)
	s.nearest(see, s.blank, max(0, c.viewpoint()), detailNear)
	turn := uint64(0xffff) << (16 * c.repl.view.detailTurn)
	c.repl.view.detailTurn = (c.repl.view.detailTurn + 1) % detailTurns
	for i, w := range see {
		s.pick[i] = s.near[i] | w&turn
	}
	l.replication.players.packer.Pick(s.pick)
	l.Stats.Count[metrics.SnapshotsOverBudget].Inc()
}

var _ [snapshot.GroupRows - 64/detailTurns]struct{} // sketch is about such groups
