package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
)

// toldKey names an effect that a server tells: of one source a tick has one of a kind and surface,
// else it is left out of the test.
type toldKey struct {
	tick    tick.Tick
	source  netid.ID
	kind    effect.Kind
	surface effect.Surface
	target  netid.ID // of damage and of impacts on players
}

func keyOf(e *effect.Effect) toldKey {
	k := toldKey{tick: e.Tick, source: e.Source, kind: e.Kind, surface: e.Surface, target: e.Target}
	if e.Surface != effect.Player && e.Kind != effect.Damage {
		k.target = 0
	}
	return k
}

// witness follows what clients are told of the effects of a match.
type witness struct {
	t       *testing.T
	b       *Sim
	truth   map[toldKey]*toldTruth
	from    []uint64                    // by client: next effect to read
	heard   []map[toldKey]time.Duration // by client: when
	twice   int
	unknown int
	late    int // heard after 150 ms
	kinds   [effect.Kinds]int
	walls   int // impacts on the map, and those whose surface faces as it did
	facing  int
	buf     [256]effect.Effect
}

type toldTruth struct {
	effect.Effect
	at    time.Duration
	count int               // effects with this key
	eyes  map[int]geom.Vec3 // by client that counts: where its viewpoint was
}

func newWitness(t *testing.T, b *Sim) *witness {
	w := &witness{t: t, b: b, truth: map[toldKey]*toldTruth{}, from: make([]uint64, len(b.Clients))}
	for range b.Clients {
		w.heard = append(w.heard, map[toldKey]time.Duration{})
	}
	return w
}

// step plays a tick and collects what happened and what clients have heard of it.
func (w *witness) step(begun bool) {
	if err := w.b.Step(); err != nil {
		w.t.Fatal(err)
	}
	m := w.b.Lobby.Match()
	for _, e := range effect.AppendTold(nil, m) {
		k := keyOf(&e)
		if old := w.truth[k]; old != nil {
			old.count++
			continue
		}
		x := &toldTruth{Effect: e, at: w.b.Now(), count: 1, eyes: map[int]geom.Vec3{}}
		for i, c := range w.b.Clients {
			if begun && c != nil {
				x.eyes[i] = m.Poses()[c.ID().Index()].Pos
			}
		}
		w.truth[k] = x
	}
	for i, c := range w.b.Clients {
		if c != nil {
			w.listen(i, c)
		}
	}
}

// listen reads the new effects of client i that the server has told.
func (w *witness) listen(i int, c *client.Client) {
	for {
		n, next := c.Effects.Since(w.from[i], w.buf[:])
		w.from[i] = next
		for k := range w.buf[:n] {
			e := &w.buf[k]
			w.kinds[e.Kind] += int(e.Count)
			own := e.Source == c.ID() && e.Kind == effect.Impact // predicted
			if own || e.Kind != effect.Damage && (e.Kind != effect.Impact || e.Cause != 0) {
				continue
			}
			key := keyOf(e)
			x := w.truth[key]
			if _, again := w.heard[i][key]; again && (x == nil || x.count == 1) {
				w.twice++
			}
			if w.heard[i][key] = w.b.Now(); x == nil {
				w.unknown++
			} else {
				w.compare(e, x)
			}
		}
		if n < len(w.buf) {
			return
		}
	}
}

