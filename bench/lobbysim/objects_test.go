package lobbysim

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// objectsTest is a lobby on arena-16 with objects of every kind.
type objectsTest struct {
	*Sim
	t *testing.T
}

// thrower is a brain that fires and throws what its hero has, now and then.
type thrower struct {
	swarm.Brain
	every, n int
	idle     bool
}

func (b *thrower) Decide(s *swarm.Observation) client.Intent {
	in := b.Brain.Decide(s)
	in.Buttons &^= sim.Fire | sim.Throw | sim.Melee
	if b.n++; b.idle {
		return client.Intent{}
	}
	if b.n%b.every < 3 {
		in.Buttons |= sim.Throw
	}
	if b.n%(2*b.every) < b.every/2 {
		in.Buttons |= sim.Fire
	}
	return in
}

// gameWithObjects is a game for arena-16 with objects of every kind.
func gameWithObjects() *sim.Game {
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 0, 1
	game.Layout = sim.Layout{
		Barrels: []geom.Vec3{{X: 6, Z: 2}, {X: -6, Z: 3}, {X: 9, Z: -7}},
		Cubes:   []geom.Vec3{{X: 3, Y: 5, Z: 3}, {X: -3, Y: 6, Z: 4}, {X: 3.2, Y: 7, Z: 3}},
		Teleporters: []object.Teleporter{{Box: geom.AABB{Min: geom.Vec3{X: 10, Y: -1, Z: 10},
			Max: geom.Vec3{X: 14, Y: 2, Z: 14}},
			Target: geom.Vec3{X: -8, Z: -8}}},
		Points: []object.Zone{object.DefaultZone(geom.Vec3{})},
	}
	return game
}

func newObjectsTest(t *testing.T, players int, link impair.Profile, change func(*Config)) *objectsTest {
	t.Helper()
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	game := gameWithObjects()
	cfg := Config{
		Clients: players, Seed: 9, Link: link,
		Brain: func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(9, n), every: 37 + 5*n} },
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 16,
			Rules: sim.Rules{Seed: 5, Mix: true, Game: game}},
	}
	if change != nil {
		change(&cfg)
	}
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &objectsTest{b, t}
}

func (y *objectsTest) run(d time.Duration, each func()) {
	y.t.Helper()
	for end := y.Now() + d; y.Now() < end; {
		if err := y.Step(); err != nil {
			y.t.Fatal(err)
		}
		if each != nil {
			each()
		}
	}
}

// flightName names a projectile of the match for comparisons with a client.
type flightName struct {
	kind  netstate.Kind
	owner netid.ID
	born  tick.Tick
	index uint8
}

// harmless makes a game in which projectiles neither push nor hurt, so that only its own commands
// move a player.
func harmless(c *Config) {
	g := c.Lobby.Rules.Game
	for i := range g.Projectiles {
		g.Projectiles[i].Damage, g.Projectiles[i].Impulse, g.Projectiles[i].Splash = 0, 0, object.Splash{}
	}
	for i := range g.Heroes {
		for k := range g.Heroes[i].Slots {
			gun := &g.Heroes[i].Slots[k].Gun
			gun.Damage, gun.Impulse = 1, 0
		}
	}
	g.Grenade.Splash = object.Splash{}
	g.Layout.Teleporters = nil
}

// TestRow46ProjectilesArePredicted is row 46 of docs/features.md, on a clean link: a
// projectile appears with its command, is matched with the server's by owner, command and index,
// and is replaced where it was, to the bit.
func TestRow46ProjectilesArePredicted(t *testing.T) {
	for _, kbps := range []int{0, 32} { // a small budget sends the client's own flights first
		t.Run(fmt.Sprintf("%d kbps", kbps), func(t *testing.T) { predictedFlights(t, kbps) })
	}
}

