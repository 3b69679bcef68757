package lobbysim

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// known counts all players, and the players with a row that a client holds and can still show.
func known(b *Sim, cl *client.Client) (holds, there int) {
	var row [netstate.PublicFields]int32
	newest := cl.Newest()
	f := b.Lobby.Frame(newest)
	if f == nil {
		return 0, 1
	}
	for slot := range f.Slots() {
		id := f.ID(slot)
		if id == 0 {
			continue
		}
		there++
		for back := tick.Tick(0); back < 64*3 && back < newest; back += 3 {
			if got, ok := cl.Row(newest-back, slot, row[:]); ok && got == id {
				holds++
				break
			}
		}
	}
	return holds, there
}

// A client that joins a full lobby gets no snapshot over its budget, and holds all players after at
// most one and a half times the snapshots that the whole world takes at its largest. Without a join
// budget the first snapshot has all of it.
func TestJoinWithoutASpike(t *testing.T) {
	skipUnderRace(t)
	const players, rowBytes = 256, 26 // a row without a baseline takes 195 bits, a gap and a byte's padding
	for _, c := range []struct {
		relevance server.Relevance
		kbps      int
		most      int // bytes of a snapshot; 0: there is no limit
		loss      float64
	}{
		{server.RelevanceOff, 0, 0, 0},
		{server.RelevanceAll, 0, 4800, 0},
		{server.RelevanceAll, 0, 4800, 0.05},
		{server.RelevanceGrid, 0, 4800, 0},
		{server.RelevanceAll, 256, 256_000 / 8 / 20 * 5 / 4, 0},
		{server.RelevanceGrid, 256, 256_000 / 8 / 20 * 5 / 4, 0.05},
	} {
		t.Run(fmt.Sprintf("%v/%d kbps/%g loss", c.relevance, c.kbps, c.loss), func(t *testing.T) {
			if testing.Short() && (c.relevance != server.RelevanceGrid || c.kbps == 0) {
				t.Skip("players by the hundred")
			}
			most := 0
			var b *Sim
			b, err := New(Config{
				Clients: players, Seed: 9, Decode: client.DecodeOwn,
				Link: impair.Profile{Delay: 75 * time.Millisecond, Loss: c.loss},
				Lobby: server.Config{Arena: arena.Generate(players, 9), ArenaName: "test",
					Players: players + 1, Rules: sim.Rules{Seed: 9},
					Relevance: c.relevance, Kbps: c.kbps},
				WrapTick: func(tick func() error) error {
					err := tick()
					bytes := 0
					for i := range b.wire.out.entries {
						if at, data := b.wire.out.get(i); at == b.ClientAddr(0) {
							bytes += len(data)
						}
					}
					most = max(most, bytes)
					return err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				if err := b.Step(); err != nil {
					t.Fatal(err)
				}
			}
			b.Leave(0)
			for range 10 {
				_ = b.Step()
			}
			if err := b.Connect(0); err != nil {
				t.Fatal(err)
			}
			most = 0
			complete := 0
			for n, end := 0, 60*4; n < end; n++ {
				if err := b.Step(); err != nil {
					t.Fatal(err)
				}
				if complete == 0 {
					if has, there := known(b, b.Clients[0]); has == there {
						complete, end = int(b.Clients[0].Stats().Snapshots), min(end, n+30)
					}
				}
			}
			st := b.Clients[0].Stats()
			t.Logf("largest snapshot %d B, everybody held after %d snapshots", most, complete)
			if st.Undecoded != 0 || st.Diverged != 0 {
				t.Errorf("%d not decoded, %d diverged", st.Undecoded, st.Diverged)
			}
			if c.most == 0 {
				if most < players*18 {
					t.Errorf("a world of %d players in %d B: this test has no spike to prevent",
						players, most)
				}
				return
			}
			// 150 ms for the round trip, and lost rows are sent again.
			bound := 5 + (3*players*rowBytes/(c.most*4/5-200)+4)/2
			if most > c.most || complete == 0 || complete > bound {
				t.Errorf("a snapshot of %d B, want at most %d; everybody held after %d, want at most %d",
					most, c.most, complete, bound)
			}
		})
	}
}

// TestRow65Importance is row 65 of docs/features.md: under a limit players that are near
// or in combat are sent more often, and no visible player waits as long as a baseline lasts.
func TestRow65Importance(t *testing.T) {
	skipUnderRace(t)
	const players = 64
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Clients: players, Seed: 65, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 20 * time.Millisecond},
		Lobby: server.Config{Arena: a, ArenaName: "arena-64", Players: players, Kbps: 40, CellSize: 4,
			Rules: sim.Rules{Seed: 65, RespawnMillis: 2000}}})
	if err != nil {
		t.Fatal(err)
	}
	var due, sent [3]int // near, far in combat, far without combat
	var last, fights [players]tick.Tick
	newest, longest := tick.Tick(0), tick.Tick(0)
	var row [netstate.PublicFields]int32
	for range 60 * 40 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		m := b.Lobby.Match()
		for _, e := range m.Outcome().Events {
			fights[e.Actor.Index()], fights[e.Victim.Index()] = e.Tick, e.Tick
		}
		cl := b.Clients[0]
		at := cl.Newest()
		if at == newest || at < 60*5 {
			continue
		}
		newest = at
		f := b.Lobby.Frame(at)
		me := netstate.PoseOf(f.Row(cl.ID().Index(), row[:]), row[:])
		for slot := range players {
			if slot == cl.ID().Index() {
				continue
			}
			if f.ID(slot) == 0 {
				last[slot] = 0
				continue
			}
			other := netstate.PoseOf(f.Row(slot, row[:]), row[:])
			distance, class := other.Pos.Sub(me.Pos).Len(), 2
			switch {
			case distance < 7:
				class = 0
			case distance > 28 && fights[slot]+60 > at && fights[slot] != 0:
				class = 1
			case distance <= 28 || fights[slot]+150 > at && fights[slot] != 0:
				class = -1
			}
			_, ok := cl.Row(at, slot, row[:])
			if class >= 0 {
				due[class]++
				if ok {
					sent[class]++
				}
			}
			if ok {
				last[slot] = at
			} else if last[slot] != 0 {
				longest = max(longest, at-last[slot])
			}
		}
	}
	rate := func(class int) float64 { return float64(sent[class]) / float64(max(1, due[class])) }
	t.Logf("sent in a snapshot: %.2f of near rows, %.2f of rows in combat, %.2f of others "+
		"(%d, %d, %d rows); the longest wait is %d ticks",
		rate(0), rate(1), rate(2), due[0], due[1], due[2], longest)
	if due[0] < 100 || due[1] < 100 || due[2] < 100 {
		t.Fatalf("%d near, %d fighting, %d others", due[0], due[1], due[2])
	}
	if rate(0) < 2*rate(2) || rate(1) < 2*rate(2) || rate(2) == 0 {
		t.Errorf("sent in a snapshot: near %.2f, fighting %.2f, others %.2f", rate(0), rate(1), rate(2))
	}
	if longest >= 48*3 {
		t.Errorf("a player waited %d ticks, longer than a baseline lasts", longest)
	}
	if n := b.Lobby.Stats.Count[metrics.SnapshotsOverBudget].Load(); n == 0 {
		t.Error("there was room for all: the limit is none")
	}
}

