package server

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// A limit that never binds changes nothing: clients with and without it hold the same rows of the
// same ticks, and after the join burst they are sent the same bytes in the same blocks.
func TestLooseBudgetIsNone(t *testing.T) {
	alone(t)
	for i, c := range []struct {
		cfg   Config
		n     int
		loss  float64
		fires bool // with many projectiles and grenades
	}{
		0: {Config{Players: 32, Kbps: 256}, 32, 0, false},
		1: {Config{Players: 40, Kbps: 2000}, 40, 0.05, false},
		2: {Config{Players: 90, Kbps: 1000, Spectators: 2}, 80, 0, false},
		3: {Config{Players: 32, Kbps: 500, ChecksumEvery: 3}, 20, 0.1, false},
		4: {Config{Players: 32, Kbps: 256, ViewDistance: 12}, 32, 0, false},
		5: {Config{Players: 90, Kbps: 600, ViewDistance: 20, Spectators: 1}, 80, 0.05, false},
		6: {Config{Players: 32, Kbps: 1500, Rules: sim.Rules{Mix: true}}, 32, 0, true},
		7: {Config{Players: 80, Kbps: 4000, Rules: sim.Rules{Mix: true}}, 80, 0, true},
	} {
		free := c.cfg
		free.Kbps = 0
		a, b := newClientLobby(t, c.n, free), newClientLobby(t, c.n, c.cfg)
		for range c.cfg.Spectators {
			a.addClient(client.Config{}, spectator)
			b.addClient(client.Config{}, spectator)
		}
		ka, kb := link{rand.New(rand.NewPCG(1, uint64(i))), c.loss},
			link{rand.New(rand.NewPCG(1, uint64(i))), c.loss}
		a.turnPlayers(uint64(i))
		b.turnPlayers(uint64(i))
		if c.fires {
			a.firing(uint64(i))
			b.firing(uint64(i))
		}
		objects, rows, bytes, waits := 0, 0, [2]uint64{}, uint64(0)
		for at := range fullOrShort(8, 5) * 60 {
			if at == 180 {
				bytes, waits = [2]uint64{a.count(metrics.BytesOut), b.count(metrics.BytesOut)},
					b.count(metrics.ObjectsOverBudget)
			}
			a.lossy(&ka)
			b.lossy(&kb)
			if n := a.sameRows(b); at >= 180 {
				rows += n
				objects += a.sameObjects(b)
			}
		}
		bytes[0], bytes[1] = a.count(metrics.BytesOut)-bytes[0], b.count(metrics.BytesOut)-bytes[1]
		if rows < c.n*c.n*40 || b.count(metrics.SnapshotsOverBudget) != 0 ||
			b.count(metrics.SnapshotsClipped) != 0 || b.count(metrics.SnapshotsThrottled) != 0 {
			t.Errorf("%d: %d rows compared, %d snapshots squeezed, %d narrowed, %d throttled", i, rows,
				b.count(metrics.SnapshotsOverBudget), b.count(metrics.SnapshotsClipped),
				b.count(metrics.SnapshotsThrottled))
		}
		if waits = b.count(metrics.ObjectsOverBudget) - waits; c.fires &&
			(objects < c.n*c.n*10 || waits*20 > b.count(metrics.Snapshots)) {
			t.Errorf("%d: %d objects compared, %d parts left some out of %d", i,
				objects, waits, b.count(metrics.Snapshots))
		}
		if c.loss == 0 && !c.fires && bytes[0] != bytes[1] {
			t.Errorf("%d: %d bytes without a limit, %d with one", i, bytes[0], bytes[1])
		}
		for _, slot := range b.lobby.live {
			g := &b.lobby.conns[slot]
			if c.loss == 0 && g.repl.view.selection != map[bool]rowSelection{true: rowsAll,
				false: rowsVisible}[c.cfg.ViewDistance == 0] {
				t.Errorf("%d: client %v is told by %d", i, g.id, g.repl.view.selection)
			}
			if v := b.lobby.Explain(g.id, b.players[0].ID()); v.Reason != ReasonSent &&
				c.cfg.ViewDistance == 0 || v.Reason == ReasonBudget || v.Reason == ReasonClipped {
				t.Errorf("%d: %v", i, v.Sentence())
			}
		}
	}
}