func predictedFlights(t *testing.T, kbps int) {
	y := newObjectsTest(t, 4, impair.Profile{Delay: 30 * time.Millisecond}, func(c *Config) {
		harmless(c)
		c.Lobby.Kbps = kbps
	})
	last := make([]map[flightName]geom.Vec3, len(y.Clients))
	var buf []objects.Object
	most, shown := float32(0), 0
	y.run(20*time.Second, func() {
		for i, c := range y.Clients {
			buf = c.Objects.Append(buf[:0])
			now := map[flightName]geom.Vec3{}
			for k := range buf {
				o := &buf[k]
				if !o.Own || o.Over() {
					continue
				}
				shown++
				name := nameOf(o)
				if _, twice := now[name]; twice {
					t.Fatalf("client %d shows %+v twice", i, name)
				}
				now[name] = o.Pos
				if was, ok := last[i][name]; ok {
					most = max(most, o.Pos.Sub(was).Len())
				}
			}
			last[i] = now
			for e, ok := c.Objects.NextChange(); ok; e, ok = c.Objects.NextChange() {
				if _, here := now[nameOf(&e.Object)]; e.Kind == objects.Launched && !here &&
					!e.Object.Over() {
					t.Fatalf("client %d, tick %d: what was launched is not to be seen: %+v",
						i, e.Tick, e.Object)
				}
			}
		}
	})
	launched := uint64(0)
	for i, c := range y.Clients {
		f := c.Stats().Projectiles
		launched += f.Launched
		if f.Launched < 5 || f.Matched+3 < f.Launched || f.Moved != 0 || f.Rejected != 0 ||
			f.MaxJump != 0 || f.NotShown != 0 {
			t.Errorf("client %d: %+v: expected all matched where they were", i, f)
		}
	}
	t.Logf("%d flights, %d pictures of them, at most %.2f m between two", launched, shown, most)
	if shown < 1000 || most > 80./60*1.6 { // 80 m/s for a tick, and what the clock makes up for
		t.Errorf("%d pictures, %.2f m between two of them", shown, most)
	}
}

func nameOf(o *objects.Object) flightName {
	return flightName{o.Kind, netid.ID(o.Owner), o.Since, o.Index}
}

// TestRow46RejectedProjectilesVanish is the other half of row 46: the server, where the thrower
// died earlier, launches nothing, and the predicted projectile vanishes as soon as snapshots
// confirm that.
func TestRow46RejectedProjectilesVanish(t *testing.T) {
	y := newObjectsTest(t, 3, impair.Profile{Delay: 80 * time.Millisecond}, func(c *Config) {
		harmless(c)
		c.Lobby.Rules.RespawnMillis = 1000
	})
	refused, born, n := 0, map[flightName]time.Duration{}, 0
	var buf []objects.Object
	y.run(40*time.Second, func() {
		c, m := y.Clients[1], y.Lobby.Match()
		if n++; n%47 == 0 && c.ID() != 0 {
			m.Scene().Damage.Add(object.Damage{Victim: c.ID(), Points: 10000})
		}
		for e, ok := c.Objects.NextChange(); ok; e, ok = c.Objects.NextChange() {
			switch name := nameOf(&e.Object); e.Kind {
			case objects.Launched:
				born[name] = y.Now()
			case objects.Rejected:
				refused++
				if took := y.Now() - born[name]; took > 500*time.Millisecond {
					t.Errorf("%+v was shown for %v", name, took)
				}
				for _, o := range c.Objects.Append(buf[:0]) {
					if nameOf(&o) == name {
						t.Errorf("%+v is refused and shown", name)
					}
				}
			}
		}
	})
	f := y.Clients[1].Stats().Projectiles
	t.Logf("%+v", f)
	if refused < 3 || uint64(refused) != f.Rejected || f.Matched+f.Rejected+3 < f.Launched {
		t.Errorf("%d refused: %+v", refused, f)
	}
}

// objectTrace compares what clients decoded with what the server sent, row by row, in every
// snapshot that both still have, and counts.
type objectTrace struct {
	rows int
	kind [netstate.Kinds]int
}

