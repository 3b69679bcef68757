package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/query"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// Config describes a lobby. Zero fields mean the defaults named.
type Config struct {
	Rules     sim.Rules
	Arena     *arena.Arena         // required
	ArenaName string               // what clients are told to load; required
	Players   int                  // most at a time, 1 to 4096; default 64
	Interval  int                  // ticks between two snapshots to one client, 1 to MaxInterval; default what is nearest to 20 Hz
	Kbps      int                  // most kilobits (1000 bits) of UDP payload a second to one client, 16 to 1,000,000; default no limit
	Gate      netcode.ServerConfig // who may come in: key, addresses, entropy, journal. Its Clients are set to Players
	Models    netstate.Models      // compression; default netstate.Trained
	Codec     schema.Codec         // of the public rows; default that of Models, which is Huffman unless said otherwise
	CPU       func() time.Duration // CPU time of the calling thread, for the stage table; default none: stages read 0
	Enter     func(metrics.Stage)  // told when a stage begins, for profilers' labels; default nothing

	Runner parallel.Runner // shares the loops of the match's systems, which does not change what they do; default the caller of Tick alone

	Relevance    Relevance            // who is told of whom; default RelevanceAuto
	ViewDistance float32              // metres beyond which nobody is seen, by RelevanceGrid; default no limit
	TeamFog      bool                 // one's own team is told by range and sight, as the others are; default all of it always, by RelevanceGrid
	PVS          *pvs.Table           // of Arena and the grid of GridConfig: what its walls hide, by RelevanceGrid; default nothing. Lobbies may share it
	CellVisible  interest.VisibleFunc // in place of Walls: whether one cell of GridConfig is in sight of another; default always
	CellSize     float32              // edge of a cell, metres, 1 or more; default that of Walls, or 8, more where that were over 256 cells along a side
	Hysteresis   int                  // snapshots that somebody stays seen who was, 1 to 15, or -1 for none; default DefaultHysteresis
	JoinBytes    int                  // most bytes of UDP payload of a snapshot to who comes in, 1200 or more; default 4800, or 10 for each of Players if that is more

	ContentKbps int            // most kilobits a second to all clients together who fetch the model or the arena; default 8000
	Name        string         // what the console's status and server browsers show, at most 255 bytes
	IdleWarn    time.Duration  // after which a player who does nothing is warned; default never
	IdleKick    time.Duration  // and removed; default never
	Console     console.Config // where the console's files are; default nowhere

	Clock       func() time.Duration // time elapsed, for the stage table; default none: then only CPU time is kept
	SampleEvery int                  // one datagram in so many is accounted for to the bit, and one snapshot looked at for who is not in it; default 1024, or 8 for each of Players if that is more; -1 none

	Killcam  Killcam              // whether who has died is shown the last seconds, if its client asks for that; default KillcamAuto
	Record   func(RecordingChunk) // is handed all of the match, a chunk every four seconds; it must not wait for anything. Default nothing
	Load     MapLoader            // finds maps for the console and Rotation; default none is found
	Rotation []MapSpec            // what is played after each round, in turn; default the same for ever
	Sleep    bool                 // no tick is played while nobody is here, see PhaseIdle

	Spectators  int                      // most who look on at a time, in places of their own, 0 to 4096 less Players; default nobody
	SpectateAll bool                     // they see everybody, and may look through nobody's eyes; default what their target may see
	ObjectPaces netstate.UpdateIntervals // how often rows of each class of things may change, in snapshots; default netstate.DefaultUpdateIntervals

	Receipts int // how many shots the ring of receipts holds, 232 bytes each, at most MaxReceipts; default 0: none are written

	ChecksumEvery int // every so many snapshots of a client have a checksum; default 20, -1 none
}

// defaultChecksumEvery is a second at 20 Hz: 4 bytes a package of it, and a divergence is over before it is noticed. What it costs
// a tick is in the noise, see BenchmarkRelevance of bench/lobbysim.
const defaultChecksumEvery = 20

