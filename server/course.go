package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// Course is what is to be played: a map and a mode, as people name them. "" is what is played now.
type Course struct{ Map, Mode string }

// Ground is what a Course needs, found and read. What it points to must not change while it is played.
type Ground struct {
	Arena  *arena.Arena
	Name   string     // what clients are told to load
	Game   *sim.Game  // with what stands on the map; nil for that of sim.Rules
	Walls  *pvs.Table // as of Config
	parcel []byte     // the arena as it is sent, nil until somebody asks
	made   *world     // nil until Make
}

// Load begins to find what a course needs, and returns a function that is asked between ticks what has become of it: nil and nil for
// not yet. It must not wait. The error says why there can be no such course.
type Load func(Course) (poll func() (*Ground, error), err error)

// voyage is the way to another map, if the lobby is on any.
type voyage struct {
	to     Course
	poll   func() (*Ground, error) // nil: none
	round  bool                    // it is for the round that begins next
	turn   int                     // of Config.Rotation, the next
	ended  bool                    // the round was over in the tick before
	told   []string                // for the operator
	refuse string                  // why the last one went nowhere
	began  tick.Tick               // the last tick of the world before; 0 in the first
}

var errNoLoad = errors.New("this lobby knows of no other maps")

// Travel begins to find what a course needs. Once that is here the map changes under the clients, see Change; until then the old one
// is played. The error says why it cannot be; then, as when it fails later, nothing changes. Call it between ticks.
func (l *Lobby) Travel(c Course) error {
	if c.Map == "" {
		c.Map = l.cfg.ArenaName
	}
	if c.Mode == "" {
		c.Mode = l.cfg.Rules.Game.Mode.Name
	}
	switch v := &l.voyage; {
	case l.cfg.Load == nil:
		return errNoLoad
	case v.poll != nil:
		return fmt.Errorf("on the way to %s on %s already: wait for that", v.to.Mode, v.to.Map)
	case !protocol.ValidText([]byte(c.Map), maxCourse) || !protocol.ValidText([]byte(c.Mode), protocol.MaxModeName):
		return fmt.Errorf("map %.80q, mode %.80q: expected printable text of at most %d and %d bytes", c.Map, c.Mode, maxCourse, protocol.MaxModeName)
	}
	poll, err := l.cfg.Load(c)
	if err != nil {
		return err
	}
	l.voyage.to, l.voyage.poll, l.voyage.round = c, poll, false
	return nil
}

// maxCourse is the longest name of a map that is looked for, in bytes: files may lie in folders.
const maxCourse = 255

// travel goes on with a change of the map, and begins one when a round is over and there is a rotation. It is for between ticks.
func (l *Lobby) travel(now time.Duration) {
	v := &l.voyage
	l.rotate()
	if v.poll == nil || v.round && l.match.Mode().Phase == mode.Ended {
		return
	}
	g, err := v.poll()
	if g == nil && err == nil {
		return
	}
	v.poll = nil
	if err == nil {
		err = l.Change(now, *g)
	}
	if err != nil {
		l.Stats.Count[metrics.MapChangesFailed].Inc()
		v.refuse = fmt.Sprintf("%s on %s: %v", v.to.Mode, v.to.Map, err)
		v.told = append(v.told, "map stays: "+v.refuse)
		return
	}
	v.refuse = ""
	v.told = append(v.told, fmt.Sprintf("map is now %s, %s", l.cfg.ArenaName, l.cfg.Rules.Game.Mode.Name))
}

// rotate begins to load what the rotation has next once a round is over; it is changed to when the next round would begin.
func (l *Lobby) rotate() {
	v := &l.voyage
	ended := l.match.Mode().Phase == mode.Ended
	over := ended && !v.ended
	v.ended = ended
	if !over || len(l.cfg.Rotation) == 0 || v.poll != nil {
		return
	}
	next := l.cfg.Rotation[v.turn%len(l.cfg.Rotation)]
	v.turn++
	if err := l.Travel(next); err != nil {
		l.Stats.Count[metrics.MapChangesFailed].Inc()
		v.refuse = err.Error()
		v.told = append(v.told, "map stays: "+v.refuse)
		return
	}
	v.round = true
}

// on is a configuration with another map in it, filled and checked.
func (c Config) on(g Ground) (Config, error) {
	c.Arena, c.ArenaName, c.Rules.Game = g.Arena, g.Name, g.Game
	c.PVS, c.CellVisible = g.Walls, nil // what a sight of its own knows is the old map
	c, err := c.withDefaults()
	if err == nil {
		_, err = c.Rules.Compile()
	}
	return c, err
}

