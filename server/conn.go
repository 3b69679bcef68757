package server

import (
	"github.com/tickrate/tickrate/server/metrics"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// conn is one player's connection, in five parts that change for different reasons. The tick visits hundreds of connections in
// turn, so each part begins with what every packet and every tick reads.
type conn struct {
	id       netid.ID // of its player
	session  connSession
	repl     connReplication
	rewind   connRewind
	roster   connRoster
	transfer connTransfer
}

// connSession is the netcode session behind a connection and how far the client is with the map.
type connSession struct {
	peer          *packet.Peer
	client        int32         // index in the netcode server
	firstSnapshot uint32        // 1<<16 and the sequence of the first packet with a snapshot of the map; 0: none yet
	mapEpoch      uint8         // map changes since the session began, see protocol.NextMapEpoch
	ready         bool          // the client has loaded what the Welcome names
	epochSettled  bool          // no packet from before the map change can still arrive
	mismatch      packet.Reason // why the client's Ready was refused, while our schemas are sent; else 0
	prevMapEnd    tick.Tick     // last tick of the map before
	addr          netip.AddrPort
	stats         connStats
	token         netcode.TokenTag // of the connect token
	since         time.Duration    // start of the session, or of the mismatch
	lostAt        time.Duration    // when the session timed out, while its player waits for a reconnect
	loadingSince  time.Duration    // when the client was told of the map
}

// connStats counts one session's traffic.
type connStats struct {
	down, up        uint64 // bytes of UDP payload, sealed
	taken           uint64 // packets from the client
	delivered, lost uint64 // packets to the client, by its acks
	resyncs         uint64 // restarts without baselines
	mispredicted    uint32 // by the client's own count
}

// open begins a session at now, in the memory of the one before.
func (s *connSession) open(now time.Duration) {
	s.peer.Reset(now, packet.Config{})
	*s = connSession{peer: s.peer, since: now, loadingSince: now}
}

// changeMap keeps the session and begins the handshake of another map. prevMapEnd is the last tick of the old one.
func (s *connSession) changeMap(now time.Duration, prevMapEnd tick.Tick) {
	*s = connSession{peer: s.peer, client: s.client, addr: s.addr, token: s.token, since: s.since, lostAt: s.lostAt,
		mapEpoch: s.mapEpoch, prevMapEnd: prevMapEnd, loadingSince: now}
}

// connRoster says who the player is and, for a spectator, whose view it has.
type connRoster struct {
	user      uint64 // client id of the connect token
	spectates bool
	view      viewpoint
}

// connTransfer is what the client fetches: models, arenas and killcams.
type connTransfer struct {
	requested  uint8         // bit n: protocol.Content n
	suppliedAt time.Duration // when a fragment was last due
	killcam    killcamViewer
}

// assign gives the connection to a new player. open follows.
func (c *conn) assign(id netid.ID, user uint64, spectates bool) {
	c.id, c.roster = id, connRoster{user: user, spectates: spectates}
	c.rewind.inboxCount = sim.CommandCounts{}
}

// open begins a session for the connection's player. The memory of the session before is kept.
func (c *conn) open(now time.Duration, l *Lobby) {
	c.furnish(&l.cfg)
	c.session.open(now)
	c.repl.acks.owner.Count(l.replication.ownerCounts)
	c.repl.open(&l.cfg)
	c.rewind = connRewind{inboxCount: c.rewind.inboxCount}
	c.roster.view = viewpoint{}
	c.transfer = connTransfer{}
}

// changeMap gives the connection its player in a new match. The session and the send rate stay.
func (c *conn) changeMap(now time.Duration, id netid.ID, prevMapEnd tick.Tick, cfg *Config) {
	c.id = id
	c.session.changeMap(now, prevMapEnd)
	c.repl.changeMap(cfg)
	c.rewind = connRewind{}
	c.transfer = connTransfer{}
}

// forget takes the connection to hold no baselines: snapshots begin anew. What it was shown it may show still.
func (c *conn) forget() {
	c.repl.acks.sinceResync = 0
	c.repl.join.phase = joinSending
	c.repl.acks.tracker.Forget()
	c.repl.acks.objects.forget()
	c.repl.acks.owner.Reset()
}

// delivered notes that a package with a snapshot has arrived.
func (c *conn) delivered(now time.Duration, l *Lobby, r ackTag) {
	if c.session.mapEpoch != 0 && r.tick() <= c.session.prevMapEnd { // of a world that is over
		return
	}
	if s := r.players(); s.count > 0 {
		c.repl.acks.tracker.Acked(r.tick(), s.first, s.count)
	}
	c.repl.acks.history.Arrived(r.tick(), r.players().first, r.players().count, c.rewind.newestCommand+1, l.match.Tick()+1)
	if s := r.things(); s.count > 0 {
		c.repl.acks.objects.acked(l.replication.objects, r.tick(), s)
	}
	if r.owner() {
		c.repl.acks.owner.Acked(r.tick())
	}
	c.rewind.snapshotGap.add(now, l.cfg.Rules.Rate, c.repl.acks.newest, r.tick(), c.session.peer.RTT().Min)
	c.repl.acks.newest, c.repl.acks.sinceResync = max(c.repl.acks.newest, r.tick()), max(c.repl.acks.sinceResync, r.tick())
	c.repl.acks.unacked = 0
}

// resync begins anew without baselines if the connection has asked for it, at most once in resyncEvery: it costs bytes.
func (c *conn) resync(l *Lobby, t tick.Tick) {
	if !c.repl.acks.resyncRequested || t < c.repl.acks.resyncedAt+tick.Tick(int64(resyncEvery)*int64(l.cfg.Rules.Rate)/int64(time.Second)) {
		return
	}
	c.repl.acks.resyncRequested, c.repl.acks.resyncedAt = false, t
	c.session.stats.resyncs++
	c.forget()
	l.Stats.Count[metrics.Resyncs].Inc()
}

// resyncEvery is the least time between two fresh starts of one connection.
const resyncEvery = 250 * time.Millisecond