// sameRows fails unless the clients of two lobbies hold the same rows of their newest snapshots,
// and returns the number of rows.
func (b *clientLobby) sameRows(o *clientLobby) (rows int) {
	b.t.Helper()
	var got, want [netstate.PublicFields]int32
	for n, p := range b.players {
		q := o.players[n]
		if p.Newest() != q.Newest() || p.ID() != q.ID() {
			b.t.Fatalf("tick %d, client %d: one has %d, the other %d",
				b.lobby.match.Tick(), n, p.Newest(), q.Newest())
		}
		for slot := range b.lobby.cfg.Players {
			id, held := p.Row(p.Newest(), slot, want[:])
			other, too := q.Row(q.Newest(), slot, got[:])
			switch {
			case id == 0 && other == 0: // an empty slot is sent once, or each time
			case id != other || held != too || got != want:
				b.t.Fatalf("tick %d, client %d, slot %d: one holds %v %v, the other %v %v",
					p.Newest(), n, slot, id, want, other, got)
			default:
				rows++
			}
		}
	}
	return rows
}

// sameObjects does the same for objects.
func (b *clientLobby) sameObjects(o *clientLobby) (rows int) {
	b.t.Helper()
	var got, want [netstate.ObjectStateFields]int32
	for n, p := range b.players {
		q := o.players[n]
		for slot := range b.lobby.replication.objects.table.slots {
			id, _ := p.Objects.Row(p.Newest(), slot, want[:])
			other, _ := q.Objects.Row(q.Newest(), slot, got[:])
			if id == 0 || other == 0 { // unchanged objects are not sent
				continue
			}
			if id != other || got != want {
				b.t.Fatalf("tick %d, client %d, thing %d: one holds %v %v, the other %v %v",
					p.Newest(), n, slot, id, want, other, got)
			}
			rows++
		}
	}
	return rows
}

// objectsMatch fails unless the objects that clients hold of their newest snapshots are those of
// the server's frames.
func (b *clientLobby) objectsMatch() (rows int) {
	b.t.Helper()
	var got, want [netstate.ObjectStateFields]int32
	for n, p := range b.players {
		f := b.lobby.replication.objects.frames.At(p.Newest())
		for slot := range b.lobby.replication.objects.table.slots {
			if id, held := p.Objects.Row(p.Newest(), slot, got[:]); held && id != 0 && f != nil {
				if was := f.Row(slot, want[:]); was != id || got != want {
					b.t.Fatalf("client %d, tick %d, thing %d: %v %v, the server has %v %v",
						n, p.Newest(), slot, id, got, was, want)
				}
				rows++
			}
		}
	}
	return rows
}

// waitTracker is the naive twin of rowSchedule: it keeps its state in each snapshot, from what the
// tracker has sent.
type waitTracker struct {
	who        []netid.ID
	last, seen []map[int]uint16 // by connection's slot, by slot
	longest    int              // intervals that a visible row has waited
	blocks     int              // snapshots in blocks,
	loose      int              // row by row without a schedule
	rows       int              // and with one
}

func newWaitTracker(clients int) *waitTracker {
	p := &waitTracker{who: make([]netid.ID, clients), last: make([]map[int]uint16, clients),
		seen: make([]map[int]uint16, clients)}
	return p
}

// observe reads the snapshots of a tick, and fails where a rowSchedule differs.
func (p *waitTracker) observe(b *clientLobby) {
	b.t.Helper()
	l := b.lobby
	now := l.match.Tick()
	f := l.Frame(now)
	for _, slot := range l.live {
		c := &l.conns[slot]
		if !c.session.ready || c.repl.pacing.sent != now {
			continue
		}
		if p.who[slot] != c.id {
			p.who[slot], p.last[slot], p.seen[slot] = c.id, map[int]uint16{}, map[int]uint16{}
		}
		last, seen, interval := p.last[slot], p.seen[slot], l.replication.intervalOf(now)
		switch c.repl.view.selection {
		case rowsAll:
			p.blocks++
		case rowsVisible:
			p.loose++
		default:
			p.rows++
		}
		for other := range l.cfg.Players {
			_, was := seen[other]
			delete(seen, other)
			if f.ID(other) == 0 || c.repl.view.byRow && c.repl.schedule.visible[other>>6]>>(other&63)&1 == 0 {
				continue
			}
			if seen[other] = 1; !was {
				last[other] = interval
			}
			p.longest = max(p.longest, int(interval-last[other]))
			if sent, known := c.repl.acks.tracker.RowSent(other); sent && known {
				last[other] = interval
			}
			if weight := c.repl.view.interest.Priority(other); c.repl.view.selection == rowsScheduled &&
				(c.repl.schedule.sentAt[other] != last[other] ||
					last[other] == interval && was && weight != 0) {
				b.t.Fatalf("tick %d, client %v, slot %d: last said in interval %d and weighs %d; the "+
					"twin has %d of %d", now, c.id, other, c.repl.schedule.sentAt[other],
					weight, last[other], interval)
			}
		}
	}
}

