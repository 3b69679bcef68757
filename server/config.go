package server

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/query"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// Config describes a lobby. Arena, ArenaName and the key and addresses of Netcode are required;
// zero in any other field means the default that is named.
type Config struct {
	// The match.

	Rules     sim.Rules
	Arena     *arena.Arena
	ArenaName string // what clients are told to load
	Players   int    // most at a time, 1 to 4096; default 64

	// Runner runs the loops of systems in parallel, with equal results; default one goroutine.
	Runner parallel.Runner

	LoadMap        MapLoader // loads maps for the console and Rotation; default no other maps
	Rotation       []MapSpec // maps of the rounds, in turn; default the same map for ever
	SleepWhenEmpty bool      // an empty lobby plays no tick, see PhaseIdle

	// ShotLogSize is the shots that the shot log holds, 232 bytes each, at most MaxShotLogSize; 0 for
	// none, -1 for 64 of each slot, at most 4096.
	ShotLogSize int

	// Sessions.

	// Port, if set, is shared with other lobbies, and Netcode does not count. The lobby gets its
	// clients once Port.Add is called. Default: a port of its own.
	Port *Port
	ID   uint32 // names the lobby in connect tokens, see protocol.LobbyRef

	// Netcode has the key, the addresses, entropy and the journal. Its Clients are set to the
	// slots.
	Netcode netcode.ServerConfig

	Name     string         // shown by the console and server browsers, at most 255 bytes
	Console  console.Config // files of the console; default none
	IdleWarn time.Duration  // without input after which a player is warned; default never
	IdleKick time.Duration  // without input after which a player is removed; default never
	// IdlePassive is the time after which a player is removed that gives input and takes no part in the
	// match, see idle.Passive; it is warned a minute before. Default never.
	IdlePassive time.Duration
	ContentKbps int // kbit/s of models and arenas to all clients together; default 8000

	// Replication.

	SendInterval  int             // ticks per snapshot, 1 to MaxInterval; default about 20 Hz
	Kbps          int             // kbit/s of UDP payload per client, 16 to 1,000,000; 0: no limit
	Models        netstate.Models // compression; default netstate.Trained
	Codec         schema.Codec    // of public rows; default that of Models, which is Huffman
	JoinBytes     int             // of a join snapshot, 1200 or more; default max(4800, 10 a slot)
	ChecksumEvery int             // snapshots between two with a checksum; default 20, -1 none

	// EffectBytes is the bytes of a snapshot that impacts and damage may take, 16 to 120, and an
	// eighth of what a limited one has beyond 128 bytes; default 24, -1 tells clients of none.
	EffectBytes int

	// ObjectUpdateIntervals are the snapshots between two changes of an object's row, by class;
	// default netstate.DefaultUpdateIntervals.
	ObjectUpdateIntervals netstate.UpdateIntervals

	// NearestPlayers is about how many players are in every snapshot to a client that may see all:
	// those nearest to it. In a lobby of more than ten times as many the others are in every second
	// one. Under RelevanceGrid, team mates out of sight are in every second one in a team of more
	// than twice as many. Default 64, at most 4096; -1 puts all visible players into every snapshot.
	NearestPlayers int

	// Relevance is which players a client is sent; default RelevanceAuto. The fields below it need
	// RelevanceGrid.
	Relevance    Relevance
	ViewDistance float32 // metres beyond which no player is sent; default no limit
	TeamFog      bool    // range and sight hide team mates, too

	// PVS is what the walls of Arena hide, on the grid of GridConfig; default nothing. Lobbies may
	// share it. CellVisible, in its place, reports whether a cell is in sight of another.
	PVS         *pvs.Table
	CellVisible interest.VisibleFunc

	CellSize   float32 // edge of a cell, metres, 1 or more; default that of PVS, or 8 or more
	Hysteresis int     // extra snapshots of a hidden row, 1 to 15, -1 none; default 4

	// Spectators, killcams and recordings.

	Spectators  int     // most at a time, in slots of their own, 0 to 4096 less Players
	SpectateAll bool    // spectators are sent all players and may use a free camera
	Killcam     Killcam // default KillcamAuto

	// Record gets the recording, a chunk a second, from what Background runs. It must not block.
	Record func(RecordingChunk)

	// FlightRecorder keeps the newest 600 ticks or more in memory, 25 KB a slot, for Lobby.EndFlight.
	FlightRecorder bool

	// Background runs what encodes recordings and killcams: all functions in the order in which it
	// gets them, one at a time, on any goroutine; it must not block. At most replay.RawChunks+1
	// of a map wait. Default: a function runs at once, in the tick.
	Background func(run func())

	// Measuring.

	CPU        func() time.Duration // CPU time of the calling thread; default none: stages read 0
	Clock      func() time.Duration // elapsed time; default none: only CPU time is kept
	EnterStage func(metrics.Stage)  // called when a stage begins, for profiler labels; default none
	EnterConn  func(slot int)       // called when a connection's snapshot begins; default none

	// SparseTiming measures one tick in 16 on average and no other, for hosts of many small lobbies.
	// By default every tick reads both clocks twice and is recorded: one to two microseconds.
	SparseTiming bool

	// SampleEvery is n where one datagram of n is accounted to the bit, and one snapshot of n
	// explained; default 1024, or 8 a slot if that is more; -1 none.
	SampleEvery int

	packedArena []byte // see WithMap; nil: packed when a client asks
}

