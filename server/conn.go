package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// conn is one player's connection, in parts that change for different reasons. The tick visits
// hundreds of connections in turn, so what every packet and every tick reads stands together:
// see hotConn.
type conn struct {
	session  connSession // begins with what few ticks read
	id       netid.ID    // of its player
	rewind   connRewind
	repl     connReplication // ends with what only a snapshot reads
	roster   connRoster
	transfer connTransfer
	arrivals arrivals
}

// connSession is the netcode session behind a connection and how far the client is with the map.
type connSession struct {
	addr   netip.AddrPort
	token  netcode.TokenTag // of the connect token
	since  time.Duration    // start of the session, or of the mismatch
	lostAt time.Duration    // when the session timed out, while its player is kept

	stats         connStats
	peer          *packet.Peer
	client        int32         // index in the netcode server
	firstSnapshot uint32        // 1<<16 | sequence of the first packet with a snapshot of the map
	mapEpoch      uint8         // map changes since the session began, see protocol.NextMapEpoch
	ready         bool          // the client has loaded what the Welcome names
	epochSettled  bool          // no packet from before the map change can still arrive
	mismatch      packet.Reason // why Ready was refused, while our schemas are sent
	prevMapEnd    tick.Tick     // last tick of the map before
	loadingSince  time.Duration // when the client was told of the map
}

// connStats counts one session's traffic.
type connStats struct {
	resyncs         uint64 // restarts without baselines
	mispredicted    uint32 // by the client's own count
	down, up        uint64 // bytes of UDP payload, sealed
	taken           uint64 // packets from the client
	delivered, lost uint64 // packets to the client, by its acks
}

// open begins a session at now, in the memory of the one before.
func (s *connSession) open(now time.Duration) {
	s.peer.Reset(now, packet.Config{})
	*s = connSession{peer: s.peer, since: now, loadingSince: now}
}

// changeMap keeps the session and begins the handshake of another map. prevMapEnd is the last tick
// of the old one.
func (s *connSession) changeMap(now time.Duration, prevMapEnd tick.Tick) {
	*s = connSession{
		peer: s.peer, client: s.client, addr: s.addr, token: s.token, since: s.since, lostAt: s.lostAt,
		mapEpoch: s.mapEpoch, prevMapEnd: prevMapEnd, loadingSince: now,
	}
}

// role is what a connection is in the match.
type role uint8

const (
	rolePlayer role = iota
	roleSpectator
	numRoles
)

// roleOf is the role that a token with this user data gives.
func roleOf(user []byte) role {
	if protocol.IsSpectator(user) {
		return roleSpectator
	}
	return rolePlayer
}

// connRoster is the player of a connection and, for a spectator, its viewpoint.
type connRoster struct {
	user     uint64 // client id of the connect token
	role     role
	restored bool // no session yet since Lobby.Resume
	view     viewpoint
}

// connTransfer is what the client fetches: models, arenas and killcams.
type connTransfer struct {
	requested  uint8         // bit n: protocol.Content n
	suppliedAt time.Duration // when a fragment was last due
	killcam    killcamViewer
}

// assign gives the connection to a new player. open follows.
func (c *conn) assign(id netid.ID, user uint64, r role) {
	c.id, c.roster = id, connRoster{user: user, role: r}
	c.rewind.inboxCount = sim.CommandCounts{}
}

// open begins a session for the connection's player. The memory of the session before is kept.
func (c *conn) open(now time.Duration, l *Lobby) {
	c.makeMemory(&l.cfg)
	c.session.open(now)
	c.repl.acks.owner.Count(l.replication.owner.counts)
	c.repl.open(&l.cfg)
	l.replication.effects.of[c.id.Index()].reset()
	c.rewind, c.arrivals = connRewind{inboxCount: c.rewind.inboxCount}, arrivals{}
	c.roster.view = viewpoint{}
	c.transfer = connTransfer{}
}

// changeMap gives the connection its player in a new match. The session and the send rate stay.
func (c *conn) changeMap(now time.Duration, id netid.ID, prevMapEnd tick.Tick, cfg *Config) {
	c.id = id
	c.session.changeMap(now, prevMapEnd)
	c.repl.changeMap(cfg)
	c.rewind, c.arrivals = connRewind{}, arrivals{}
	c.transfer = connTransfer{}
}

// acked takes the ack of a packet. Acks of snapshots of the map before count for nothing.
func (c *conn) acked(now time.Duration, r *replication, tag ackTag) {
	if c.session.mapEpoch != 0 && tag.tick() <= c.session.prevMapEnd {
		return
	}
	c.rewind.snapshotGap.add(now, r.cfg.Rules.Rate, c.repl.acks.newest, tag.tick(), c.session.peer.RTT().Min)
	r.acked(&c.repl, tag, c.rewind.newestCommand+1)
}

// viewer returns the viewpoint that selects the client's rows.
func (c *conn) viewer() viewer {
	return viewer{player: c.id, spectates: c.roster.role == roleSpectator, slot: int32(c.viewpoint())}
}