// Limits bind at times, or always: no client is sent more than its bucket gives, no visible row
// waits for the life of a baseline, all snapshots decode correctly, and no row waits longer
// because of the time in which the limit did not bind.
func TestBudgetBeginsToBind(t *testing.T) {
	alone(t)
	for i, c := range []struct {
		cfg   Config
		n     int
		loss  float64
		kbps  []int // one after the other, two seconds each
		every uint8
	}{
		0: {Config{Players: 32}, 32, 0, []int{300, 24}, 1},
		1: {Config{Players: 70}, 66, 0, []int{400, 32, 16}, 1},
		2: {Config{Players: 32}, 30, 0.05, []int{300, 20}, 1},
		3: {Config{Players: 32, ChecksumEvery: 3}, 32, 0, []int{45, 50}, 1}, // about as much as it takes
		4: {Config{Players: 32}, 32, 0, []int{150, 0, 16}, 2},
		5: {Config{Players: 32, ViewDistance: 12}, 32, 0, []int{300, 24}, 1}, // none in blocks
		6: {Config{Players: 70, ViewDistance: 20}, 66, 0.05, []int{300, 0, 20, 110}, 1},
		// and all fire
		7: {Config{Players: 32, Rules: sim.Rules{Mix: true}}, 32, 0, []int{800, 40, 100, 0, 30}, 1},
		8: {Config{Players: 128}, 120, 0.05, []int{900, 40}, 1}, // groups take turns
	} {
		c.cfg.Kbps = c.kbps[0]
		b := newClientLobby(t, c.n, c.cfg)
		b.turnPlayers(uint64(i))
		k, p := link{rand.New(rand.NewPCG(2, uint64(i))), c.loss}, newWaitTracker(c.cfg.Players)
		objects, longestPeriod := 0, 0
		if c.cfg.Rules.Mix {
			b.firing(uint64(i))
		}
		for range fullOrShort(4, 3) {
			for _, kbps := range c.kbps {
				b.lobby.cfg.Kbps = kbps
				began, sent := b.now, map[int32]uint64{}
				for _, slot := range b.lobby.live {
					g := &b.lobby.conns[slot]
					g.repl.pacing.setRate(c.every, 0, &b.lobby.cfg)
					sent[slot] = g.session.stats.down
				}
				for range 120 {
					rooms := b.budgets()
					b.lossy(&k)
					p.observe(b)
					b.checkBudgets(rooms)
					objects += b.objectsMatch()
					longestPeriod = max(longestPeriod, int(b.lobby.conns[0].repl.schedule.turn.period))
				}
				for slot, was := range sent {
					g := &b.lobby.conns[slot]
					rate, share := float64(g.repl.pacing.bucket.Rate()),
						b.lobby.replication.spacing(&g.repl).Seconds()
					// what is saved up, the largest snapshot, and netcode's own packets
					most := rate*((b.now-began).Seconds()+0.1+1.25*share) + 100
					if rate != 0 && float64(g.session.stats.down-was) > most {
						t.Errorf("%d: client %v was sent %d bytes in %v at %d kbit/s",
							i, g.id, g.session.stats.down-was, b.now-began, kbps)
					}
				}
			}
		}
		t.Logf("%d: %d snapshots in blocks, %d row by row without accounts, %d with, of which %d "+
			"squeezed; the longest wait was %d intervals", i, p.blocks, p.loose,
			p.rows, b.count(metrics.SnapshotsOverBudget), p.longest)
		if p.longest >= snapshot.MaxAge || p.blocks+p.loose < p.rows/10 ||
			b.count(metrics.SnapshotsOverBudget) == 0 {
			t.Errorf("%d: somebody waited for %d intervals; %d snapshots in blocks, %d and %d row by "+
				"row, %d squeezed", i, p.longest, p.blocks, p.loose, p.rows,
				b.count(metrics.SnapshotsOverBudget))
		}
		if c.n >= 120 && longestPeriod < 2 {
			t.Errorf("%d: groups were due in every snapshot", i)
		}
		if b.rowsMatch(100); c.cfg.Rules.Mix && (objects < 10000 || b.count(metrics.ObjectsOverBudget) == 0) {
			t.Errorf("%d: %d objects compared, %d parts left some out", i, objects,
				b.count(metrics.ObjectsOverBudget))
		}
		for n, p := range b.players {
			if s := p.Stats(); s.Undecoded != 0 || s.Resyncs != 0 || s.Diverged != 0 {
				t.Errorf("%d: client %d: %d sections not decoded, %d resyncs, %d diverged",
					i, n, s.Undecoded, s.Resyncs, s.Diverged)
			}
		}
	}
}