func (n *objectTrace) check(y *objectsTest, i int) {
	y.t.Helper()
	c := y.Clients[i]
	at := c.Newest()
	f := y.Lobby.ObjectFrame(at)
	if f == nil || at == 0 {
		return
	}
	var got, want [netstate.ObjectStateFields]int32
	for slot := range f.Slots() {
		id, ok := c.Objects.Row(at, slot, got[:])
		if !ok {
			continue
		}
		if should := f.Row(slot, want[:]); id != should &&
			!(id == 0 && y.cfg.Lobby.Relevance == server.RelevanceGrid) || id != 0 && got != want {
			y.t.Fatalf("client %d, tick %d, slot %d: %v %v, the server has %v %v",
				i, at, slot, id, got, should, want)
		}
		if id != 0 {
			n.rows++
			n.kind[got[netstate.ObjectStateWhat]&7]++
		}
	}
}

// TestObjectsUnderLoss is a model checker of lifetimes: objects live and die at random, slots are
// reused, datagrams are lost, doubled and late, clients join and leave; and no client ever holds a
// row that the server did not have in that tick.
func TestObjectsUnderLoss(t *testing.T) {
	for _, cfg := range []server.Config{
		{Relevance: server.RelevanceOff}, {Relevance: server.RelevanceAll},
		{Relevance: server.RelevanceAll, Kbps: 64},
		{Relevance: server.RelevanceGrid, ViewDistance: 200},
		{Relevance: server.RelevanceGrid, ViewDistance: 20, Kbps: 96}, {ChecksumEvery: 1},
	} {
		name := fmt.Sprintf("%v/%.0f m/%d kbps", cfg.Relevance, cfg.ViewDistance, cfg.Kbps)
		t.Run(name, func(t *testing.T) {
			y := newObjectsTest(t, 8, impair.Profile{Delay: 20 * time.Millisecond,
				Jitter: 30 * time.Millisecond, Loss: 0.2, Duplicate: 0.1}, func(c *Config) {
				c.Lobby.Relevance, c.Lobby.ViewDistance = cfg.Relevance, cfg.ViewDistance
				c.Lobby.Kbps, c.Lobby.ChecksumEvery = cfg.Kbps, cfg.ChecksumEvery
				c.Lobby.ObjectUpdateIntervals = netstate.UpdateIntervals{netstate.Cube: 3,
					netstate.Projectile: 2}
			})
			var n objectTrace
			steps := 0
			y.run(15*time.Second, func() {
				for i := range y.Clients {
					n.check(y, i)
				}
				if steps++; steps%311 == 0 {
					i := steps / 311 % len(y.Clients)
					y.Crash(i)
					if err := y.Connect(i); err != nil {
						t.Fatal(err)
					}
				}
			})
			diverged := uint64(0)
			for _, c := range y.Clients {
				diverged += c.Stats().Diverged
			}
			t.Logf("%d rows compared, by class %v; %d diverged", n.rows, n.kind, diverged)
			if n.rows < 1000 || n.kind[netstate.Projectile] == 0 || n.kind[netstate.Grenade] == 0 ||
				n.kind[netstate.Cube] == 0 || diverged != 0 {
				t.Errorf("%d rows, by class %v, %d diverged", n.rows, n.kind, diverged)
			}
		})
	}
}

// positions is where the match has its objects in a tick.
type positions struct {
	flights map[flightName]geom.Vec3
	cubes   []geom.Vec3
}

func (y *objectsTest) positions() positions {
	m := y.Lobby.Match()
	p := positions{flights: map[flightName]geom.Vec3{}}
	count := map[flightName]uint8{}
	name := func(k netstate.Kind, owner netid.ID, born tick.Tick) flightName {
		n := flightName{kind: k, owner: owner, born: born}
		n.index = count[n]
		count[flightName{k, owner, born, 0}]++
		return n
	}
	for i := range m.Objects().Projectiles {
		o := &m.Objects().Projectiles[i]
		pos := o.Point
		if o.Hit == object.Flying {
			pos = o.At(&m.Game().ProjectileKinds[o.Type], m.Tick())
		}
		p.flights[name(netstate.Projectile, o.Owner, o.Tick)] = pos
	}
	for i := range m.Objects().Grenades {
		o := &m.Objects().Grenades[i]
		p.flights[name(netstate.Grenade, o.Owner, o.Thrown)] = o.Pos
	}
	for i := range m.Scene().Cubes {
		p.cubes = append(p.cubes, m.Scene().Cubes[i].Pos)
	}
	return p
}

