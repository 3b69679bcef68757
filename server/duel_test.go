package server

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// trick is how a duellist lies about time. All have the same hands, and look at the same picture.
type trick int

const (
	honest      trick = iota
	backtracker       // claims, of all instants that the server would take, one at which its shot hits, if there is any
	constant          // claims to look as far back as the server lets it, and aims there
	switcher          // keeps its packages for 300 ms of each second, and sends them at once
	fakeRTT           // backtracker that also lies about how long it held echoes, so that the path seems long and unsteady
	fakeAcks          // backtracker that also acknowledges only every third package it gets
	tricks
)

func (k trick) String() string {
	return [...]string{"honest", "backtracker", "constant delay", "lag switch", "fake RTT", "fake acks"}[k]
}

const (
	duelPairs = 16
	duelTicks = 60 // a duel lasts a second
	oneWay    = 3  // ticks each way: 100 ms of round trip
)

// duelField has room for 16 pairs, 14 m apart from each other.
func duelField(t testing.TB) *arena.Arena {
	t.Helper()
	var spawns []arena.Spawn
	for i := range duelPairs {
		x := float32(i*14) + 8
		spawns = append(spawns, arena.Spawn{Pos: geom.Vec3{X: x}, Team: 0}, arena.Spawn{Pos: geom.Vec3{X: x, Z: 20}, Yaw: geom.Turn / 2, Team: 1})
	}
	a, err := arena.New("duels", geom.AABB{Min: geom.Vec3{X: -8, Y: -8, Z: -8}, Max: geom.Vec3{X: 14*duelPairs + 16, Y: 32, Z: 32}},
		[]arena.Solid{arena.NewSolid(arena.Box, geom.Vec3{X: -8, Y: -4, Z: -8}, geom.Vec3{X: 14*duelPairs + 16, Z: 32})}, spawns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// letter is something on its way.
type letter struct {
	due  tick.Tick
	data []byte
}

// duellist is a shooter with a path of 100 ms, and whom it shoots at.
type duellist struct {
	*caller
	trick    trick
	rng      *rand.Rand
	feet     *rand.Rand
	victim   ecs.NetID
	up, down []letter
	told     []tick.Tick // snapshots that came
	strafe   uint8
}

// duels lets 16 shooters of one sort fight for so many duels, and counts their shots and hits.
func duels(t *testing.T, k trick, count int) (shots, hits int, l *lab) {
	t.Helper()
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 0, 1
	for h := range game.Heroes {
		for s := range game.Heroes[h].Slots {
			if gun := &game.Heroes[h].Slots[s].Gun; game.Heroes[h].Slots[s].Kind == ability.Gun {
				gun.Projectile, gun.Damage, gun.Impulse, gun.Range, gun.Radius = ability.Hitscan, 1, 0, 100, 0.05
				gun.RoundsPerSec, gun.MostPerSec, gun.ConeDegrees, gun.Clip, gun.ReloadMillis = 10, 0, 0, 255, 100
			}
		}
	}
	l = newLab(t, Config{Arena: duelField(t), ArenaName: "duels", Relevance: RelevanceAll, Players: 2 * duelPairs, Rules: sim.Rules{Seed: 3, Game: game}})
	var all []*duellist
	for i := range duelPairs {
		d := &duellist{caller: l.guest(), trick: k, rng: rand.New(rand.NewPCG(uint64(i), 1)), feet: rand.New(rand.NewPCG(uint64(i), 2))}
		d.victim = l.lobby.match.Join()
		all = append(all, d)
	}
	l.ticks(5)
	rounds := (count + duelPairs - 1) / duelPairs
	for n := range rounds*duelTicks + 240 {
		for _, d := range all {
			d.step(tick.Tick(n))
		}
		l.tick()
		if n < 240 { // paths are measured by then
			continue
		}
		out := l.lobby.match.Outcome()
		for i := range out.Shots {
			shots++
			if id := out.Hits[i].ID; id != 0 {
				hits++
			}
		}
	}
	return shots, hits, l
}

// step plays a duellist's tick, and its victim's.
func (d *duellist) step(n tick.Tick) {
	l := d.lab
	m := l.lobby.match
	next := m.Tick() + 1
	for _, id := range [2]ecs.NetID{d.id(), d.victim} {
		if v := m.Vital(id); v != nil {
			v.Health = 100
		}
	}
	d.run(next)
	for _, raw := range d.received() {
		d.down = append(d.down, letter{next + oneWay, raw})
	}
	for len(d.down) > 0 && d.down[0].due <= next {
		pack, err := d.dial.Receive(l.now, labAddr, d.down[0].data, &d.post)
		d.down = d.down[1:]
		if err != nil || pack == nil {
			continue
		}
		if s := d.take(pack); s != nil {
			if h, _, err := ghost.ParseHead(s[1:]); err == nil {
				d.told = append(d.told, h.Tick)
			}
		}
	}
	cmd := sim.Command{Tick: next + oneWay + 1}
	d.fire(&cmd, next)
	d.up = append(d.up, letter{next + oneWay, d.seal(d.forge(d.pack(section(cmd)...)))})
	if d.trick == switcher && n%60 < 18 {
		return
	}
	for len(d.up) > 0 && d.up[0].due <= next {
		d.send(d.up[0].data)
		d.up = d.up[1:]
	}
}

// run lets the victim strafe round its place.
func (d *duellist) run(next tick.Tick) {
	m := d.lab.lobby.match
	if next%17 == 0 && d.feet.IntN(2) == 0 {
		d.strafe ^= 128
	}
	motion, _, _ := m.Self(d.victim)
	me, _, _ := m.Self(d.id())
	if off := motion.Pos.X - me.Pos.X; off > 4 {
		d.strafe = 128
	} else if off < -4 {
		d.strafe = 0
	}
	if in := m.Inbox(d.victim); in != nil {
		in.Offer(sim.Command{Tick: next, MoveYaw: 64 + d.strafe, MoveMag: 255})
	}
}

// forge lies in the header of a package.
func (d *duellist) forge(pack []byte) []byte {
	if d.trick < fakeRTT {
		return pack
	}
	h, rest, err := wire.ParseHeader(pack)
	if err != nil {
		d.lab.t.Fatal(err)
	}
	switch d.trick {
	case fakeRTT: // the echo says that it was held less long than it was: by 0 or 90 ms, in turns
		if d.rng.IntN(2) == 0 {
			h.Echo -= 8 * 90
		}
	case fakeAcks:
		mask := uint64(0x4924924924924924) >> (h.Ack % 3)
		h.AckBits &= mask
		if h.Ack%3 != 0 && h.AckBits != 0 {
			for h.AckBits&1 == 0 {
				h.Ack--
				h.AckBits >>= 1
			}
			h.Ack--
			h.AckBits >>= 1
		}
	}
	return append(h.Append(nil), rest...)
}

// at is the view at an instant between the snapshots that came.
func (d *duellist) at(instant int64) (v tick.View, ok bool) {
	for i := len(d.told) - 1; i > 0; i-- {
		a, b := d.told[i-1], d.told[i]
		if int64(a)<<8 <= instant && instant <= int64(b)<<8 {
			return tick.View{From: a, To: b, Frac: uint8(min((instant-int64(a)<<8)/int64(b-a), 255))}, true
		}
	}
	return v, false
}

// fire aims at what the picture shows, with an unsteady hand, and claims what its trick says.
func (d *duellist) fire(cmd *sim.Command, next tick.Tick) {
	m, g := d.lab.lobby.match, d.guest()
	now := (int64(next) - oneWay) << 8 // of what arrives
	v, ok := d.at(now - 6*256)
	if !ok || m.Inbox(d.id()) == nil {
		return
	}
	know := g.know
	if d.trick == constant {
		if old, ok := d.at(int64(cmd.Tick)<<8 - int64(know.RTTTicks+know.InterpTicks+know.SlackTicks)*256 + 256); ok {
			v = old
		}
	}
	seen, ok := m.History().At(v, d.victim.Index())
	if !ok {
		return
	}
	me, _, _ := m.Self(d.id())
	aim := seen.Pos.Add(geom.Vec3{Y: 1.2}).Sub(sim.Eye(me.Pos))
	cmd.Yaw = geom.Atan2(aim.X, aim.Z) + geom.Angle(int16(d.rng.NormFloat64()*250))
	cmd.Pitch = geom.Atan2(aim.Y, aim.Z) + geom.Angle(int16(d.rng.NormFloat64()*250))
	cmd.Buttons, cmd.View = sim.Fire, v
	if d.trick == backtracker || d.trick == fakeRTT || d.trick == fakeAcks {
		cmd.View = d.best(cmd, me.Pos, v)
	}
}

// best is, of all views that a lie may get through, one by which the shot hits: nearest to the picture first. What the server knows,
// and by which it will judge, is known to this one, too.
func (d *duellist) best(cmd *sim.Command, pos geom.Vec3, v tick.View) tick.View {
	m := d.lab.lobby.match
	know := m.Known(d.id())
	w := lagcomp.Sweep{Ray: geom.Ray{Origin: sim.Eye(pos), Dir: geom.Forward(cmd.Yaw, cmd.Pitch), Max: 100}, Radius: 0.05, Team: lagcomp.NoTeam}
	if c := (tick.View{From: know.Stalled, To: know.Stalled}); know.Stalled != 0 { // to stand still there costs nothing
		took, moved := lagcomp.ClampView(c, cmd.Tick, know)
		if _, hit := m.History().Against(&w, d.victim.Index(), took, lagcomp.Hit{}); hit && !moved {
			return c
		}
	}
	for off := int64(0); off < 24*256; off = off + 16 {
		for _, o := range [2]int64{off, -off} {
			c, ok := d.at(lagcomp.Instant(v) + o)
			if !ok {
				continue
			}
			took, moved := lagcomp.ClampView(c, cmd.Tick, know)
			if _, hit := m.History().Against(&w, d.victim.Index(), took, lagcomp.Hit{}); hit && !moved {
				return c
			}
		}
	}
	return v
}

// TestDuels lets liars and honest shooters with the same hands fight at the same round trip. To look further back, or to hold the line shut, gains
// nothing. Who chooses its instant of all that the server would take, and knows all that the server knows, gains what its purse is worth, most
// of it in its first seconds. By default 320 duels of a second each; TICKRATE_DUELS says how many, `make duels` 10,000.
func TestDuels(t *testing.T) {
	count := 320
	if v := os.Getenv("TICKRATE_DUELS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("TICKRATE_DUELS=%q: expected a number of duels", v)
		}
		count = n
	}
	var rate [tricks]float64
	for k := range tricks {
		shots, hits, l := duels(t, k, count)
		if shots < count*5 {
			t.Fatalf("%v: %d shots in %d duels", k, shots, count)
		}
		rate[k] = float64(hits) / float64(shots)
		if limit := int64(l.lobby.match.Rules().RewindMillis) * 60 * 256 / 1000; l.lobby.Stats.Rewind.Max() > limit {
			t.Errorf("%v: somebody was hit %d/256 ticks after reaching cover, expected at most %d", k, l.lobby.Stats.Rewind.Max(), limit)
		}
		back := func(q float64) int64 { return l.lobby.Stats.Rewind.Quantile(q) * 1000 / 60 / 256 }
		t.Logf("%-15v hits look back by 50 %%: %d ms, 90 %%: %d, 99 %%: %d, most: %d", k, back(0.5), back(0.9), back(0.99), l.lobby.Stats.Rewind.Max()*1000/60/256)
		t.Logf("%-15v %d duels, %d shots, %.2f %% hit, %+.2f against honest; %d clamped, %d faded", k, count, shots, 100*rate[k], 100*(rate[k]-rate[honest]),
			l.count(Clamped), l.count(Faded))
	}
	if rate[honest] < 0.2 || rate[honest] > 0.6 {
		t.Errorf("honest shooters hit with %.3f of their shots: nothing can be told from that", rate[honest])
	}
	for k, most := range map[trick]float64{backtracker: 0.12, fakeRTT: 0.12, fakeAcks: 0.12, constant: 0.02, switcher: 0} {
		if gain := rate[k] - rate[honest]; gain > most {
			t.Errorf("%v: %.3f more hits than honest shooters, expected at most %.3f", k, gain, most)
		}
	}
}