// budgetState is what a client may be sent and what it was sent, in bytes.
type budgetState struct {
	room int
	sent uint64
}

// budgets returns the state of each client with a limit, before a tick.
func (b *clientLobby) budgets() map[int32]budgetState {
	m, l := map[int32]budgetState{}, b.lobby
	next := l.cfg.Rules.Rate.At(l.match.Tick() + 1)
	for _, slot := range l.live {
		if c := &l.conns[slot]; c.repl.pacing.bucket.Rate() != 0 {
			m[slot] = budgetState{c.repl.pacing.bucket.Room(next, l.replication.spacing(&c.repl)),
				c.session.stats.down}
		}
	}
	return m
}

// checkBudgets fails if a client that was sent all rows was sent more than its bucket gave.
func (b *clientLobby) checkBudgets(rooms map[int32]budgetState) {
	b.t.Helper()
	for slot, was := range rooms {
		c := &b.lobby.conns[slot]
		if n := c.session.stats.down - was.sent; c.repl.pacing.sent == b.lobby.match.Tick() &&
			c.repl.view.selection != rowsScheduled && int(n) > was.room {
			b.t.Fatalf("tick %d: client %v was sent %d bytes, and had room for %d",
				c.repl.pacing.sent, c.id, n, was.room)
		}
	}
}

// When a limit begins to bind, waits and priorities equal those of a twin that keeps its schedule
// in every snapshot.
func TestMaterializeEqualsTwin(t *testing.T) {
	alone(t)
	for i, cfg := range []Config{{Players: 32}, {Players: 90}, {Players: 32, ViewDistance: 12},
		{Players: 90, ViewDistance: 12, Spectators: 2}} {
		cfg.Kbps = 1000
		n := cfg.Players - 10
		a, b := newClientLobby(t, n, cfg), newClientLobby(t, n, cfg)
		a.turnPlayers(uint64(i))
		b.turnPlayers(uint64(i))
		rng, waited := rand.New(rand.NewPCG(6, uint64(i))), 0
		if cfg.Spectators > 0 {
			a.addClient(client.Config{}, spectator)
			b.addClient(client.Config{}, spectator)
		}
		turn := func() {
			for _, slot := range b.lobby.live {
				b.lobby.conns[slot].repl.schedule.full = true
			}
			a.tickAll()
			b.tickAll()
		}
		for range fullOrShort(7, 5) {
			for at := range 60 + rng.IntN(90) {
				switch gone := rng.IntN(n); {
				case at != 30:
				case len(a.players) < cfg.Players-2 && rng.IntN(2) == 0: // another slot
					a.addClient(client.Config{}, nil)
					b.addClient(client.Config{}, nil)
				default:
					a.swap(gone)
					b.swap(gone)
				}
				turn()
			}
			a.setKbps(20)
			b.setKbps(20)
			a.lobby.replication.players.overdue = a.lobby.replication.players.overdue[:0]
			for range 3 { // one snapshot each
				turn()
				waited += a.materializesAs(b)
			}
			if len(a.lobby.replication.players.overdue) != 0 {
				t.Errorf("%d: %d rows go before all others that were told a moment ago",
					i, len(a.lobby.replication.players.overdue))
			}
			a.setKbps(1000)
			b.setKbps(1000)
		}
		if waited < 1000 {
			t.Errorf("%d: only %d rows had to wait", i, waited)
		}
	}
}