// Projectiles of other players and cubes are shown where the server had them at the view's instant:
// projectiles exactly, on the line between two ticks; cubes without a push within the error of a
// straight line between two updates.
func TestObjectsAreInPlace(t *testing.T) {
	y := newObjectsTest(t, 6, impair.Profile{Delay: 25 * time.Millisecond, Jitter: 5 * time.Millisecond},
		harmless)
	was := map[tick.Tick]positions{}
	var buf []objects.Object
	var kinds [netstate.Kinds]int
	worst, atRest, near := float32(0), 0, 0
	y.run(15*time.Second, func() {
		m := y.Lobby.Match()
		if n := m.Tick(); n%40 == 0 && n > 240 {
			m.Scene().Cubes[int(n/40)%3].Push(geom.Vec3{X: 5, Y: 4, Z: float32(n/40%5) - 2})
		}
		was[m.Tick()] = y.positions()
		for _, c := range y.Clients {
			v := c.View()
			way := int(v.To-v.From) * int(v.Frac)
			at, frac := v.From+tick.Tick(way>>8), float32(way&255)/256
			a, b := was[at], was[at+1]
			if v.From == 0 || a.flights == nil || b.flights == nil {
				continue
			}
			buf = c.Objects.Append(buf[:0])
			for k := range buf {
				o := &buf[k]
				if o.Own {
					continue
				}
				kinds[o.Kind]++
				if o.Kind == netstate.Cube {
					first := len(m.Objects().Ports) + len(m.Objects().Zones) + len(m.Scene().Barrels)
					i := o.ID.Index() - first
					if at%40 > 10 && at%40 < 30 { // only players have pushed it
						atRest++
						if o.Pos.Sub(a.cubes[i].Mad(b.cubes[i].Sub(a.cubes[i]), frac)).Len() < 1./16 {
							near++
						}
					}
				}
				if !o.Kind.Flies() {
					continue
				}
				from, ok := a.flights[nameOf(o)]
				if !ok && o.Over() {
					continue // it lingers until the next snapshot
				}
				if !ok {
					t.Fatalf("tick %d: %+v is shown, and was not there", at, o)
				}
				to, there := b.flights[nameOf(o)]
				if !there {
					to = from
				}
				worst = max(worst, o.Pos.Sub(from.Mad(to.Sub(from), frac)).Len())
			}
		}
	})
	t.Logf("pictures by class %v, flights at most %.4f m off, %d of %d cubes less than 1/16 m",
		kinds, worst, near, atRest)
	if worst > 2e-3 || atRest < 1000 || near < atRest*95/100 {
		t.Errorf("flights are up to %.4f m from where they were, %d of %d cubes less than 1/16 m",
			worst, near, atRest)
	}
	for k := netstate.Projectile; k <= netstate.Zone; k++ {
		if kinds[k] == 0 && k != netstate.Teleporter { // there is none in peace
			t.Errorf("no %v was seen", k)
		}
	}
}

// TestRow55LateJoiner is row 55 of docs/features.md for the wire: a late joiner holds the
// match's state of each object: broken barrels with the time, pushed cubes, a used teleporter, a
// capture point in progress, and projectiles in flight.
func TestRow55LateJoiner(t *testing.T) {
	for _, cfg := range []server.Config{{}, {Relevance: server.RelevanceOff},
		{Relevance: server.RelevanceGrid, ViewDistance: 400}, {Kbps: 128}} {
		t.Run(fmt.Sprintf("%v %d", cfg.Relevance, cfg.Kbps), func(t *testing.T) { lateJoiner(t, cfg) })
	}
}

