package server

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// cheat is how a shooter falsifies time. All shooters aim equally well, at the same picture.
type cheat int

const (
	honest      cheat = iota
	backtracker       // claims an instant at which its shot hits, and announces varying delays
	constant          // announces the longest view delay that the server allows, and aims there
	switcher          // holds its packets back for 300 ms of each second
	// fakeRTT is backtracker and constant in one. It falsifies the time that it held echoes, so
	// that its round-trip time seems long and unsteady.
	fakeRTT
	// fakeAcks is a backtracker that acknowledges every third packet only, unless its shot hits at
	// the view between all of them.
	fakeAcks
	tricks
)

func (k cheat) String() string {
	return [...]string{"honest", "backtracker", "constant delay", "lag switch", "fake RTT", "fake acks"}[k]
}

const (
	shooterPairs = 16
	roundTicks   = 60 // of each pair
	oneWay       = 3  // ticks each way: 100 ms of round trip
)

// pairField has room for 16 pairs, 14 m apart from each other.
func pairField(t testing.TB) *arena.Arena {
	t.Helper()
	var spawns []arena.Spawn
	for i := range shooterPairs {
		x := float32(i*14) + 8
		spawns = append(spawns, arena.Spawn{Pos: geom.Vec3{X: x}, Team: 0},
			arena.Spawn{Pos: geom.Vec3{X: x, Z: 20}, Yaw: geom.Turn / 2, Team: 1})
	}
	a, err := arena.New("duels",
		geom.AABB{Min: geom.Vec3{X: -8, Y: -8, Z: -8}, Max: geom.Vec3{X: 14*shooterPairs + 16, Y: 32, Z: 32}},
		[]arena.Solid{arena.NewSolid(arena.Box, geom.Vec3{X: -8, Y: -4, Z: -8},
			geom.Vec3{X: 14*shooterPairs + 16, Z: 32})}, spawns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// delayedPacket is a datagram on its way.
type delayedPacket struct {
	due  tick.Tick
	data []byte
}

// cheatingShooter is a shooter with a round trip of 100 ms, and its victim.
type cheatingShooter struct {
	*testClient
	trick      cheat
	rng        *rand.Rand
	feet       *rand.Rand
	victim     netid.ID
	up, down   []delayedPacket
	arrived    []tick.Tick // snapshots, the newest last
	viewDelays lagcomp.ViewDelayTrack
	ackBoth    bool // acknowledges both snapshots of its view
	strafe     uint8
}

// shootPairs plays count rounds of one second with shooters of one kind, 16 pairs at a time, and
// counts their shots and hits.
func shootPairs(t *testing.T, k cheat, count int) (shots, hits int, l *testLobby) {
	t.Helper()
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 0, 1
	for h := range game.Heroes {
		for s := range game.Heroes[h].Slots {
			if gun := &game.Heroes[h].Slots[s].Gun; game.Heroes[h].Slots[s].Kind == ability.Gun {
				gun.Projectile, gun.Damage, gun.Impulse, gun.Range, gun.Radius = ability.Hitscan,
					1, 0, 100, 0.05
				gun.RoundsPerSec, gun.MostPerSec, gun.ConeDegrees, gun.Clip, gun.ReloadMillis = 10,
					0, 0, 255, 100
			}
		}
	}
	l = newTestLobby(t, Config{Arena: pairField(t), ArenaName: "duels",
		Relevance: RelevanceAll, Players: 2 * shooterPairs, Rules: sim.Rules{Seed: 3, Game: game}})
	var all []*cheatingShooter
	for i := range shooterPairs {
		d := &cheatingShooter{testClient: l.joinedClient(), trick: k,
			rng: rand.New(rand.NewPCG(uint64(i), 1)), feet: rand.New(rand.NewPCG(uint64(i), 2))}
		d.victim = l.lobby.match.Join()
		all = append(all, d)
	}
	l.ticks(5)
	rounds := (count + shooterPairs - 1) / shooterPairs
	for n := range rounds*roundTicks + 240 {
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
			if out.Hits[i].ID != 0 {
				hits++
			}
		}
	}
	return shots, hits, l
}

// step plays a tick of the shooter and of its victim.
func (d *cheatingShooter) step(n tick.Tick) {
	l := d.host
	m := l.lobby.match
	next := m.Tick() + 1
	for _, id := range [2]netid.ID{d.id(), d.victim} {
		if v := m.Vital(id); v != nil {
			v.Health = 100
		}
	}
	d.run(next)
	for _, raw := range d.received() {
		d.down = append(d.down, delayedPacket{next + oneWay, raw})
	}
	for len(d.down) > 0 && d.down[0].due <= next {
		pkt, err := d.netcode.Receive(l.now, testAddr, d.down[0].data, &d.outbox)
		d.down = d.down[1:]
		if err != nil || pkt == nil {
			continue
		}
		if s := d.receivePacket(pkt); s != nil {
			if h, _, err := netstate.ParseHeader(s[1:]); err == nil {
				d.arrived = append(d.arrived, h.Tick)
			}
		}
	}
	cmd := sim.Command{Tick: next + oneWay + 1}
	d.fire(&cmd, next)
	d.up = append(d.up, delayedPacket{next + oneWay,
		d.seal(d.forge(d.packet(sim.AppendArrivals(section(cmd), d.announcedDelay(cmd.Tick), nil)...)))})
	if d.trick == switcher && n%60 < 18 {
		return
	}
	for len(d.up) > 0 && d.up[0].due <= next {
		d.send(d.up[0].data)
		d.up = d.up[1:]
	}
}

// run moves the victim: it strafes around its place.
func (d *cheatingShooter) run(next tick.Tick) {
	m := d.host.lobby.match
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
	if in := m.CommandBuffer(d.victim); in != nil {
		in.Offer(sim.Command{Tick: next, MoveYaw: 64 + d.strafe, MoveMag: 255})
	}
}

// forge falsifies the header of a packet.
func (d *cheatingShooter) forge(pkt []byte) []byte {
	if d.trick < fakeRTT {
		return pkt
	}
	h, rest, err := packet.ParseHeader(pkt)
	if err != nil {
		d.host.t.Fatal(err)
	}
	switch d.trick {
	case fakeRTT: // the echo says that it was held less long than it was: by 0 or 90 ms, in turns
		if d.rng.IntN(2) == 0 {
			h.Echo -= 8 * 90
		}
	case fakeAcks:
		if d.ackBoth {
			break
		}
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

// at returns the view at an instant, in 1/256 tick, between received snapshots.
func (d *cheatingShooter) at(instant int64) (v tick.View, ok bool) {
	for i := len(d.arrived) - 1; i > 0; i-- {
		a, b := d.arrived[i-1], d.arrived[i]
		if int64(a)<<8 <= instant && instant <= int64(b)<<8 {
			return tick.View{From: a, To: b, Frac: uint8(min((instant-int64(a)<<8)/int64(b-a), 255))}, true
		}
	}
	return v, false
}

// announcedDelay returns the view delay that the shooter announces, in half ticks. Cheats choose it
// anew for each span of 16 ticks.
func (d *cheatingShooter) announcedDelay(t tick.Tick) uint8 {
	const honestly = 2 * (2*oneWay + 7) // two intervals behind the newest snapshot
	switch d.trick {
	case backtracker: // varies it
		return honestly + uint8(t/lagcomp.ViewDelaySpan%4)*4
	case constant, fakeRTT:
		return 255
	}
	return honestly
}

// fire aims at the picture with an error, and claims the view of its cheat.
func (d *cheatingShooter) fire(cmd *sim.Command, next tick.Tick) {
	m := d.host.lobby.match
	d.viewDelays.Announce(cmd.Tick, d.announcedDelay(cmd.Tick), cmd.Tick)
	line, _, _ := d.viewDelays.InstantAt(cmd.Tick, 1<<20)
	know := m.ClampLimits(d.id())
	if d.trick != honest && know.AnnouncedInstant != 0 { // it aims at the view that the server will use
		line = max(line, int64(cmd.Tick)<<8-(int64(m.Tick())<<8-know.AnnouncedInstant))
	}
	v, ok := d.at(line)
	if !ok || m.CommandBuffer(d.id()) == nil {
		return
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
	d.ackBoth = d.trick == fakeAcks && d.hitsBetween(cmd, me.Pos)
	if d.trick == backtracker || d.trick == fakeRTT || d.trick == fakeAcks && !d.ackBoth {
		cmd.View = d.best(cmd, me.Pos, v)
	}
}

// best returns the view nearest to the picture at which the shot hits.
func (d *cheatingShooter) best(cmd *sim.Command, pos geom.Vec3, v tick.View) tick.View {
	m := d.host.lobby.match
	w := lagcomp.Sweep{Ray: geom.Ray{Origin: sim.Eye(pos), Dir: geom.Forward(cmd.Yaw, cmd.Pitch), Max: 100},
		Radius: 0.05}
	for off := int64(0); off < 24*256; off = off + 16 {
		for _, o := range [2]int64{off, -off} {
			if c, ok := d.at(lagcomp.Instant(v) + o); ok {
				if _, hit := m.History().CastSlot(&w, d.victim.Index(), c, lagcomp.Hit{}); hit {
					return c
				}
			}
		}
	}
	return v
}

// hitsBetween reports whether a shot hits at its view between two received snapshots. The shooter
// then acknowledges both of them.
func (d *cheatingShooter) hitsBetween(cmd *sim.Command, pos geom.Vec3) bool {
	w := lagcomp.Sweep{Ray: geom.Ray{Origin: sim.Eye(pos), Dir: geom.Forward(cmd.Yaw, cmd.Pitch), Max: 100},
		Radius: 0.05}
	_, hit := d.host.lobby.match.History().CastSlot(&w, d.victim.Index(), cmd.View, lagcomp.Hit{})
	return hit
}

// TestDuels compares cheats with honest shooters of equal skill at the same round-trip time. Longer
// view delays, lag switches and claims of other instants gain nothing, since views are announced in
// advance. It plays 320 rounds of a second; TICKRATE_DUELS sets the number, and make duels 10,000.
func TestDuels(t *testing.T) {
	count := 320
	if v := os.Getenv("TICKRATE_DUELS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("TICKRATE_DUELS=%q: expected a number of rounds", v)
		}
		count = n
	}
	var rate [tricks]float64
	for k := range tricks {
		shots, hits, l := shootPairs(t, k, count)
		if shots < count*5 {
			t.Fatalf("%v: %d shots in %d rounds", k, shots, count)
		}
		rate[k] = float64(hits) / float64(shots)
		back := func(q float64) time.Duration { return quantile(l.lobby.Stats.Rewind, q) }
		limit := time.Duration(l.lobby.match.Rules().RewindMillis) * time.Millisecond
		if limit = limit * 109 / 100; back(1) > limit { // buckets are 9 % wide
			t.Errorf("%v: somebody was hit %v after reaching cover, expected at most %v", k, back(1), limit)
		}
		t.Logf("%-15v hits look back by 50 %%: %v, 99 %%: %v, most: %v", k, back(0.5), back(0.99), back(1))
		t.Logf("%-15v %d rounds, %d shots, %.2f %% hit, %+.2f points against honest, %+.1f %% of them; "+
			"%d clamped, %d faded", k, count, shots, 100*rate[k], 100*(rate[k]-rate[honest]),
			100*(rate[k]/rate[honest]-1),
			l.count(metrics.ShotsClamped), l.count(metrics.ShotsStaleView))
	}
	if rate[honest] < 0.2 || rate[honest] > 0.6 {
		t.Errorf("honest shooters hit with %.3f of their shots: the comparison means nothing",
			rate[honest])
	}
	// standard error of the difference, twice
	chance := 2 * math.Sqrt(2*rate[honest]*(1-rate[honest])/float64(count*8))
	for k := honest + 1; k < tricks; k++ {
		if gain := rate[k] - rate[honest]; gain > max(0.01, chance) {
			t.Errorf("%v: %.3f more hits than honest shooters, expected at most %.3f",
				k, gain, max(0.01, chance))
		}
	}
}

// quantile is the upper limit of the bucket with a quantile of a histogram.
func quantile(h *meter.Native, q float64) time.Duration {
	n := h.Read()
	sum := n.Zero
	for i, c := range n.Counts {
		if sum += c; c > 0 && float64(sum) >= q*float64(n.Count) {
			return time.Duration(math.Exp2(float64(n.Lowest+i)/8) * 1e9)
		}
	}
	return 0
}
