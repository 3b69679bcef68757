package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
	"github.com/tickrate/tickrate/sim/replay"
)

// MapSpec names a map and a mode. An empty name means the one that is played now.
type MapSpec struct {
	Map, Mode string
	Content   string // pack that both are of, as the host names it; "" for the host's own
}

// LoadedMap is a map and a mode, read and ready to play. What it points to must not change while it
// is played.
type LoadedMap struct {
	Arena    *arena.Arena
	Name     string     // what clients are told to load
	Game     *sim.Game  // with the objects of the map; nil for that of sim.Rules
	PVS      *pvs.Table // as of Config
	transfer []byte     // the arena as clients get it; nil until the first one asks
	state    *mapState  // nil until Lobby.PrepareMap
}

// MapLoader starts to load a map. It must not wait: it returns a function that is called between
// ticks until it returns the map or an error; nil and nil mean not yet. The error of the loader
// itself says why the map cannot be loaded at all.
type MapLoader func(MapSpec) (poll func() (*LoadedMap, error), err error)

// maps loads the next map of a lobby while the present one is played. Maps come from the console
// and from Config.Rotation.
type maps struct {
	*core
	base        Config // as the caller of NewLobby gave it
	reserve     bool   // see Lobby.Reserve
	pending     pendingMapChange
	rotation    int       // of Config.Rotation, the next
	roundEnded  bool      // the round was over in the tick before
	log         []string  // for the operator
	failure     string    // why the last change failed; "" if it did not
	previousEnd tick.Tick // the last tick of the previous map; 0 on the first
}

// pendingMapChange is a map that is being loaded.
type pendingMapChange struct {
	spec      MapSpec
	poll      func() (*LoadedMap, error) // nil: no map is being loaded
	nextRound bool                       // it waits for the end of the round
}

// maxMapName is the longest name of a map that is looked for, in bytes: files may lie in folders.
const maxMapName = 255

var errNoLoader = errors.New("this lobby knows of no other maps")

// ChangeMap starts to load a map. The present one is played until it is there; then the lobby
// changes to it as InstallMap does. The error says why the map cannot be loaded; then, as when
// loading fails later, nothing changes. Call it between ticks.
func (l *Lobby) ChangeMap(spec MapSpec) error { return l.maps.change(spec) }

func (m *maps) change(spec MapSpec) error {
	if spec.Map == "" {
		spec.Map = m.cfg.ArenaName
	}
	if spec.Mode == "" {
		spec.Mode = m.cfg.Rules.Game.Mode.Name
	}
	switch pending := &m.pending; {
	case m.cfg.LoadMap == nil:
		return errNoLoader
	case pending.poll != nil:
		return fmt.Errorf("loading %s on %s already: expected no other change until then",
			pending.spec.Mode, pending.spec.Map)
	case !protocol.ValidText([]byte(spec.Map), maxMapName):
		return fmt.Errorf("map %.80q: expected printable text of at most %d bytes", spec.Map, maxMapName)
	case !protocol.ValidText([]byte(spec.Mode), protocol.MaxModeName):
		return fmt.Errorf("mode %.80q: expected printable text of at most %d bytes",
			spec.Mode, protocol.MaxModeName)
	}
	poll, err := m.cfg.LoadMap(spec)
	if err != nil {
		return err
	}
	m.pending = pendingMapChange{spec: spec, poll: poll}
	return nil
}

// poll returns the pending map once it is loaded, or why it cannot be; nil and nil mean not yet.
func (m *maps) poll() (*LoadedMap, error) {
	m.rotate()
	if m.pending.poll == nil || m.pending.nextRound && m.match.Mode().Phase == mode.Ended {
		return nil, nil
	}
	loaded, err := m.pending.poll()
	if loaded != nil || err != nil {
		m.pending.poll = nil
	}
	return loaded, err
}

// finish records the result of the pending map change.
func (m *maps) finish(err error) {
	if spec := m.pending.spec; err != nil {
		m.fail(fmt.Sprintf("%s on %s: %v", spec.Mode, spec.Map, err))
		return
	}
	m.failure = ""
	m.log = append(m.log, fmt.Sprintf("map is now %s, %s", m.cfg.ArenaName, m.cfg.Rules.Game.Mode.Name))
}

func (m *maps) fail(why string) {
	m.Stats.Count[metrics.MapChangesFailed].Inc()
	m.failure = why
	m.log = append(m.log, "map stays: "+why)
}

// rotate starts to load the next map of the rotation when a round is over. The lobby changes to it
// when the next round would begin.
func (m *maps) rotate() {
	ended := m.match.Mode().Phase == mode.Ended
	over := ended && !m.roundEnded
	m.roundEnded = ended
	if !over || len(m.cfg.Rotation) == 0 || m.pending.poll != nil {
		return
	}
	next := m.cfg.Rotation[m.rotation%len(m.cfg.Rotation)]
	m.rotation++
	if err := m.change(next); err != nil {
		m.fail(err.Error())
		return
	}
	m.pending.nextRound = true
}

// WithMap returns the configuration with another map. What the map has packed is shared with all
// lobbies that are made on it.
func (c Config) WithMap(m *LoadedMap) Config {
	c.Arena, c.ArenaName, c.Rules.Game = m.Arena, m.Name, m.Game
	c.PVS, c.CellVisible = m.PVS, nil // a function of the caller's knows the old map only
	c.packedArena = m.transfer
	return c
}