// defaultChecksumEvery is a second at 20 Hz: 4 bytes of it, and a divergence is over before a
// player notices it.
const defaultChecksumEvery = 20

// The defaults of SampleEvery keep the price of the byte account below half a percent of a tick
// (BenchmarkObserved of bench/lobbysim). A datagram of a larger lobby has more rows to look at.
const (
	defaultSampleEvery = 1024
	samplePlayers      = 8
)

// A ShotLogSize of -1 is shots of each slot, as far as the log is no longer than defaultShotLog.
const (
	shotsPerSlot   = 64
	defaultShotLog = 4096
)

// Limits of a configuration.
const (
	MaxPlayers     = protocol.MaxPlayers // players and spectators together
	MaxInterval    = 20                  // the memory of frames grows with it
	MaxShotLogSize = 1 << 16             // shots in the shot log: 15 MB

	defaultPlayers     = 64
	defaultContentKbps = 8000
	maxKbps            = 1_000_000
)

// Check reports what is wrong with a configuration.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults fills and checks a configuration. Players of the result has the slots of spectators,
// too.
func (c Config) withDefaults() (Config, error) {
	c.Rules = c.Rules.WithDefaults()
	c.Players = cmp.Or(c.Players, defaultPlayers)
	c.SendInterval = cmp.Or(c.SendInterval, max(1, (int(c.Rules.Rate)+10)/20))
	c.ContentKbps = cmp.Or(c.ContentKbps, defaultContentKbps)
	c.EffectBytes = cmp.Or(c.EffectBytes, defaultEffectBytes)
	players := c.Players
	c.Players += c.Spectators
	c.SampleEvery = cmp.Or(c.SampleEvery, max(defaultSampleEvery, samplePlayers*c.Players))
	if c.ShotLogSize == -1 {
		c.ShotLogSize = min(shotsPerSlot*c.Players, defaultShotLog)
	}
	c.Netcode.Clients = c.Players
	c.Netcode.ProtocolID = cmp.Or(c.Netcode.ProtocolID, protocol.ProtocolID)
	// A client sends a datagram a tick.
	c.Netcode.PacketsPerSecond = cmp.Or(c.Netcode.PacketsPerSecond, 2*int(c.Rules.Rate))
	if c.Models == (netstate.Models{}) {
		c.Models = netstate.Trained()
	}
	if c.Codec != schema.Huffman && c.Codec < schema.Codecs {
		c.Models = c.Models.WithCodec(c.Codec)
	}
	if c.CPU == nil {
		c.CPU = func() time.Duration { return 0 }
	}
	if c.EnterStage == nil {
		c.EnterStage = func(metrics.Stage) {}
	}
	if c.Background == nil {
		c.Background = func(run func()) { run() }
	}
	if err := c.checkObjects(); err != nil {
		return c, err
	}
	if err := c.checkNumbers(players); err != nil {
		return c, err
	}
	if err := c.checkMatch(); err != nil {
		return c, err
	}
	if n := len(c.Models.Append(nil)); n > protocol.MaxModelFile {
		return c, fmt.Errorf("models and dictionaries of %d bytes: expected at most %d, as clients accept no more",
			n, protocol.MaxModelFile)
	}
	var err error
	if c.Rules.Game, err = c.Rules.Game.OnArena(c.Arena); err != nil {
		return c, err
	}
	return c.withRelevance()
}