func lateJoiner(t *testing.T, cfg server.Config) {
	y := newObjectsTest(t, 6, impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.05}, func(c *Config) {
		harmless(c)
		c.Lobby.Relevance, c.Lobby.ViewDistance, c.Lobby.Kbps = cfg.Relevance, cfg.ViewDistance, cfg.Kbps
		c.Lobby.Rules.Game.Mode = mode.DefaultAssault()
		c.Lobby.Rules.Game.Mode.PrematchMillis, c.Lobby.Rules.Game.Mode.MinPlayers = 0, 1
		c.Lobby.Rules.Game.Mode.Points = 1
		l := &c.Lobby.Rules.Game.Layout
		l.Teleporters = append(l.Teleporters,
			object.Teleporter{Box: geom.AABB{Min: geom.Vec3{X: 1, Y: -1, Z: 1}, Max: geom.Vec3{X: 2, Z: 2}}})
	})
	m := y.Lobby.Match()
	y.run(4*time.Second, nil)
	m.Scene().Damage.Add(object.Damage{Victim: m.Scene().Barrels[1].ID, Points: 1000})
	m.Scene().Damage.Add(object.Damage{Victim: m.Scene().Barrels[0].ID, Points: 3})
	m.Scene().Cubes[0].Push(geom.Vec3{X: 3, Y: 2})
	m.Objects().Ports[0].Effect = m.Tick()
	y.run(2*time.Second, nil)
	if err := y.Connect(5); err != nil { // a new client in a reused slot
		t.Fatal(err)
	}
	y.run(2500*time.Millisecond, nil)
	c := y.Clients[5]
	at := c.Newest()
	if st, _ := c.State(); st != client.Joined || at == 0 {
		t.Fatalf("%v, %v", st, c.Err())
	}
	// It holds all objects of the newest snapshot with a part about objects.
	f := y.Lobby.ObjectFrame(at)
	var seen [netstate.Kinds]int
	for slot := range f.Slots() {
		var got, want [netstate.ObjectStateFields]int32
		if f.ID(slot) == 0 {
			continue
		}
		newest := at
		id, ok := c.Objects.Row(newest, slot, got[:])
		for back := tick.Tick(3); !ok && back < 150; back += 3 { // nothing has changed since
			newest = at - back
			id, ok = c.Objects.Row(newest, slot, got[:])
		}
		was := y.Lobby.ObjectFrame(newest)
		if should := was.Row(slot, want[:]); !ok || id != should || got != want {
			t.Errorf("slot %d: %v %v %v of tick %d, the server had %v %v",
				slot, ok, id, got, newest, should, want)
			continue
		}
		var o netstate.ObjectState
		o.Restore(got[:])
		seen[o.Kind]++
	}
	for k := netstate.Projectile; k <= netstate.Zone; k++ {
		if seen[k] == 0 {
			t.Errorf("no %v", k)
		}
	}
	// The rows decode to the state of the match.
	byKind := map[netstate.Kind][]objects.Object{}
	for _, o := range c.Objects.Append(nil) {
		byKind[o.Kind] = append(byKind[o.Kind], o)
	}
	for i, o := range byKind[netstate.Barrel] {
		b := &m.Scene().Barrels[i]
		if o.Pos != b.Pos || int16(o.Level) != max(b.Health, 0) || o.Over() != (b.Health <= 0) ||
			b.Broken != 0 && o.Since != b.Broken {
			t.Errorf("barrel %d: %+v, the match has %+v", i, o, b)
		}
	}
	for i, o := range byKind[netstate.Cube] {
		b := &m.Scene().Cubes[i]
		if b.Resting && (o.Pos != b.Pos || !o.Rests) {
			t.Errorf("cube %d: %+v, the match has %+v", i, o, b)
		}
		for k, v := range o.Rot {
			if d := int(v) - int(b.Rot[k]); b.Resting && (d > 64 || d < -64) && int(v)+int(b.Rot[k]) > 64 {
				t.Errorf("cube %d is turned %v, the match has %v", i, o.Rot, b.Rot)
			}
		}
	}
	for i, o := range byKind[netstate.Teleporter] {
		if p := &m.Objects().Ports[i]; o.Over() != (p.Effect != 0) ||
			p.Effect != 0 && o.Since != p.Effect && m.Tick()-p.Effect > 30 {
			t.Errorf("teleporter %d: %+v, the match has %+v", i, o, p)
		}
	}
	if len(byKind[netstate.Barrel]) != 3 || len(byKind[netstate.Cube]) != 3 ||
		len(byKind[netstate.Teleporter]) != 1 || len(byKind[netstate.Zone]) != 1 {
		t.Errorf("%d barrels, %d cubes, %d teleporters, %d zones",
			len(byKind[netstate.Barrel]), len(byKind[netstate.Cube]), len(byKind[netstate.Teleporter]),
			len(byKind[netstate.Zone]))
	}
}

