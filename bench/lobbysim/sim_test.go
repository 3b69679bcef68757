package lobbysim

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// bad is the link of the long runs.
var bad = impair.Profile{Loss: 0.05, Duplicate: 0.02, Reorder: 0.02, Delay: 30 * time.Millisecond,
	Jitter: 20 * time.Millisecond}

func open(t testing.TB, clients int, seed uint64, link impair.Profile) *Sim {
	t.Helper()
	return openAt(t, tick.DefaultRate, clients, seed, link)
}

// openAt is open at another rate.
func openAt(t testing.TB, rate tick.Rate, clients int, seed uint64, link impair.Profile) *Sim {
	t.Helper()
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{
		Clients: clients, Seed: seed, Link: link, PredictHits: true,
		Lobby: server.Config{Arena: a, ArenaName: "arena-64", Players: clients + 4,
			Rules: sim.Rules{Rate: rate, Seed: seed, RespawnMillis: 3000, Mix: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The whole lobby over a bad network for ninety virtual seconds, with joins and leaves: every
// invariant after every tick, and the same seed twice gives the same bits. tickrate sim dst plays
// for hours.
func TestLobbySim(t *testing.T) {
	seconds := 90
	if raceEnabled || testing.Short() {
		seconds = 15
	}
	run := func(seed uint64, seconds int) (early, all uint64) {
		b := open(t, 32, seed, bad)
		c := newChecker(t, b)
		ticks := seconds * int(b.rate)
		hash := uint64(14695981039346656037)
		for n := range ticks {
			if n%600 == 599 { // every ten seconds one player leaves and another joins
				i := 1 + n/600%31
				c.leaves(i)
				b.Leave(i)
				if err := b.Connect(i); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			c.check()
			hash = (hash ^ b.Lobby.Match().Hash()) * 1099511628211
			if n == 11*int(b.rate) {
				early = hash
			}
		}
		c.done()
		return early, hash
	}
	var first, again, mine, other uint64
	var all sync.WaitGroup // simulations in parallel must not affect each other either
	all.Go(func() { mine, first = run(1, seconds) })
	all.Go(func() { _, again = run(1, seconds); other, _ = run(2, 12) })
	all.Wait()
	if first != again {
		t.Errorf("seed 1 gave %016x and then %016x", first, again)
	}
	if mine == other {
		t.Error("two seeds gave the same match")
	}
}

// On a clean link no input is lost, nothing is mispredicted, and every shot is judged as its
// shooter saw it, to the bit.
func TestCleanLinkIsExact(t *testing.T) {
	skipUnderRace(t)
	for _, rtt := range []time.Duration{0, 40 * time.Millisecond, 150 * time.Millisecond,
		200 * time.Millisecond} {
		t.Run(rtt.String(), func(t *testing.T) { cleanLink(t, tick.DefaultRate, impair.Profile{Delay: rtt / 2}) })
	}
}

// The same at the highest rate, where a command is for 7 ms.
func TestRow41HighestRateIsExact(t *testing.T) {
	skipUnderRace(t)
	for _, rtt := range []time.Duration{10 * time.Millisecond, 150 * time.Millisecond} {
		t.Run(rtt.String(), func(t *testing.T) { cleanLink(t, 144, impair.Profile{Delay: rtt / 2}) })
	}
}

// At the highest rate over a bad network clients and server agree after every tick, and few commands
// come too late.
func TestHighestRateOverABadLink(t *testing.T) {
	skipUnderRace(t)
	b := openAt(t, tick.MaxRate, 16, 3, bad)
	c := newChecker(t, b)
	for range 12 * int(tick.MaxRate) {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		c.check()
	}
	c.done()
	used := b.Lobby.Stats.Count[metrics.InputsUsed].Load()
	missing := b.Lobby.Stats.Count[metrics.InputsMissing].Load()
	if used < 16*10*uint64(tick.MaxRate) || missing > used/50 {
		t.Errorf("%d inputs used, %d missing", used, missing)
	}
}

func cleanLink(t *testing.T, rate tick.Rate, link impair.Profile) {
	b := openAt(t, rate, 16, 3, link)
	v := verdicts{t: t, b: b, server: map[shotKey]verdict{}, from: make([]uint64, 16)}
	early := uint64(0) // clamped views of an instant before the client's first snapshot
	for n := range 3600 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		v.collect()
		if n == 60 {
			early = b.Lobby.Stats.Count[metrics.ShotsClamped].Load()
		}
	}
	if n := b.Lobby.Stats.Count[metrics.ShotsClamped].Load(); n > early || early > 2 {
		t.Errorf("%d shots were clamped, %d of them at once", n, early)
	}
	used := b.Lobby.Stats.Count[metrics.InputsUsed].Load()
	missing := b.Lobby.Stats.Count[metrics.InputsMissing].Load()
	if missing != 0 {
		t.Errorf("%d inputs used, %d missing", used, missing)
	}
	rows := uint64(0)
	for i, c := range b.Clients {
		s := c.Stats()
		if s.Prediction.Mispredictions != 0 {
			t.Errorf("client %d mispredicted %d of %d rows, first in tick %d",
				i, s.Prediction.Mispredictions, s.Prediction.Rows, s.Prediction.FirstMispredict)
		}
		rows += s.Prediction.Rows
	}
	if all := 16 * 3600 / b.Lobby.Config().SendInterval; rows < uint64(all)*3/4 {
		t.Errorf("only %d of %d rows compared", rows, all)
	}
	v.compare()
	t.Logf("%d rows and %d shots compared, %d hits, %d of mispredicted shooters; %d inputs used, %d missing",
		rows, v.compared, v.hits, v.thrown, used, missing)
}

// verdicts compares what the server decided of each shot with what its shooter's own view said.
type verdicts struct {
	t              *testing.T
	b              *Sim
	server         map[shotKey]verdict
	client         []client.Shot
	by             []netid.ID
	from           []uint64
	compared, hits int
	thrown         int // shots of players with a knockback that they had not received yet
}

// verdict is a shot as the server fired it, and its hit.
type verdict struct {
	ray geom.Ray
	hit lagcomp.Hit
}

type shotKey struct {
	who uint32
	at  tick.Tick
}

func (v *verdicts) collect() {
	m := v.b.Lobby.Match()
	out := m.Outcome()
	for i, s := range out.Shots {
		v.server[shotKey{s.Shooter, m.Tick()}] = verdict{s.Ray, out.Hits[i]}
	}
	var shots [16]client.Shot
	for i, c := range v.b.Clients {
		n, next := c.Shots.Since(v.from[i], shots[:])
		v.from[i] = next
		for _, s := range shots[:n] {
			v.client, v.by = append(v.client, s), append(v.by, c.ID())
		}
	}
}

func (v *verdicts) compare() {
	for i, s := range v.client {
		there, known := v.server[shotKey{uint32(v.by[i]), s.Tick}]
		if !known { // died in that tick, or the server has not come to it
			continue
		}
		h := there.hit
		if there.ray.Origin != s.Ray.Origin { // an unpredicted knockback
			v.thrown++
			continue
		}
		v.compared++
		if h.ID != 0 {
			v.hits++
		}
		if h.ID != uint32(s.Hit) || h.Bone != s.Bone || h.Distance != s.Distance || h.Normal != s.Normal {
			v.t.Errorf("tick %d, %v: the server says %v %v at %v m, the shooter's view %v %v at %v m",
				s.Tick, v.by[i],
				netid.ID(h.ID), h.Bone, h.Distance, s.Hit, s.Bone, s.Distance)
		}
	}
	least := 1000 * tick.DefaultRate / v.b.rate
	if v.compared < int(least) || v.hits < 50 || v.thrown > v.compared/6 {
		v.t.Errorf("only %d shots compared, %d hits; %d of mispredicted shooters",
			v.compared, v.hits, v.thrown)
	}
}

// A link so slow and a lobby so large that packets outrun their acks: the server falls silent now
// and then, and later snapshots are still decoded against the right baselines.
func TestAckStalledLinkStaysInStep(t *testing.T) {
	skipUnderRace(t)
	if testing.Short() {
		t.Skip("players by the hundred")
	}
	b := open(t, 150, 5, impair.Profile{Delay: 1100 * time.Millisecond, Loss: 0.02})
	c := newChecker(t, b)
	for range 15 * 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		c.check()
	}
	sent := 0
	for _, cl := range b.Clients {
		sent += int(cl.Stats().Snapshots)
		if n := cl.Stats().Undecoded; n > 0 {
			t.Errorf("%d sections could not be decoded", n)
		}
	}
	if every := 150 * 20 * 13; sent > every*9/10 {
		t.Errorf("%d of %d snapshots were sent: acks never stalled", sent, every)
	}
	if c.selves < 1000 {
		t.Errorf("only %d owner rows were compared", c.selves)
	}
}

// checker holds the invariants that must be true after every tick.
type checker struct {
	t       *testing.T
	b       *Sim
	owner   map[netid.ID]string       // which client a net id was given to
	ids     map[int]netid.ID          // present id of each client
	seen    map[int]tick.Tick         // newest decoded tick already compared
	used    map[netid.ID]uint64       // inputs used of each player
	self    map[selfKey]netstate.Self // what the server knew of each player after each tick
	rows    int
	selves  int
	life    int
	row, as [netstate.PublicFields]int32
}

func newChecker(t *testing.T, b *Sim) *checker {
	return &checker{t: t, b: b, owner: map[netid.ID]string{}, ids: map[int]netid.ID{},
		seen: map[int]tick.Tick{}, used: map[netid.ID]uint64{}, self: map[selfKey]netstate.Self{}}
}

type selfKey struct {
	id netid.ID
	at tick.Tick
}

func (c *checker) leaves(i int) {
	delete(c.ids, i)
	delete(c.seen, i)
	c.life++
}

func (c *checker) check() {
	c.t.Helper()
	c.accounts()
	for i, cl := range c.b.Clients {
		if st, why := cl.State(); st == client.Denied || st == client.Lost {
			c.t.Fatalf("at %v client %d was %v: %v", c.b.Now(), i, st, why)
		} else if st != client.Joined {
			continue
		}
		c.identity(i, cl)
		c.inputs(cl)
		c.decoded(i, cl)
		c.owned(i, cl)
	}
}

// owned: a client's own state equals the server's at the tick that it names.
func (c *checker) owned(i int, cl *client.Client) {
	m, id := c.b.Lobby.Match(), cl.ID()
	c.self[selfKey{id, m.Tick()}] = netstate.GatherSelf(m, id)
	got, at := cl.Self()
	want, known := c.self[selfKey{id, at}]
	if !known {
		return
	}
	if got != want {
		c.t.Fatalf("at %v client %d holds of itself in tick %d %+v, the server knew %+v",
			c.b.Now(), i, at, got, want)
	}
	c.selves++
	delete(c.self, selfKey{id, at - 120})
}

// accounts: every datagram that reached the server was accepted or dropped for one reason.
func (c *checker) accounts() {
	s := &c.b.Lobby.Stats
	sum := s.Count[metrics.Accepted].Load()
	for d := range netcode.NumDrops {
		sum += s.AuthDrops[d].Load()
	}
	for d := range packet.NumDrops {
		sum += s.PacketDrops[d].Load()
	}
	if rx := s.Count[metrics.Received].Load(); rx != sum {
		c.t.Fatalf("at %v the server received %d datagrams and accounts for %d", c.b.Now(), rx, sum)
	}
	if reached := c.b.deliveredToServer(); reached != s.Count[metrics.Received].Load() {
		c.t.Fatalf("at %v %d datagrams reached the server, which counted %d",
			c.b.Now(), reached, s.Count[metrics.Received].Load())
	}
}

// deliveredToServer counts the datagrams delivered to the server, injected ones included.
func (b *Sim) deliveredToServer() uint64 {
	sum := b.wire.injectedCount
	for i := range b.links.up {
		sum += b.links.up[i].Stats().Delivered
	}
	return sum
}

// identity: no net id ever shows two entities.
func (c *checker) identity(i int, cl *client.Client) {
	id, owner := cl.ID(), fmt.Sprintf("client %d, life %d", i, c.life)
	if had, ok := c.ids[i]; ok {
		if had != id {
			c.t.Fatalf("client %d changed from %v to %v", i, had, id)
		}
		return
	}
	if other, taken := c.owner[id]; taken {
		c.t.Fatalf("%v belongs to %s and to %s", id, other, owner)
	}
	c.ids[i], c.owner[id] = id, owner
}

// inputs: at most one is applied a tick.
func (c *checker) inputs(cl *client.Client) {
	inbox := c.b.Lobby.Match().CommandBuffer(cl.ID())
	if inbox == nil {
		return
	}
	if n := inbox.Count.Used; n > c.used[cl.ID()]+1 {
		c.t.Fatalf("%v had %d inputs applied in one tick", cl.ID(), n-c.used[cl.ID()])
	}
	c.used[cl.ID()] = inbox.Count.Used
	if n := inbox.Count; n.Used > n.Accepted {
		c.t.Fatalf("%v had %d inputs applied of %d that came", cl.ID(), n.Used, n.Accepted)
	}
}

// decoded: a client's rows of a tick equal the server's frame of that tick, slot by slot.
func (c *checker) decoded(i int, cl *client.Client) {
	settled := cl.Newest() - min(cl.Newest(), 12) // delayed datagrams have arrived by now
	for t := c.seen[i] + 1; t <= settled; t++ {
		frame := c.b.Lobby.Frame(t)
		if frame == nil {
			continue
		}
		for slot := range frame.Slots() {
			id, held := cl.Row(t, slot, c.row[:])
			if !held {
				continue
			}
			if want := frame.Row(slot, c.as[:]); id != want || id != 0 && c.row != c.as {
				c.t.Fatalf("at %v client %d has %v %v in slot %d of tick %d, the server %v %v",
					c.b.Now(), i, id, c.row, slot, t, want, c.as)
			}
			c.rows++
		}
	}
	c.seen[i] = max(c.seen[i], settled)
}

// done: enough was checked, and the clients' own accounts balance.
func (c *checker) done() {
	if c.rows < 1000 || c.selves < 1000 {
		c.t.Errorf("only %d rows and %d owner rows were compared", c.rows, c.selves)
	}
	s := &c.b.Lobby.Stats
	if s.Count[metrics.Hits].Load() == 0 {
		c.t.Error("no shot hit")
	}
	if n := s.Count[metrics.UnbalancedTicks].Load(); n != 0 {
		c.t.Errorf("the lobby's own accounts were wrong after %d ticks", n)
	}
	for i, cl := range c.b.Clients {
		st := cl.Stats()
		if !st.Datagrams.Balanced() || !st.Packets.Balanced() ||
			st.Packets.Received != st.Datagrams.Accepted[netcode.KindPayload] {
			c.t.Errorf("client %d received %d datagrams with %d packets and accounts for others",
				i, st.Datagrams.Received, st.Packets.Received)
		}
		if st.Undecoded != 0 || st.Resyncs != 0 {
			c.t.Errorf("client %d could not decode %d sections", i, st.Undecoded)
		}
	}
	c.t.Logf("%d rows compared, %d kills, %d inputs used, %d missing, %d resyncs",
		c.rows, s.Count[metrics.Kills].Load(),
		s.Count[metrics.InputsUsed].Load(), s.Count[metrics.InputsMissing].Load(),
		s.Count[metrics.Resyncs].Load())
}