// The default of SampleEvery makes what the ledger costs a tick less than half a percent, see BenchmarkObserved of bench/lobbysim: to
// account for a datagram to the bit takes a look at each of its rows, of which a larger lobby has more.
const (
	defaultSampleEvery = 1024
	samplePlayers      = 8
)

// MaxReceipts is the most receipts that a lobby keeps: 15 MB.
const MaxReceipts = 1 << 16

// MaxPlayers is the most players that one lobby takes.
const MaxPlayers = protocol.MaxPlayers

// MaxInterval is the longest time between two snapshots, in ticks: the memory of frames grows with it.
const MaxInterval = 20

// maxKbps is a gigabit: more than all of a lobby needs.
const maxKbps = 1_000_000

// withDefaults fills and checks a configuration.
func (c Config) withDefaults() (Config, error) {
	c.Rules = c.Rules.WithDefaults()
	if c.Players == 0 {
		c.Players = 64
	}
	if c.Interval == 0 {
		c.Interval = max(1, (int(c.Rules.Rate)+10)/20)
	}
	players := c.Players
	c.Players += c.Spectators // from here on: slots of the match
	c.Gate.Clients = c.Players
	if c.Gate.ProtocolID == 0 {
		c.Gate.ProtocolID = protocol.ProtocolID
	}
	if c.Gate.PacketsPerSecond == 0 {
		c.Gate.PacketsPerSecond = 2 * int(c.Rules.Rate) // a client sends a datagram a tick
	}
	if c.Models == (netstate.Models{}) {
		c.Models = netstate.Trained()
	}
	if c.Codec != schema.Huffman && c.Codec < schema.Codecs {
		c.Models = c.Models.WithCodec(c.Codec)
	}
	if c.ContentKbps == 0 {
		c.ContentKbps = 8000
	}
	if err := c.checkObjects(); err != nil {
		return c, err
	}
	if c.CPU == nil {
		c.CPU = func() time.Duration { return 0 }
	}
	if c.SampleEvery == 0 {
		c.SampleEvery = max(defaultSampleEvery, samplePlayers*c.Players)
	}
	if c.Enter == nil {
		c.Enter = func(metrics.Stage) {}
	}
	switch {
	case !c.Rules.Rate.Valid():
		return c, fmt.Errorf("tick rate %d Hz: expected %d to %d", c.Rules.Rate, tick.MinRate, tick.MaxRate)
	case players < 1 || players > MaxPlayers:
		return c, fmt.Errorf("%d players: expected 1 to %d", players, MaxPlayers)
	case c.Spectators < 0 || c.Players > MaxPlayers:
		return c, fmt.Errorf("%d spectators beside %d players: expected 0 to %d", c.Spectators, players, MaxPlayers-players)
	case c.SampleEvery < -1 || c.SampleEvery > 1<<20:
		return c, fmt.Errorf("one datagram of %d sampled: expected 1 to %d, or -1 for none", c.SampleEvery, 1<<20)
	case c.Interval < 1 || c.Interval > MaxInterval:
		return c, fmt.Errorf("snapshot interval of %d ticks: expected 1 to %d", c.Interval, MaxInterval)
	case c.Kbps != 0 && (c.Kbps < sim.MinSnapshotKbps || c.Kbps > maxKbps):
		return c, fmt.Errorf("%d kbit/s to a client: expected %d to %d, or 0 for no limit", c.Kbps, sim.MinSnapshotKbps, maxKbps)
	case c.Codec >= schema.Codecs:
		return c, fmt.Errorf("codec %d: expected less than %d", c.Codec, schema.Codecs)
	case c.ContentKbps < sim.MinSnapshotKbps || c.ContentKbps > maxKbps:
		return c, fmt.Errorf("%d kbit/s of content: expected %d to %d", c.ContentKbps, sim.MinSnapshotKbps, maxKbps)
	case c.Receipts < 0 || c.Receipts > MaxReceipts:
		return c, fmt.Errorf("%d receipts of shots: expected 0 to %d", c.Receipts, MaxReceipts)
	case c.Arena == nil:
		return c, errors.New("lobby without an arena")
	case c.ArenaName == "" || !protocol.ValidText([]byte(c.ArenaName), protocol.MaxArenaName):
		return c, fmt.Errorf("arena name %q: expected 1 to %d bytes of printable text, as clients are told it", c.ArenaName, protocol.MaxArenaName)
	case !protocol.ValidText([]byte(c.Name), query.MaxText):
		return c, fmt.Errorf("name %q: expected at most %d bytes of printable text", c.Name, query.MaxText)
	case c.IdleWarn < 0 || c.IdleWarn > maxIdle || c.IdleKick < 0 || c.IdleKick > maxIdle:
		return c, fmt.Errorf("idle players warned after %v, removed after %v: expected 0 for never, or at most %v", c.IdleWarn, c.IdleKick, maxIdle)
	case c.Rules.Game.Pack != [32]byte{} && (c.Rules.Game.Mode.Name == "" || !protocol.ValidText([]byte(c.Rules.Game.Mode.Name), protocol.MaxModeName)):
		return c, fmt.Errorf("mode %q: expected a name of 1 to %d bytes of printable text, as clients are told it", c.Rules.Game.Mode.Name, protocol.MaxModeName)
	case c.Rules.RespawnMillis < c.Rules.RewindMillis:
		return c, fmt.Errorf("respawn after %d ms: expected no less than the %d ms that a shot may look back", c.Rules.RespawnMillis, c.Rules.RewindMillis)
	}
	var err error
	if c.Rules.Game, err = c.Rules.Game.OnArena(c.Arena); err != nil {
		return c, err
	}
	return c.withRelevance()
}