// The rate of each class on the wire is the declared one: a rolling cube gets a new position in
// each n-th snapshot and none between; a flight none between its beginning and its end.
func TestObjectUpdateIntervals(t *testing.T) {
	for _, n := range []uint8{1, 2, 3, 5} {
		y := newObjectsTest(t, 2, impair.Profile{}, func(c *Config) {
			harmless(c)
			c.Lobby.ObjectUpdateIntervals = netstate.UpdateIntervals{netstate.Cube: n}
			c.ChangeClient = func(int, *client.Config) {}
		})
		m := y.Lobby.Match()
		var row, last [netstate.ObjectStateFields]int32
		at, changed := tick.Tick(0), tick.Tick(0)
		var gaps [64]int
		flown, ended := map[netid.ID][netstate.ObjectStateFields]int32{}, 0
		y.run(12*time.Second, func() {
			c := y.Clients[0]
			for i := range m.Scene().Cubes { // never at rest
				m.Scene().Cubes[i].Push(geom.Vec3{X: 0.25 * float32(1-2*(int(m.Tick())/60%2)), Y: 0.05})
			}
			if c.Newest() == at {
				return
			}
			at = c.Newest()
			f := y.Lobby.ObjectFrame(at)
			for slot := range f.Used() {
				id, ok := c.Objects.Row(at, slot, row[:])
				if !ok || id == 0 {
					continue
				}
				var o netstate.ObjectState
				o.Restore(row[:])
				switch {
				case o.Kind == netstate.Cube && slot == f.Used()-1, o.Kind == netstate.Cube && changed == 0:
				case o.Kind.Flies():
					if was, ok := flown[id]; ok && was != row {
						if ended++; row[netstate.ObjectStateState] == was[netstate.ObjectStateState] {
							t.Fatalf("%v %v changed under way: %v, %v", o.Kind, id, was, row)
						}
					}
					flown[id] = row
				}
			}
			slot := len(m.Objects().Ports) + len(m.Objects().Zones) + len(m.Scene().Barrels)
			if id, ok := c.Objects.Row(at, slot, row[:]); ok && id != 0 && row != last {
				if changed != 0 && at > 300 {
					gaps[int(at-changed)/3]++
				}
				changed, last = at, row
			}
		})
		all := 0
		for _, k := range gaps {
			all += k
		}
		t.Logf("cubes sent each %d snapshots: gaps %v; %d flights, %d changed",
			n, gaps[:8], len(flown), ended)
		if gaps[n] != all || all < 100/int(n) || len(flown) < 10 || ended == 0 {
			t.Errorf("cubes sent each %d snapshots: gaps %v, %d flights, %d ends",
				n, gaps[:8], len(flown), ended)
		}
	}
}

