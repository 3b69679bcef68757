package server

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Lobby is one match and the connections of its players, made of parts. A part has its own state
// and a pointer to the core. The memory of a Lobby does not move: parts point at each other.
type Lobby struct {
	core                  // configuration, match, connections, transport, counters
	inbound     inbound   // datagrams to commands and messages
	outbound    outbound  // events and snapshots to packets
	join        join      // sessions to players, and back
	maps        maps      // the next map
	transfers   transfers // models and arenas that clients lack
	roster      roster    // names and teams
	scores      scoreboard
	chat        chatLines // lines of players
	console     lobbyConsole
	idle        idlePlayers
	spectate    spectators
	recording   recording // of the match, and killcams
	flight      flightRecorder
	replication replication // the match to snapshots
	rewind      rewind      // lag compensation of shots
}

// NewLobby returns an empty lobby, or the error of an invalid configuration.
func NewLobby(cfg Config) (*Lobby, error) {
	given := cfg
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	l := new(Lobby)
	c := &l.core
	port := cfg.Port
	given.Port, cfg.Port = nil, nil // a lobby that moves has another one
	c.cfg, c.connTable, c.port = cfg, newConnTable(cfg.Players), port
	if c.port == nil {
		if c.port, err = newPort(PortConfig{Netcode: cfg.Netcode}); err != nil {
			return nil, err
		}
		c.port.serveAlone(l)
	}
	l.replication = newReplication(&c.cfg, &c.Stats)
	l.rewind = rewind{core: c, replication: &l.replication, resolver: newViewResolver(cfg.Players)}
	l.inbound, l.join = inbound{core: c, l: l}, join{core: c, l: l, arrivals: make([]int32, 0, cfg.Players)}
	l.outbound = outbound{core: c, replication: &l.replication, rewind: &l.rewind, roster: &l.roster, scores: &l.scores,
		chat: &l.chat, transfers: &l.transfers, recording: &l.recording}
	l.maps = maps{core: c, base: given}
	l.transfers = newTransfers(c)
	l.roster = newRoster(c)
	l.scores = newScoreboard(c, &l.roster)
	l.chat = newChat(c, &l.roster)
	l.console = newConsole(l)
	l.console.addCommands()
	l.idle = newIdle(c)
	l.spectate = spectators{c}
	l.recording, l.flight = recording{core: c}, flightRecorder{core: c}
	l.rewind.aim = aim.New(cfg.Players)
	if cfg.ShotLogSize > 0 {
		l.rewind.log = lagcomp.NewShotLog(cfg.ShotLogSize)
		if given.CPU != nil {
			l.rewind.log.Clock = func() int64 { return int64(cfg.CPU()) }
		}
	}
	l.install(newMapState(cfg))
	l.Stats.SlotMissing = make([]meter.Counter, len(c.conns))
	l.Stats.Histograms = metrics.NewHistograms(given.CPU != nil)
	l.account.init(cfg.SampleEvery)
	l.timer = metrics.NewTickTimer(cfg.CPU, cfg.Clock, cfg.EnterStage)
	l.timer.Sparse = cfg.SparseTiming
	l.timer.Seed(cfg.ID)
	if cfg.Record != nil {
		l.recording.start()
	}
	l.Publish()
	return l, nil
}

// Netcode returns the netcode server, for reading and for SetSpare between ticks.
func (l *Lobby) Netcode() *netcode.Server { return l.port.netcode }

// Match returns the match, to read between ticks.
func (l *Lobby) Match() *sim.Match { return l.match }

// ShotLog returns the records of how shots were judged, to read between ticks; nil if none are
// kept.
func (l *Lobby) ShotLog() *lagcomp.ShotLog { return l.rewind.log }

// Frame returns the frame of players of the newest tick, or of a recent one as it was sent; nil if it
// is gone, or if no snapshot of that tick could be due. It is valid until the next tick. Call it
// between ticks.
func (l *Lobby) Frame(t tick.Tick) *snapshot.Frame {
	r := &l.replication
	if f := r.players.frames.At(t); f != nil || t != l.match.Tick() || t == 0 {
		return f
	}
	into := r.players.unsentFrame(netstate.Public, l.cfg.Players)
	r.capturePlayers(into)
	return into.At(t)
}

// CountSymbols adds every symbol that the lobby codes from now on to n, for netstate.Train. n may
// have counts of other lobbies.
func (l *Lobby) CountSymbols(n *netstate.Counts) {
	l.replication.countSymbols(n)
	for _, slot := range l.live {
		l.conns[slot].repl.acks.owner.Count(n.Owner)
	}
}

// SampleBlocks keeps samples of all blocks that the lobby codes from now on in s, for
// netstate.TrainDictionaries.
func (l *Lobby) SampleBlocks(s *netstate.Samples) { l.replication.sampleBlocks(s) }

// LastSeen is the newest snapshot that showed a player to another's client and is known to have
// arrived, of the last snapshot.Window; 0 for none, and for a viewer without a client.
func (l *Lobby) LastSeen(viewer, player netid.ID) tick.Tick {
	if c := &l.conns[viewer.Index()]; c.id == viewer {
		return l.replication.lastSeen(&c.repl, player)
	}
	return 0
}

// Sent is the newest snapshot that was sent to a player's client; 0 before the first, and without a
// client.
func (l *Lobby) Sent(id netid.ID) tick.Tick {
	if c := &l.conns[id.Index()]; c.id == id {
		return c.repl.pacing.sent
	}
	return 0
}

// ObjectFrame is Frame for objects.
func (l *Lobby) ObjectFrame(t tick.Tick) *snapshot.Frame {
	o := l.replication.objects
	if f := o.frames.At(t); f != nil || t != l.match.Tick() || t == 0 {
		return f
	}
	f := o.unsentFrame(netstate.Objects, netstate.ObjectSlots(l.cfg.Players)).Begin(t)
	reader := o.reader()
	reader.fill(f, l.match)
	return f
}

// queueUpdateIntervals tells a connection that has become ready how often objects are sent.
func (k *core) queueUpdateIntervals(c *conn) {
	if c.session.peer.QueueReliable(k.cfg.ObjectUpdateIntervals.Append(k.message[:0])) != nil {
		k.Stats.Count[metrics.ReliableDropped].Inc()
	}
}