// compare holds what a client was told against what happened.
func (w *witness) compare(e *effect.Effect, x *toldTruth) {
	w.t.Helper()
	if w.b.Now()-x.at > 150*time.Millisecond {
		w.late++
	}
	if x.count > 1 {
		return
	}
	near := func(a, b geom.Vec3, within float32) bool { return a.Sub(b).Len() <= within }
	switch {
	case e.Count != x.Count:
		w.t.Errorf("%+v: want %d", *e, x.Count)
	case e.Kind == effect.Damage && (!near(e.Dir, x.Dir, 0.03) || e.Amount != x.Amount ||
		e.Cause != x.Cause || geom.Abs(e.Strength-x.Strength) > 0.3):
		w.t.Errorf("damage %+v, it was %+v", *e, x.Effect)
	case e.Kind == effect.Impact && e.Surface != effect.Player && !near(e.Pos, x.Pos, 0.3):
		w.t.Errorf("impact %+v, it was %+v", *e, x.Effect)
	case e.Surface == effect.Player && e.Bone != x.Bone:
		w.t.Errorf("impact %+v, it was %+v", *e, x.Effect)
	case e.Kind == effect.Impact && e.Surface == effect.Map:
		if w.walls++; e.Dir.Dot(x.Dir) > 0.9 {
			w.facing++
		}
	}
}

// withEffects lets all clients keep effects.
func withEffects(cfg Config) Config {
	cfg.ChangeClient = func(_ int, c *client.Config) { c.Effects = true }
	return cfg
}

// What a client may see is heard by it within 150 ms at 10 % loss, never twice, and is what happened:
// the place of an impact, the direction, impulse and points of damage. Nobody hears of another's
// damage; a spectator hears of impacts around its target and of no damage.
func TestRow71EffectsArriveUnderLoss(t *testing.T) {
	skipUnderRace(t)
	const players = 12
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(withEffects(Config{Clients: players + 1, Spectators: 1, Seed: 71,
		Link: impair.Profile{Loss: 0.1, Duplicate: 0.05, Reorder: 0.05, Delay: 20 * time.Millisecond,
			Jitter: 5 * time.Millisecond},
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: players, Spectators: 1,
			EffectBytes: 120,
			Rules:       sim.Rules{Seed: 71, RespawnMillis: 1000, Game: gameWithObjects()}},
		Brain: func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(71, n), every: 37 + 5*n} }}))
	if err != nil {
		t.Fatal(err)
	}
	w := newWitness(t, b)
	ticks := 60 * 20
	if testing.Short() {
		ticks = 60 * 8
	}
	for n := range ticks {
		w.step(n > 180 && n < ticks-30)
	}
	expected, heard, damage := 0, 0, 0
	for k, x := range w.truth {
		for i, c := range b.Clients {
			eye, counts := x.eyes[i]
			spectates := i >= players
			switch {
			case !counts || x.count > 1:
				continue
			case k.kind == effect.Damage && (k.target != c.ID() || spectates):
				if _, told := w.heard[i][k]; told {
					t.Fatalf("client %d was told of damage to %v: %+v", i, k.target, x.Effect)
				}
				continue
			case k.kind == effect.Impact && (k.source == c.ID() || x.Target == c.ID() ||
				x.Pos.Sub(eye).Len() > effect.Range-8 || spectates):
				continue
			}
			expected++
			if k.kind == effect.Damage {
				damage++
			}
			if at, ok := w.heard[i][k]; ok && at-x.at <= 150*time.Millisecond {
				heard++
			}
		}
	}
	if expected < ticks*3/4 || damage < ticks/20 || heard*100 < expected*97 {
		t.Errorf("%d of %d effects were heard within 150 ms, %d of them damage", heard, expected, damage)
	}
	if w.twice > 0 || w.unknown > 0 {
		t.Errorf("%d effects were heard twice, %d never happened", w.twice, w.unknown)
	}
	if w.facing*100 < w.walls*97 {
		t.Errorf("%d of %d surfaces face as they do", w.facing, w.walls)
	}
	spectator := b.Clients[players].Effects.Stats()
	if spectator.Kinds[effect.Impact] < 100 || spectator.Kinds[effect.Damage] != 0 ||
		spectator.Kinds[effect.Footstep] == 0 {
		t.Errorf("the spectator heard %v", spectator.Kinds)
	}
	for kind := effect.Shot; kind < effect.Kinds; kind++ {
		if w.kinds[kind] == 0 && kind != effect.Teleport && kind != effect.Punch {
			t.Errorf("nobody heard of any %v", kind)
		}
	}
	t.Logf("%d of %d heard within 150 ms (%.2f %%), %d later; by kind %v; %d of %d surfaces", heard, expected,
		100*float64(heard)/float64(expected), w.late, w.kinds, w.facing,
		w.walls)
}