// Lobby is one match and the connections of its players.
type Lobby struct {
	core
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

	aim      *aim.Tracker
	receipts *lagcomp.ShotLog // nil: none are written
	window   [sim.MaxWindow]sim.Command
}

// NewLobby makes a lobby with nobody in it.
func NewLobby(cfg Config) (*Lobby, error) {
	given := cfg
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	server, err := netcode.NewServer(cfg.Gate)
	if err != nil {
		return nil, err
	}
	l := new(Lobby)
	c := &l.core
	c.cfg, c.connTable = cfg, newConnTable(cfg.Players)
	c.netcode, c.events = server, make([]netcode.Event, 0, netio.BatchSize)
	l.replication = newReplication(&c.cfg, &c.Stats)
	l.rewind = rewind{core: c, replication: &l.replication, resolver: newViewResolver(cfg.Players)}
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
	l.aim = aim.New(cfg.Players)
	if cfg.Receipts > 0 {
		l.receipts = lagcomp.NewShotLog(cfg.Receipts)
		if given.CPU != nil {
			l.receipts.Clock = func() int64 { return int64(cfg.CPU()) }
		}
	}
	l.install(newMapState(cfg))
	l.Stats.Init(given.CPU != nil)
	l.account.init(cfg.SampleEvery)
	l.timer = metrics.NewTickTimer(cfg.CPU, cfg.Clock, cfg.Enter)
	if cfg.Record != nil {
		l.recording.start()
	}
	l.Publish()
	return l, nil
}

// Gate is what lets clients in: for looking, between ticks.
func (l *Lobby) Gate() *netcode.Server { return l.netcode }

// Match is the lobby's match: for looking, between ticks.
func (l *Lobby) Match() *sim.Match { return l.match }

// Receipts returns the ring of receipts of shots, nil if none are written: for looking, between ticks.
func (l *Lobby) Receipts() *lagcomp.ShotLog { return l.receipts }

// Frame returns the frame of a recent tick as it was sent, nil if it is gone; valid until the next Tick.
func (l *Lobby) Frame(t tick.Tick) *snapshot.Frame { return l.replication.players.frames.At(t) }

// CountSymbols makes the lobby add every symbol it codes from now on to n, for netstate.Train. n may have counts of other lobbies.
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