// Players that stand still cost almost nothing in blocks, but only as many are visible as the
// bandwidth carries when they move. When all move at once, removals leave room for rows in each
// snapshot.
func TestStillBlocksPromiseNoMore(t *testing.T) {
	alone(t)
	const n = 160
	b := newClientLobby(t, n, Config{Players: n, Kbps: 600})
	silent, blocks := 0, 0
	for turn, c := range []struct {
		kbps, ticks int
		turns       bool
	}{{600, 90, false}, {16, 330, false}, {16, 60, true}} {
		b.setKbps(c.kbps)
		b.brain = func(int) client.Intent { return client.Intent{} }
		if c.turns {
			b.turnPlayers(uint64(turn))
		}
		for range c.ticks {
			b.tickAll()
			for _, slot := range b.lobby.live {
				g := &b.lobby.conns[slot]
				if g.repl.pacing.sent != b.lobby.match.Tick() {
					continue
				}
				if g.repl.view.selection == rowsAll && c.kbps == 16 {
					blocks++
				}
				if b.sentRows(g) == 0 {
					silent++
				}
				if sees, carries := b.inSight(g), b.lobby.replication.capacity(&g.repl); sees > carries {
					t.Fatalf("%d: tick %d: client %v has %d in sight, and a line for %d",
						turn, g.repl.pacing.sent, g.id, sees, carries)
				}
			}
		}
	}
	if silent != 0 || blocks < 1000 || b.count(metrics.SnapshotsClipped) < 1000 {
		t.Errorf("%d snapshots tell of nobody; %d in blocks, %d narrowed", silent,
			blocks, b.count(metrics.SnapshotsClipped))
	}
}

// sentRows is the number of players in a client's newest snapshot.
func (b *clientLobby) sentRows(c *conn) (n int) {
	f := b.lobby.replication.players.frames.At(c.repl.pacing.sent)
	for slot := range b.lobby.cfg.Players {
		if sent, _ := c.repl.acks.tracker.RowSent(slot); sent && f.ID(slot) != 0 {
			n++
		}
	}
	return n
}

// inSight is the number of players visible in a client's newest snapshot.
func (b *clientLobby) inSight(c *conn) int {
	if !c.repl.view.byRow {
		return b.lobby.replication.players.frames.At(c.repl.pacing.sent).Len()
	}
	return popcount(c.repl.schedule.visible)
}

// materializesAs fails unless the rows that wait in the snapshots of this tick have the waits and
// priorities of a twin. It returns the number of rows.
func (b *clientLobby) materializesAs(twin *clientLobby) (waited int) {
	b.t.Helper()
	for _, slot := range b.lobby.live {
		c, h := &b.lobby.conns[slot], &twin.lobby.conns[slot]
		if c.repl.pacing.sent != b.lobby.match.Tick() || c.repl.view.selection != rowsScheduled {
			continue
		}
		if h.repl.pacing.sent != c.repl.pacing.sent || h.repl.view.selection != rowsScheduled {
			b.t.Fatalf("client %v: chosen as %d in tick %d, by the twin as %d in %d",
				c.id, c.repl.view.selection, c.repl.pacing.sent, h.repl.view.selection, h.repl.pacing.sent)
		}
		for other := range b.lobby.cfg.Players {
			sent, _ := c.repl.acks.tracker.RowSent(other)
			too, _ := h.repl.acks.tracker.RowSent(other)
			bit := uint64(1) << (other & 63)
			sees := c.repl.schedule.visible[other>>6] & bit
			if sees != h.repl.schedule.visible[other>>6]&bit {
				b.t.Fatalf("tick %d, client %v, slot %d: in sight is %v, of the twin not",
					c.repl.pacing.sent, c.id, other, sees != 0)
			} else if sees == 0 || sent || too {
				continue
			}
			waited++
			if x, y := c.repl.schedule.sentAt[other], h.repl.schedule.sentAt[other]; x != y ||
				c.repl.view.interest.Priority(other) != h.repl.view.interest.Priority(other) {
				b.t.Fatalf("tick %d, client %v, slot %d: waits since %d and weighs %d, in the twin "+
					"since %d and weighs %d",
					c.repl.pacing.sent, c.id, other, x, c.repl.view.interest.Priority(other),
					y, h.repl.view.interest.Priority(other))
			}
		}
	}
	return waited
}