// A client receives no impact at a place that walls or distance hide from it, and no shooter that
// they hide, over good and bad links.
func TestRow71NothingHiddenIsTold(t *testing.T) {
	skipUnderRace(t)
	const cell, farMetres, players = 4, 30, 32
	ground, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	sees := maze(ground, cell)
	b, err := New(withEffects(Config{Clients: players, Seed: 72, Link: bad,
		Lobby: server.Config{Arena: ground, ArenaName: "arena-64", Players: players,
			Rules: sim.Rules{Seed: 72, RespawnMillis: 1000}, Relevance: server.RelevanceGrid, CellSize: cell,
			ViewDistance: farMetres, Hysteresis: -1, CellVisible: sees}}))
	if err != nil {
		t.Fatal(err)
	}
	grid := server.GridConfig(ground, cell)
	cellOf := func(p geom.Vec3) int {
		x := min(max(int((p.X-grid.MinX)/cell), 0), grid.Wide-1)
		return min(max(int((p.Z-grid.MinZ)/cell), 0), grid.Deep-1)*grid.Wide + x
	}
	far := server.CellRadius(farMetres, cell)
	mayFrom := func(from, place int) bool {
		dx, dz := from%grid.Wide-place%grid.Wide, from/grid.Wide-place/grid.Wide
		return dx*dx+dz*dz <= far*far && sees(from, place)
	}
	w := newWitness(t, b)
	var cells [players][]int // by client and tick: where its viewpoint was
	life := effect.Life(60)
	told, hidden, named := 0, 0, 0
	ticks := 60 * 15
	if testing.Short() {
		ticks = 60 * 6
	}
	for range ticks {
		w.step(true)
		now := b.Lobby.Match().Tick()
		for i, c := range b.Clients {
			for len(cells[i]) <= int(now) {
				cells[i] = append(cells[i], cellOf(b.Lobby.Match().Poses()[c.ID().Index()].Pos))
			}
		}
	}
	for k, x := range w.truth {
		if k.kind != effect.Impact || x.count > 1 {
			continue
		}
		place := cellOf(x.Pos.Mad(x.Dir, 0.125))
		for i, c := range b.Clients {
			if _, counts := x.eyes[i]; !counts || k.source == c.ID() || x.Target == c.ID() {
				continue
			}
			may := false
			for at := k.tick; at <= k.tick+life && int(at) < len(cells[i]); at++ {
				may = may || mayFrom(cells[i][at], place)
			}
			nameless := k
			nameless.source = 0
			_, heard := w.heard[i][k]
			_, anonymous := w.heard[i][nameless]
			switch {
			case !may && heard:
				t.Fatalf("client %d was told of %+v, which it must not see", i, x.Effect)
			case !may:
				hidden++
			case heard:
				told++
				named++
			case anonymous:
				told++
			}
		}
	}
	if told < 300 || hidden < 3000 || named == told {
		t.Errorf("%d impacts told, %d of them with a shooter, %d hidden", told, named, hidden)
	}
	t.Logf("%d impacts told, %d of them with a shooter, %d hidden", told, named, hidden)
}

// flooder fires everything it has, all the time.
type flooder struct{ swarm.Brain }

func (g flooder) Decide(o *swarm.Observation) client.Intent {
	in := g.Brain.Decide(o)
	in.Buttons &^= sim.Melee | sim.Sprint
	if in.Buttons |= sim.Fire; o.Tick%64 < 8 {
		in.Buttons |= sim.Throw
	}
	return in
}

