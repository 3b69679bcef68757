package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// Status says what a lobby plays.
type Status struct {
	Name       string // as the console last set it
	Phase      Phase
	Round      uint16     // counts rounds of the map, from 0, modulo 65536
	RoundPhase mode.Phase // of that round
	Map, Mode  string
	Spectators int // with a session
}

// Status returns what the lobby plays now. Call it between ticks.
func (l *Lobby) Status() Status {
	round := l.Match().Mode()
	return Status{
		Name: l.console.vars.name.Text(), Phase: l.Phase(), Round: round.Round, RoundPhase: round.Phase,
		Map: l.cfg.ArenaName, Mode: l.cfg.Rules.Game.Mode.Name, Spectators: l.spectators(),
	}
}

// Config returns the configuration with its defaults filled in. Arena, ArenaName and Rules.Game are
// those of the current map, and Players counts the slots of spectators too. Call it between ticks.
func (l *Lobby) Config() *Config { return &l.cfg }

// TakeNotices returns lines for the operator about map changes since the last call. Call it between
// ticks.
func (l *Lobby) TakeNotices() []string {
	lines := l.maps.log
	l.maps.log = nil
	return lines
}

// PlayerView is what an operator may see of one slot of the match.
type PlayerView struct {
	Slot      int
	ID        netid.ID
	Name      string
	Pose      *rig.Pose  // valid until the next tick; Pose.ID is 0 without a body
	Vital     *sim.Vital // nil: not in the match
	Spectates bool
	Connected bool     // the player has a session
	Conn      ConnView // zero without a session
}

// ConnView is what an operator may see of one connection. Counts are since the session began;
// Inputs are since the player joined the match.
type ConnView struct {
	Since           time.Duration // start of the session
	RTT, RTTVar     time.Duration // smoothed round trip and its mean deviation
	BytesOut        uint64        // UDP payload
	BytesIn         uint64        // UDP payload
	NewestPacket    uint64        // sequence of the newest packet from the client
	PacketsIn       uint64
	PacketsAcked    uint64 // of the packets to the client
	PacketsLost     uint64 // of the packets to the client
	Resyncs         uint64
	Mispredictions  uint32 // as the client reports them
	Inputs          sim.CommandCounts
	InputLeadTicks  int // commands that wait, 0 or less: none
	SnapshotSpacing tick.Tick
}

// AppendPlayerViews appends one view for each slot with a session or a body, in the order of slots.
// Call it between ticks.
func (l *Lobby) AppendPlayerViews(dst []PlayerView) []PlayerView {
	live, poses := l.live, l.match.Poses()
	for slot := range l.conns {
		connected := len(live) > 0 && int(live[0]) == slot
		if connected {
			live = live[1:]
		}
		if !connected && l.match.Vital(netid.ID(poses[slot].ID)) == nil { // poses are of the last tick
			continue
		}
		c := &l.conns[slot]
		v := PlayerView{Slot: slot, ID: c.id, Pose: &poses[slot], Vital: l.match.Vital(c.id),
			Spectates: l.match.Spectates(c.id), Connected: connected}
		if row := &l.roster.rows[slot]; row.NetID == uint32(c.id) {
			v.Name = row.Name
		}
		if connected {
			c.view(l.match, &v.Conn)
		}
		dst = append(dst, v)
	}
	return dst
}

// AppendClientIDs appends the client id of each session, of players and spectators, in the order of
// slots. Call it between ticks.
func (l *Lobby) AppendClientIDs(dst []uint64) []uint64 {
	for _, slot := range l.live {
		dst = append(dst, l.conns[slot].roster.user)
	}
	return dst
}

// view fills v with the figures of a connection.
func (c *conn) view(m *sim.Match, v *ConnView) {
	s, inbox := &c.session.stats, m.CommandBuffer(c.id)
	rtt := c.session.peer.RTT()
	*v = ConnView{
		Since: c.session.since, RTT: rtt.Smoothed, RTTVar: rtt.Var,
		BytesOut: s.down, BytesIn: s.up, NewestPacket: c.session.peer.Newest(),
		PacketsIn: s.taken, PacketsAcked: s.delivered, PacketsLost: s.lost,
		Resyncs: s.resyncs, Mispredictions: s.mispredicted,
		Inputs: inbox.Count, InputLeadTicks: int(inbox.Lead(m.Tick())),
		SnapshotSpacing: c.repl.pacing.spacing,
	}
}