// Beyond the range a client gets only its own objects and those of the round.
func TestObjectsOutOfRangeAreNotSent(t *testing.T) {
	const far, cell, linger = 8, 2, 4
	y := newObjectsTest(t, 8, impair.Profile{}, func(c *Config) {
		c.Lobby.Relevance, c.Lobby.ViewDistance = server.RelevanceGrid, far
		c.Lobby.CellSize, c.Lobby.Hysteresis = cell, linger
	})
	sent, kept, all, bounds := 0, 0, 0, y.cfg.Lobby.Arena.Bounds
	var near [8]map[netid.ID]tick.Tick
	for i := range near {
		near[i] = map[netid.ID]tick.Tick{}
	}
	y.run(15*time.Second, func() {
		m := y.Lobby.Match()
		t0 := m.Tick()
		f := y.Lobby.ObjectFrame(t0)
		where := func(slot int) (geom.Vec3, *netstate.ObjectState) {
			var row [netstate.ObjectStateFields]int32
			var o netstate.ObjectState
			f.Row(slot, row[:])
			o.Restore(row[:])
			pos := o.Pos
			if o.Kind == netstate.Projectile && !o.Over() {
				path := o.Flight(t0)
				pos = path.At(&m.Game().ProjectileKinds[o.Type], t0)
			}
			if o.Kind == netstate.Grenade && !o.Over() {
				for i := range m.Objects().Grenades {
					g := &m.Objects().Grenades[i]
					if g.Owner == netid.ID(o.Owner) && g.Thrown == o.Tick(t0) {
						pos = g.Pos
					}
				}
			}
			return pos, &o
		}
		for i, c := range y.Clients {
			if c.ID() == 0 {
				continue
			}
			me := m.Poses()[c.ID().Index()].Pos
			for slot := range f.Used() {
				if id := f.ID(slot); id != 0 {
					pos, _ := where(slot)
					// A position outside the bounds counts to the nearest cell.
					d := pos.Max(bounds.Min).Min(bounds.Max).Sub(me)
					if geom.Sqrt(d.X*d.X+d.Z*d.Z) <= far+4*cell {
						near[i][id] = t0
					}
				}
			}
			if c.Newest() != t0 {
				continue
			}
			for slot := range f.Used() {
				var row [netstate.ObjectStateFields]int32
				id, ok := c.Objects.Row(t0, slot, row[:])
				if f.ID(slot) != 0 {
					all++
				}
				if !ok || id == 0 {
					continue
				}
				pos, o := where(slot)
				if sent++; netid.ID(o.Owner) == c.ID() || o.Kind == netstate.Zone ||
					o.Kind == netstate.Teleporter {
					kept++
					continue
				}
				if since, was := near[i][id]; !was || t0-since > 3*(linger+1) {
					t.Fatalf("client %d, tick %d: was sent %v %v at %v, stands at %v and was near in tick %d",
						i, t0, o.Kind, id, pos, me, since)
				}
			}
		}
	})
	t.Logf("%d rows sent of %d, %d always", sent, all, kept)
	if sent < 500 || sent > all*4/5 {
		t.Errorf("%d rows sent of %d: the range tests nothing", sent, all)
	}
}

// Bytes of objects are in the account of the receiving client, and the account equals the
// datagrams, to the bit.
func TestObjectsAreMetered(t *testing.T) {
	y := newObjectsTest(t, 4, impair.Profile{Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond,
		Loss: 0.1}, nil)
	a := client.NewMeter()
	for _, c := range y.Clients {
		c.Meter = a
	}
	y.run(10*time.Second, func() {
		if a.Total() != 8*a.Bytes {
			t.Fatalf("%d bits in the account of %d bytes", a.Total(), a.Bytes)
		}
	})
	seen := map[string]uint64{}
	for _, c := range a.Cells(nil) {
		seen[c.Component+" "+c.Reason] += c.Bits
		if c.Field == "objects" {
			seen["objects head"] += c.Bits
		}
	}
	for _, want := range []string{"object spawn", "object update", "object mask", "object head",
		"object baseline", "objects head"} {
		if seen[want] == 0 {
			t.Errorf("no cell %q", want)
		}
	}
}