// checkNumbers checks the ranges of a filled configuration. players are its slots without
// spectators.
func (c *Config) checkNumbers(players int) error {
	switch {
	case !c.Rules.Rate.Valid():
		return fmt.Errorf("tick rate %d Hz: expected %d to %d", c.Rules.Rate, tick.MinRate, tick.MaxRate)
	case players < 1 || players > MaxPlayers:
		return fmt.Errorf("%d players: expected 1 to %d", players, MaxPlayers)
	case c.Spectators < 0 || c.Players > MaxPlayers:
		return fmt.Errorf("%d spectators beside %d players: expected 0 to %d",
			c.Spectators, players, MaxPlayers-players)
	case c.SampleEvery < -1 || c.SampleEvery > 1<<20:
		return fmt.Errorf("one datagram of %d sampled: expected 1 to %d, or -1 for none",
			c.SampleEvery, 1<<20)
	case c.SendInterval < 1 || c.SendInterval > MaxInterval:
		return fmt.Errorf("snapshot interval of %d ticks: expected 1 to %d", c.SendInterval, MaxInterval)
	case c.Kbps != 0 && (c.Kbps < sim.MinSnapshotKbps || c.Kbps > maxKbps):
		return fmt.Errorf("%d kbit/s to a client: expected %d to %d, or 0 for no limit",
			c.Kbps, sim.MinSnapshotKbps, maxKbps)
	case c.Codec >= schema.Codecs:
		return fmt.Errorf("codec %d: expected less than %d", c.Codec, schema.Codecs)
	case c.ContentKbps < sim.MinSnapshotKbps || c.ContentKbps > maxKbps:
		return fmt.Errorf("%d kbit/s of content: expected %d to %d",
			c.ContentKbps, sim.MinSnapshotKbps, maxKbps)
	case c.EffectBytes != -1 && (c.EffectBytes < minEffectBytes || c.EffectBytes > maxEffectBytes):
		return fmt.Errorf("%d bytes of effects in a snapshot: expected %d to %d, or -1 for none",
			c.EffectBytes, minEffectBytes, maxEffectBytes)
	case c.ShotLogSize < 0 || c.ShotLogSize > MaxShotLogSize:
		return fmt.Errorf("shot log of %d shots: expected 0 to %d, or -1 for %d a slot",
			c.ShotLogSize, MaxShotLogSize, shotsPerSlot)
	case c.IdlePassive < 0 || c.IdlePassive > maxIdle:
		return fmt.Errorf("idle: passive players kicked after %v: expected 0 for never, or at most %v",
			c.IdlePassive, maxIdle)
	case c.IdleWarn < 0 || c.IdleWarn > maxIdle || c.IdleKick < 0 || c.IdleKick > maxIdle:
		return fmt.Errorf("idle: warned after %v, kicked after %v: expected 0 for never, or at most %v",
			c.IdleWarn, c.IdleKick, maxIdle)
	}
	return nil
}

// checkMatch checks the arena, the names and the rules.
func (c *Config) checkMatch() error {
	mode := []byte(c.Rules.Game.Mode.Name)
	custom := c.Rules.Game.Pack != [32]byte{}
	switch {
	case c.Arena == nil:
		return errors.New("lobby without an arena")
	case c.ArenaName == "" || !protocol.ValidText([]byte(c.ArenaName), protocol.MaxArenaName):
		return fmt.Errorf("arena name %q: expected 1 to %d bytes of printable text",
			c.ArenaName, protocol.MaxArenaName)
	case !protocol.ValidText([]byte(c.Name), query.MaxText):
		return fmt.Errorf("name %q: expected at most %d bytes of printable text", c.Name, query.MaxText)
	case custom && (len(mode) == 0 || !protocol.ValidText(mode, protocol.MaxModeName)):
		return fmt.Errorf("mode %q: expected a name of 1 to %d bytes of printable text",
			mode, protocol.MaxModeName)
	case c.Rules.RespawnMillis < c.Rules.RewindMillis:
		return fmt.Errorf("respawn after %d ms: expected at least the %d ms that a shot may be rewound",
			c.Rules.RespawnMillis, c.Rules.RewindMillis)
	}
	return nil
}