// Pack packs the arena for clients that lack it, once; it takes 20 ms.
func (m *LoadedMap) Pack() {
	if m.transfer == nil {
		m.transfer = arenaTransfer(m.Arena)
	}
}

// withMap is WithMap, filled and checked.
func (c Config) withMap(m LoadedMap) (Config, error) {
	c, err := c.WithMap(&m).withDefaults()
	if err == nil {
		_, err = c.Rules.Compile()
	}
	return c, err
}

// mapState is what of a lobby belongs to one map: the match, its frames, and the interest of
// connections.
type mapState struct {
	cfg      Config // filled
	match    *sim.Match
	players  playerRows // without an encoder, which serves all maps
	objects  *objectRows
	effects  effects
	recorder spareRecorder // empty if nothing records the match yet
	flight   *replay.FlightRecorder
}

// newMapState makes the state of an empty match from a filled configuration. It takes milliseconds.
func newMapState(c Config) *mapState {
	return newMapStateOf(c, sim.New(c.Players, c.Rules, c.Arena))
}

// newMapStateOf is newMapState with a match of the configuration, which may have begun.
func newMapStateOf(c Config, m *sim.Match) *mapState {
	s := &mapState{cfg: c, match: m}
	s.players.frames = newFrames(&c, netstate.Public, c.Players, c.Players)
	if c.Relevance != RelevanceOff {
		s.players.initInterest(&s.cfg)
	}
	s.objects = newObjectRows(&s.cfg, s.match)
	s.effects = newEffects(&s.cfg)
	if c.Record != nil {
		s.recorder.make(&s.cfg, s.match)
	}
	if c.FlightRecorder {
		s.flight = replay.NewFlightRecorder(m)
	}
	return s
}

// build makes the state of a map for this lobby. It reads nothing that changes while the lobby
// runs, so any goroutine may call it.
func (m *maps) build(loaded LoadedMap) (*mapState, error) {
	cfg, err := m.base.withMap(loaded)
	if err != nil {
		return nil, err
	}
	s := newMapState(cfg)
	if m.reserve {
		s.objects.encoder.ReserveExplain(netstate.Objects)
		s.players.interest.reserve(cfg.Players)
		s.objects.interest.reserve(cfg.Players)
		if cfg.Record == nil && cfg.reservesKillcams() {
			s.recorder.make(&s.cfg, s.match)
		}
	}
	return s, nil
}

// PrepareMap does ahead of time what InstallMap would do within a tick: it packs the arena for
// clients that lack it, and makes the match. Any goroutine may call it; the map is then for one
// InstallMap of this lobby. The error is that of InstallMap.
func (l *Lobby) PrepareMap(m *LoadedMap) (err error) {
	m.Pack()
	m.state, err = l.maps.build(*m)
	return err
}

// InstallMap moves every connection to another map, or to the same one anew. Sessions, names and
// chat stay. The match is a new one, whose ticks follow those of the old. Each client gets a
// reliable message, fetches what it lacks, and answers Ready again; until then it is sent no
// snapshot, and it has as long for that as a newcomer. Packets about the old map, and acks of its
// snapshots, count for nothing. The error says why the map cannot be played; then nothing has
// changed. Call it between ticks.
func (l *Lobby) InstallMap(now time.Duration, m LoadedMap) error {
	next := m.state
	if next == nil {
		var err error
		if next, err = l.maps.build(m); err != nil {
			return err
		}
	}
	next.cfg.keepVariables(&l.cfg)
	for _, slot := range l.live {
		l.tally(&l.conns[slot])
		l.transfers.done(&l.conns[slot])
	}
	old := l.match
	next.match.ContinueFrom(old)
	l.install(next)
	l.replication.setViewDistance()
	l.transfers.setArena(m.transfer)
	l.maps.previousEnd = old.Tick()
	l.chat.room.Round(now)
	for _, slot := range l.reconnectable {
		l.join.carryOver(now, int(slot))
	}
	for _, slot := range l.live {
		c := &l.conns[slot]
		l.join.carryOver(now, int(slot))
		c.session.mapEpoch = protocol.NextMapEpoch(c.session.mapEpoch)
		w := l.welcome(c)
		c.mustQueue(now, w.Append(protocol.AppendMapChange(l.message[:0], c.session.mapEpoch)))
	}
	for slot := range l.conns {
		l.chat.disconnect(slot)
		l.console.disconnect(slot)
		l.idle.disconnect(slot)
	}
	l.roster.newMatch()
	l.scores.newMatch()
	l.Stats.Count[metrics.MapChanges].Inc()
	return nil
}

// install makes the state of a map that of the lobby.
func (l *Lobby) install(s *mapState) {
	l.FinishRecording()
	l.cfg, l.match = s.cfg, s.match
	l.recording.spare = s.recorder
	l.replication.setMatch(s)
	l.match.SetHitFilter(l.rewind.hitFilter)
	l.match.SetShotLog(l.rewind.log)
	l.match.SetViewResolver(l.rewind.targetViews)
	l.match.SetWorkers(s.cfg.Runner)
	l.flight.install(s.flight)
	l.outbound.round, l.leaving = roundNews{core: &l.core}, 0
}
