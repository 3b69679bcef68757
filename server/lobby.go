package server

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Lobby is one match and the connections of its players.
type Lobby struct {
	core
	inbound     inbound
	join        join
	maps        maps
	transfers   transfers
	roster      roster
	chat        chatLines
	console     lobbyConsole
	idle        idlePlayers
	round       roundNews
	spectate    spectators
	recording   recording
	replication replication
	rewind      rewind
}

// NewLobby makes a lobby with nobody in it.
func NewLobby(cfg Config) (*Lobby, error) {
	given := cfg
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	server, err := netcode.NewServer(cfg.Netcode)
	if err != nil {
		return nil, err
	}
	l := new(Lobby)
	c := &l.core
	c.cfg, c.connTable = cfg, newConnTable(cfg.Players)
	c.netcode, c.events = server, make([]netcode.Event, 0, netio.BatchSize)
	l.replication = newReplication(&c.cfg, &c.Stats)
	l.rewind = rewind{core: c, replication: &l.replication, resolver: newViewResolver(cfg.Players)}
	l.inbound = inbound{core: c, l: l}
	l.join = join{core: c, l: l, arrivals: make([]int32, 0, cfg.Players)}
	l.maps = maps{core: c, base: given}
	l.transfers = newTransfers(c)
	l.roster = newRoster(c)
	l.chat = newChat(c, &l.roster)
	l.console = newConsole(l)
	l.console.addCommands()
	l.idle = newIdle(c)
	l.spectate = spectators{c}
	l.recording = recording{core: c}
	l.rewind.aim = aim.New(cfg.Players)
	if cfg.ShotLogSize > 0 {
		l.rewind.log = lagcomp.NewShotLog(cfg.ShotLogSize)
		if given.CPU != nil {
			l.rewind.log.Clock = func() int64 { return int64(cfg.CPU()) }
		}
	}
	l.install(newMapState(cfg))
	l.Stats.Init(given.CPU != nil)
	l.account.init(cfg.SampleEvery)
	l.timer = metrics.NewTickTimer(cfg.CPU, cfg.Clock, cfg.EnterStage)
	if cfg.Record != nil {
		l.recording.start()
	}
	l.Publish()
	return l, nil
}

// Netcode is what lets clients in: for looking, between ticks.
func (l *Lobby) Netcode() *netcode.Server { return l.netcode }

// Match is the lobby's match: for looking, between ticks.
func (l *Lobby) Match() *sim.Match { return l.match }

// ShotLog returns the ring of receipts of shots, nil if none are written: for looking, between
// ticks.
func (l *Lobby) ShotLog() *lagcomp.ShotLog { return l.rewind.log }

// Frame returns the frame of a recent tick as it was sent, nil if it is gone; valid until the next
// Tick.
func (l *Lobby) Frame(t tick.Tick) *snapshot.Frame { return l.replication.players.frames.At(t) }

// CountSymbols makes the lobby add every symbol it codes from now on to n, for netstate.Train. n
// may have counts of other lobbies.
func (l *Lobby) CountSymbols(n *netstate.Counts) {
	l.replication.countSymbols(n)
	for _, slot := range l.live {
		l.conns[slot].repl.acks.owner.Count(n.Owner)
	}
}

// LastSeen is the newest snapshot that showed a player to another's client and is known to have arrived, of the last
// snapshot.Window; 0 for none, and for a viewer without a client.
func (l *Lobby) LastSeen(viewer, player netid.ID) tick.Tick {
	if c := &l.conns[viewer.Index()]; c.id == viewer {
		return l.replication.lastSeen(&c.repl, player)
	}
	return 0
}

// Sent is the newest snapshot that was sent to a player's client; 0 before the first, and without a client.
func (l *Lobby) Sent(id netid.ID) tick.Tick {
	if c := &l.conns[id.Index()]; c.id == id {
		return c.repl.pacing.sent
	}
	return 0
}

// ObjectFrame returns the frame of objects of a recent tick as it was sent, nil if it is gone; valid until the next Tick.
func (l *Lobby) ObjectFrame(t tick.Tick) *snapshot.Frame { return l.replication.objects.frames.At(t) }

// queueUpdateIntervals tells a connection that has become ready how often objects are sent.
func (k *core) queueUpdateIntervals(c *conn) {
	if c.session.peer.QueueReliable(k.cfg.ObjectPaces.Append(k.message[:0])) != nil {
		k.Stats.Count[metrics.ReliableDropped].Inc()
	}
}