// The first snapshot by rows knows players that have joined or left during snapshots in blocks.
func TestSlotsChangeBehindBlocks(t *testing.T) {
	alone(t)
	b := newClientLobby(t, 20, Config{Players: 32, Kbps: 400})
	b.turnPlayers(5)
	p := newWaitTracker(32)
	rng := rand.New(rand.NewPCG(5, 5))
	for range fullOrShort(10, 4) {
		for at := range 120 {
			if at%40 == 20 {
				b.swap(rng.IntN(len(b.players)))
			}
			if at == 60 {
				b.setKbps(24)
			}
			b.tickAll()
			p.observe(b)
		}
		b.setKbps(400)
	}
	if b.rowsMatch(100); p.blocks < 100 || p.rows < 100 ||
		b.count(metrics.SnapshotsOverBudget) < 100 || p.longest >= snapshot.MaxAge {
		t.Errorf("%d snapshots in blocks, %d row by row, %d squeezed; the longest wait was %d",
			p.blocks, p.rows, b.count(metrics.SnapshotsOverBudget), p.longest)
	}
}

// setKbps gives all clients another limit.
func (b *clientLobby) setKbps(kbps int) {
	b.lobby.cfg.Kbps = kbps
	for _, slot := range b.lobby.live {
		b.lobby.conns[slot].repl.pacing.setRate(1, 0, &b.lobby.cfg)
	}
}

// swap makes one client leave and another join.
func (b *clientLobby) swap(n int) {
	b.t.Helper()
	b.players[n].Leave(b.now)
	out := b.players[n].Outgoing(b.now)
	for i := range out.Len() {
		_, d := out.At(i)
		b.endpoints[n].send(d)
	}
	b.players, b.endpoints = append(b.players[:n], b.players[n+1:]...),
		append(b.endpoints[:n], b.endpoints[n+1:]...)
	b.addClient(client.Config{}, func(m *netcode.Mint) { m.TimeoutSeconds = 10 })
}

// The schedule of a limit stays right after the limit is lifted: rows selected for another reason
// count as sent with the last blocks.
func TestLimitIsLiftedBehindBlocks(t *testing.T) {
	alone(t)
	b := newClientLobby(t, 60, Config{Players: 64, Kbps: 500})
	b.turnPlayers(8)
	b.play(2)
	b.setKbps(0)
	b.play(1)
	b.lobby.SetLoadLevel(overload.LowDetail)
	looks, kept := 0, 0
	for range 12 { // one snapshot each
		b.tickAll()
		for _, slot := range b.lobby.live {
			c := &b.lobby.conns[slot]
			if c.repl.pacing.sent != b.lobby.match.Tick() {
				continue
			}
			if looks++; c.repl.view.selection != rowsLowDetail {
				t.Fatalf("chosen as %d", c.repl.view.selection)
			}
			for other := range 60 {
				// intervals from the last blocks to this
				if now := b.lobby.replication.intervalOf(c.repl.pacing.sent); now-
					c.repl.schedule.sentAt[other] > 4 {
					t.Fatalf("tick %d, interval %d: client %v was told of slot %d in all blocks so "+
						"far, by its account in interval %d", c.repl.pacing.sent,
						now, c.id, other, c.repl.schedule.sentAt[other])
				}
				if sent, _ := c.repl.acks.tracker.RowSent(other); !sent {
					kept++
				}
			}
		}
	}
	if b.lobby.SetLoadLevel(overload.Normal); looks < 60 || kept < 600 {
		t.Errorf("%d snapshots, %d rows left out", looks, kept)
	}
	b.setKbps(16)
	b.lobby.replication.players.overdue = b.lobby.replication.players.overdue[:0]
	for range 3 {
		b.tickAll()
	}
	if n := len(b.lobby.replication.players.overdue); n != 0 {
		t.Errorf("%d rows go before all others that were told a moment ago", n)
	}
}

// Objects sent row by row after a resync leave nothing to materialize, with or without a limit.
func TestObjectsForgetBlocks(t *testing.T) {
	alone(t)
	b := newClientLobby(t, 40, Config{Players: 40, JoinBytes: minJoinBytes, Rules: sim.Rules{Mix: true}})
	b.firing(9)
	b.play(6)
	blocks, rows := 0, 0
	for at := range 120 {
		for _, slot := range b.lobby.live {
			if c := &b.lobby.conns[slot]; at == 60 {
				if c.repl.acks.objects.allSentAt != 0 {
					blocks++
				}
				c.repl.acks.objects.dropBaselines()
			}
		}
		b.tickAll()
		for _, slot := range b.lobby.live {
			c := &b.lobby.conns[slot]
			by := c.repl.acks.objects.selection
			if c.repl.pacing.sent != b.lobby.match.Tick() || by != objectsBudget && by != objectsJoinTurns {
				continue
			}
			if rows++; c.repl.acks.objects.allSentAt != 0 {
				t.Fatalf("tick %d: client %v is told of objects row by row, and would be taken to be "+
					"told all in %d", c.repl.pacing.sent, c.id, c.repl.acks.objects.allSentAt)
			}
		}
	}
	if blocks < 20 || rows < 20 {
		t.Errorf("%d clients sent of all, %d parts row by row", blocks, rows)
	}
}