// With a bandwidth far below demand the farthest players are clipped, and every other one is sent
// before its baseline is too old, at each load level.
func TestNobodyInSightWaitsTooLong(t *testing.T) {
	skipUnderRace(t)
	const players = 120
	for i, level := range []overload.Level{overload.Normal, overload.HalfRate, overload.QuarterRate} {
		if i > 0 && testing.Short() {
			break
		}
		b, err := New(Config{Clients: players, Seed: 16, Decode: client.DecodeOwn,
			Link: impair.Profile{Delay: 20 * time.Millisecond},
			Lobby: server.Config{Arena: arena.Generate(players, 16), ArenaName: "test", Players: players,
				Kbps: 16, Rules: sim.Rules{Seed: 16}}})
		if err != nil {
			t.Fatal(err)
		}
		b.Lobby.SetLoadLevel(level)
		var last [players]tick.Tick
		var row [netstate.PublicFields]int32
		newest, longest, seen, snapshots := tick.Tick(0), tick.Tick(0), 0, 0
		for range 60 * 20 {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			cl := b.Clients[0]
			at := cl.Newest()
			if at == newest {
				continue
			}
			newest = at
			snapshots++
			for slot := range players {
				switch id, ok := cl.Row(at, slot, row[:]); {
				case ok && id != 0:
					last[slot] = at
				case ok:
					last[slot] = 0
				}
				if last[slot] != 0 {
					longest = max(longest, at-last[slot])
					seen++
				}
			}
		}
		s := &b.Lobby.Stats
		t.Logf("load level %v: %d players in sight, the longest wait is %d ticks, "+
			"%d of %d snapshots clipped", level, seen/max(1, snapshots), longest,
			s.Count[metrics.SnapshotsClipped].Load(), s.Count[metrics.Snapshots].Load())
		if longest >= 48*3 {
			t.Errorf("load level %v: a player waited %d ticks, longer than a baseline lasts", level, longest)
		}
		if n := seen / max(1, snapshots); n < players/8 || n >= players ||
			s.Count[metrics.SnapshotsClipped].Load() == 0 {
			t.Errorf("load level %v: %d players in sight, %d snapshots clipped",
				level, n, s.Count[metrics.SnapshotsClipped].Load())
		}
		if st := b.Clients[0].Stats(); st.Undecoded != 0 || st.Diverged != 0 || snapshots < 20*20/4/4 {
			t.Errorf("load level %v: %d snapshots, %d not decoded, %d diverged",
				level, snapshots, st.Undecoded, st.Diverged)
		}
	}
}