// 200 players that fire everything at each other: effects stay within their bytes in every
// snapshot, with and without a limit of the connection.
func TestRow71FloodStaysWithinItsBytes(t *testing.T) {
	skipUnderRace(t)
	const players = 200
	for _, kbps := range []int{0, 64} {
		ground, err := arena.Open("arena-16") // small: all are in range
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(Config{Clients: players, Seed: 73, Decode: client.DecodeOwn,
			ChangeClient: func(n int, c *client.Config) { c.Effects = n == 0 },
			Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: players, Kbps: kbps,
				Rules: sim.Rules{Seed: 73, RespawnMillis: 1000, RewindMillis: 200}},
			Brain: func(n int) swarm.Brain { return flooder{swarm.NewBot(73, n)} }})
		if err != nil {
			t.Fatal(err)
		}
		ticks := 60 * 4
		for range ticks {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
		l := balanced(t, b)
		snapshots := b.Lobby.Stats.Count[metrics.Snapshots].Load()
		per := float64(l.Sections[metrics.SectionEffect]) / float64(snapshots)
		shots := b.Lobby.Stats.Count[metrics.Shots].Load()
		got := b.Clients[0].Effects.Stats()
		t.Logf("%d kbit/s: %d shots, %.1f B of effects in each of %d snapshots, %.2f %% of all bytes; told %d",
			kbps, shots, per, snapshots,
			100*float64(l.Sections[metrics.SectionEffect])/float64(l.Bytes), got.Told)
		if most := 24.0; per > most || kbps == 0 && per < most/2 || shots < uint64(players*10) || got.Told < 50 {
			t.Errorf("%d kbit/s: %.1f B of effects in a snapshot, expected at most %v; %d shots, %d told",
				kbps, per, most, shots, got.Told)
		}
	}
}

// What effects cost a client in bytes: the same lobbies with and without them.
func TestRow71EffectsTakeFewBytes(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		name           string
		players, ticks int
		rules          sim.Rules
		interval       int
		most           float64 // %
	}{
		{"two players, 60 Hz", 2, 60 * 30, sim.Rules{Seed: 5, RespawnMillis: 2000}, 3, 5},
		{"ten players, 128 Hz", 10, 128 * 15, sim.Rules{Seed: 11, Rate: 128, RespawnMillis: 2000}, 2, 5},
		{"64 players, 60 Hz", 64, 60 * 10, sim.Rules{Seed: 12, RespawnMillis: 2000}, 3, 5},
	} {
		if testing.Short() {
			c.ticks /= 3
		}
		var kbits [2]float64
		var share float64
		for i, bytes := range []int{-1, 0} {
			ground := arena.Generate(c.players, 11)
			b, err := New(Config{Clients: c.players, Seed: 11, Decode: client.DecodeOwn,
				Link: impair.Profile{Delay: 15 * time.Millisecond, Jitter: 5 * time.Millisecond},
				Lobby: server.Config{Arena: ground, ArenaName: "test", Players: c.players, Rules: c.rules,
					SendInterval: c.interval, EffectBytes: bytes}})
			if err != nil {
				t.Fatal(err)
			}
			for range c.ticks {
				if err := b.Step(); err != nil {
					t.Fatal(err)
				}
			}
			l := balanced(t, b)
			kbits[i] = float64(l.Bytes) * 8e-3 / b.Now().Seconds() / float64(c.players)
			share = float64(l.Sections[metrics.SectionEffect]) / float64(l.Bytes)
		}
		grown := 100 * (kbits[1]/kbits[0] - 1)
		t.Logf("%s: %.2f kbit/s a client without effects, %.2f with: %+.2f %%; their section is %.2f %%",
			c.name, kbits[0], kbits[1], grown, 100*share)
		if grown > c.most || share == 0 {
			t.Errorf("%s: effects take %.2f %% more bytes, expected at most %v", c.name, grown, c.most)
		}
	}
}