// Change puts all who are here on another map, or on the same anew. Sessions, names and chat stay; the match begins anew, in the ticks
// after those of the old one. Each client is told in a reliable event, gets what it lacks, and says Ready again; until then it is sent
// no snapshot, and who does not within the time that newcomers have is dismissed. What clients say about the old map, and acks of its
// snapshots, count for nothing. The error says what cannot be played; then nothing has changed. Call it between ticks.
func (l *Lobby) Change(now time.Duration, g Ground) error {
	next := g.made
	if next == nil {
		var err error
		if next, err = l.build(g); err != nil {
			return err
		}
	}
	next.cfg.Kbps = l.cfg.Kbps
	for _, slot := range l.live {
		l.tally(&l.conns[slot])
		l.served(&l.conns[slot])
	}
	old := l.match
	next.match.ContinueFrom(old)
	l.move(next)
	l.contents = contents{bucket: l.contents.bucket, parcels: l.contents.parcels, packed: l.contents.packed && g.parcel != nil}
	l.contents.parcels[protocol.ContentArena] = g.parcel
	l.voyage.began = old.Tick()
	l.social.room.Round(now)
	for _, slot := range l.away {
		l.carry(now, int(slot))
	}
	for _, slot := range l.live {
		c := &l.conns[slot]
		l.carry(now, int(slot))
		c.session.mapEpoch = protocol.NextMapEpoch(c.session.mapEpoch)
		w := l.welcome(c)
		l.hears(now, c, w.Append(protocol.AppendMapChange(l.event[:0], c.session.mapEpoch)))
	}
	l.resettle()
	l.Stats.Count[metrics.MapChanges].Inc()
	return nil
}

// world is what belongs to one map: the match, its frames, and who sees whom.
type world struct {
	cfg    Config // filled
	match  *sim.Match
	frames *snapshot.Ring
	crowd  crowd
	things *objectPlane
}

// newWorld makes a world in which nobody is, of a configuration that is filled. It takes milliseconds, and memory for all.
func newWorld(c Config) *world {
	w := &world{cfg: c, match: sim.New(c.Players, c.Rules, c.Arena)}
	w.frames = snapshot.NewRing(netstate.Public, c.Players, snapshot.Window*c.Interval+1, 1)
	if c.Relevance != RelevanceOff {
		w.crowd = newCrowd(&w.cfg)
	}
	w.things = newObjectPlane(&w.cfg)
	return w
}

// build makes the world of a ground for this lobby. It reads nothing that changes once somebody may come, so that another goroutine may call it.
func (l *Lobby) build(g Ground) (*world, error) {
	cfg, err := l.given.on(g)
	if err != nil {
		return nil, err
	}
	w := newWorld(cfg)
	if l.reserved {
		reserveViews(&w.crowd, &w.things.scenery, cfg.Players)
	}
	return w, nil
}

// Make does beforehand what Change would do with a ground in the tick that it holds up: it packs the arena for those who lack it, and makes
// the match. It may be called on any goroutine; the ground is then for one Change of this lobby. The error is Change's.
func (l *Lobby) Make(g *Ground) (err error) {
	g.parcel = arenaParcel(g.Arena)
	g.made, err = l.build(*g)
	return err
}

// move makes a world that of the lobby.
func (l *Lobby) move(w *world) {
	l.Reel()
	l.cfg, l.match, l.replication.players.frames, l.replication.players.crowd, l.replication.objects = w.cfg, w.match, w.frames, w.crowd, w.things
	l.match.SetHitFilter(l.witness)
	l.match.SetShotLog(l.receipts)
	l.match.SetViewResolver(l.beheld)
	l.match.SetWorkers(w.cfg.Runner)
	l.round, l.leaving = round{}, 0
}

// carry brings the connection of a slot over into a new match, in the memory that it had in the old one, but for its views, which are made for a map.
func (l *Lobby) carry(now time.Duration, slot int) {
	c := &l.conns[slot]
	id := l.match.JoinAt(slot, c.roster.spectates)
	if id == 0 {
		panic("server: a slot of a new match is taken")
	}
	l.uncamera(c) // it asks again with its Ready
	c.changeMap(now, id, l.voyage.began, &l.cfg)
}

// hears queues an event that a connection must not miss. One who cannot take it has not acknowledged dozens of others.
func (l *Lobby) hears(now time.Duration, c *conn, event []byte) {
	if c.session.peer.QueueReliable(event) != nil {
		c.session.loadingSince = now - readyWithin // the next tick sends it away
	}
}

// resettle gives the rows of names the ids of a new match; who is gone has none. Nobody is told: each connection is told all with its Ready.
func (l *Lobby) resettle() {
	s := &l.social
	for slot := range s.rows {
		row, muted := &s.rows[slot], s.table[slot].Muted
		s.rise(slot)
		if row.Name == "" || l.conns[slot].id == 0 || l.match.CommandBuffer(l.conns[slot].id) == nil {
			if row.Name != "" {
				s.strike(slot)
			}
			*row = protocol.RosterRow{}
			continue
		}
		row.NetID = uint32(l.conns[slot].id)
		s.table[slot].Muted = muted
	}
}