// Hits of long ago do not count as combat when priorities are computed again.
func TestCombatBehindBlocks(t *testing.T) {
	b := newClientLobby(t, 4, Config{Players: 16, Kbps: 2000})
	b.brain = func(int) client.Intent { return client.Intent{} }
	b.play(2)
	l := b.lobby
	c, other := &l.conns[b.players[0].ID().Index()], b.players[1].ID().Index()
	if c.repl.view.byRow || c.repl.view.interest == nil {
		t.Fatal("not in blocks")
	}
	c.repl.view.noteOpponent(other)
	l.replication.players.combatUntil[other] = l.match.Tick() + 2*combatSeconds*60
	b.play(5)
	if c.repl.view.blocks == 0 || c.combatSetsWith(other) == 0 {
		t.Fatal("the hit was not noted")
	}
	l.replication.lookAtPlayers(&c.repl, lookVisible)
	l.replication.addPriority(&c.repl)
	if c.combatSetsWith(other) != 0 || c.repl.view.blocks != 0 {
		t.Error("who was hit five seconds ago is still a foe")
	}
	c.repl.view.noteOpponent(other)
	c.repl.view.blocks, l.replication.players.combatUntil[other] = l.match.Tick(), l.match.Tick()+1
	l.replication.players.combat[other>>6] |= 1 << (other & 63)
	c.repl.view.combatSwap = 0
	l.replication.lookAtPlayers(&c.repl, lookVisible)
	if l.replication.addPriority(&c.repl); c.combatSetsWith(other) == 0 {
		t.Error("who was hit just now is no foe")
	}
}

// combatSetsWith returns the number of the client's combat sets that contain a slot.
func (c *conn) combatSetsWith(slot int) (n int) {
	for _, w := range [2]uint64{c.repl.view.combat[slot>>6],
		c.repl.view.combat[len(c.repl.view.combat)/2+slot>>6]} {
		n += int(w >> (slot & 63) & 1)
	}
	return n
}

// A tick in which no limit binds allocates nothing, and neither does the first in which all bind.
func TestLooseTickAllocatesNothing(t *testing.T) {
	alone(t)
	for _, cfg := range []Config{{Players: 40, Kbps: 1000}, {Players: 40, Kbps: 1000, ViewDistance: 12}} {
		b := newClientLobby(t, 40, cfg)
		b.turnPlayers(1)
		b.play(fullOrShort(4, 2))
		before := b.counted()
		tick := func() {
			b.now = b.lobby.cfg.Rules.Rate.At(b.lobby.match.Tick() + 1)
			if err := b.lobby.Tick(b.now, b.unix(), b.conn); err != nil {
				t.Fatal(err)
			}
		}
		if n := alloctest.In(30, tick); n != 0 || b.counted()[0] < before[0]+100 ||
			b.count(metrics.SnapshotsOverBudget) != 0 {
			t.Errorf("%v allocations in %d snapshots, %d squeezed", n,
				b.counted()[0]-before[0], b.count(metrics.SnapshotsOverBudget))
		}
		b.setKbps(16)
		if n := alloctest.In(30, tick); n != 0 || b.count(metrics.SnapshotsOverBudget) == 0 {
			t.Errorf("%v allocations while %d are squeezed", n, b.count(metrics.SnapshotsOverBudget))
		}
	}
}

// In a period each group is due once, and the due snapshots of a group lie at baseline ages while no
// period is longer than the first third of a baseline's life.
func TestGroupTurnsReachEveryGroup(t *testing.T) {
	for period := 1; period <= snapshot.MaxAge/3; period *= 2 {
		for slot := range 40 * snapshot.GroupRows {
			due := 0
			for at := range period {
				if (groupTurn{uint8(at), uint8(period)}).due(slot) {
					due++
				}
			}
			if due != 1 || !snapshot.IsBaselineAge(period) || !snapshot.IsBaselineAge(2*period) {
				t.Fatalf("period %d: slot %d is due %d times", period, slot, due)
			}
		}
	}
}