// The client and the server's live page run one tracker: over a link without loss a client derives
// from its rows the very effects that the frames of the server give, but for its own shots. A tracker
// of the whole match finds as many of each kind that is counted.
func TestRow71BothEndsDeriveTheSame(t *testing.T) {
	skipUnderRace(t)
	const players = 12
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(withEffects(Config{Clients: players, Seed: 74,
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: players,
			Rules: sim.Rules{Seed: 74, RespawnMillis: 1000, Game: gameWithObjects()}},
		Brain: func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(74, n), every: 37 + 5*n} }}))
	if err != nil {
		t.Fatal(err)
	}
	m := b.Lobby.Match()
	page := effect.NewTracker(m.Game(), ground, players, 0)
	var row [netstate.PublicFields]int32
	var fields [netstate.ObjectStateFields]int32
	var p netstate.PlayerState
	var o netstate.ObjectState
	whole, fired := effect.NewMatchTracker(m), 0
	want, got := map[effect.Effect]int{}, map[effect.Effect]int{}
	var kinds, inRows, inTicks [effect.Kinds]int
	var buf [256]effect.Effect
	const first, last = 240, 240 + 60*10
	from, cl := uint64(0), b.Clients[3]
	counts := func(e *effect.Effect) bool {
		weapon := e.Kind == effect.Shot || e.Kind == effect.Launch || e.Kind == effect.Punch
		told := e.Kind >= effect.Damage || e.Kind == effect.Impact && e.Cause == 0
		return e.Tick > first && e.Tick <= last && !told && !(weapon && e.Source == cl.ID())
	}
	for range last + 12 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		if now := m.Tick(); now > first && now <= last {
			fired += len(m.Outcome().Shots)
		}
		for _, e := range whole.Append(nil, m) {
			if e.Tick > first && e.Tick <= last && e.Kind <= effect.Explosion {
				inTicks[e.Kind] += int(e.Count)
			}
		}
		if now := m.Tick(); now%3 == 0 {
			var found []effect.Effect
			rows, things := b.Lobby.Frame(now), b.Lobby.ObjectFrame(now)
			for slot := range players {
				if id := rows.Row(slot, row[:]); id != 0 {
					p.Restore(row[:])
					found = page.Player(found, now, slot, id, &p)
				}
			}
			for slot := range min(things.Slots(), netstate.ObjectSlots(players)) {
				id := things.Row(slot, fields[:])
				if id != 0 {
					o.Restore(fields[:])
				}
				found = page.Object(found, now, slot, id, &o)
			}
			for i := range found {
				if e := &found[i]; e.Tick > first && e.Tick <= last && e.Kind <= effect.Explosion {
					inRows[e.Kind] += int(e.Count)
				}
				if counts(&found[i]) {
					want[found[i]]++
					kinds[found[i].Kind]++
				}
			}
		}
		n, next := cl.Effects.Since(from, buf[:])
		from = next
		for i := range buf[:n] {
			if counts(&buf[i]) {
				got[buf[i]]++
			}
		}
	}
	for e, n := range want {
		if got[e] != n {
			t.Fatalf("%+v: %d at the client, %d at the server", e, got[e], n)
		}
	}
	for _, k := range []effect.Kind{effect.Shot, effect.Launch, effect.Punch, effect.Death, effect.Explosion} {
		if inRows[k] != inTicks[k] {
			t.Errorf("%v: %d in the frames, %d in the match", k, inRows[k], inTicks[k])
		}
	}
	if inTicks[effect.Shot] != fired { // all heroes have rifles
		t.Errorf("%d shots follow from rows, %d were fired", inTicks[effect.Shot], fired)
	}
	if len(got) != len(want) || kinds[effect.Shot] < 80 || kinds[effect.Footstep] < 100 ||
		kinds[effect.Explosion] < 20 || kinds[effect.Impact] < 20 {
		t.Errorf("%d effects at the client, %d at the server: %v", len(got), len(want), kinds)
	}
}
