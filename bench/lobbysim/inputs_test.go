package lobbysim

import (
	"github.com/tickrate/tickrate/client"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestRow44InputsUnderLoss is row 44 of docs/features.md with the real server, at length:
// at 20 % of random loss each way more than 999 of 1000 ticks run with their player's own command,
// at 30 % burst loss more than 97 of 100. Every missed command is reported to its client. No tick
// runs twice, and no command is applied in the place of another.
func TestRow44InputsUnderLoss(t *testing.T) {
	skipUnderRace(t)
	burst := func(datagrams float64) impair.Profile { // 30 % of them are lost
		return impair.Profile{Delay: 30 * time.Millisecond, Jitter: 4 * time.Millisecond,
			Burst: 0.3 / 0.7 / datagrams, BurstLength: datagrams}
	}
	for _, c := range []struct {
		name string
		link impair.Profile
		own  float64 // least share of ticks
	}{
		{"20 % alone", impair.Profile{Delay: 30 * time.Millisecond, Jitter: 4 * time.Millisecond,
			Loss: 0.2}, 0.999},
		{"30 % in bursts of 3", burst(3), 0.97},
		{"30 % in bursts of 5", burst(5), 0.97},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := arena.Open("arena-16")
			if err != nil {
				t.Fatal(err)
			}
			const clients = 8
			b, err := New(Config{
				Clients: clients, Seed: 44, Link: c.link, Decode: client.DecodeOwn,
				Lobby: server.Config{Arena: a, ArenaName: "arena-16", Players: clients,
					Rules: sim.Rules{Seed: 44}},
			})
			if err != nil {
				t.Fatal(err)
			}
			play := func(d time.Duration) {
				for end := b.Now() + d; b.Now() < end; {
					if err := b.Step(); err != nil {
						t.Fatal(err)
					}
				}
			}
			count := func() (in [clients]sim.CommandCounts) {
				for i, c := range b.Clients {
					in[i] = b.Lobby.Match().CommandBuffer(c.ID()).Count
				}
				return in
			}
			play(6 * time.Second)
			before, from := count(), b.Lobby.Match().Tick()
			minutes := 5 * time.Minute
			if testing.Short() {
				minutes = 40 * time.Second
			}
			play(minutes)
			after, ticks := count(), uint64(b.Lobby.Match().Tick()-from)
			for i := range b.Clients { // the last reports come through
				up, down := b.Links(i)
				up.SetProfile(impair.Profile{Delay: 30 * time.Millisecond})
				down.SetProfile(impair.Profile{Delay: 30 * time.Millisecond})
			}
			play(2 * time.Second)
			used, missing := uint64(0), uint64(0)
			for i, in := range count() {
				u, m := after[i].Used-before[i].Used, after[i].Missing-before[i].Missing
				if u+m != ticks || in.Conflict != 0 || in.Future != 0 {
					t.Errorf("client %d: %d ticks with its command and %d without, of %d; %+v",
						i, u, m, ticks, in)
				}
				if counted := b.Clients[i].Stats().InputsMissing; counted != in.Missing {
					t.Errorf("client %d counts %d missing inputs, the server %d", i, counted, in.Missing)
				}
				slot := b.Clients[i].ID().Index()
				if counted := b.Lobby.Stats.SlotMissing[slot].Load(); counted > in.Missing ||
					counted < in.Missing-min(in.Missing, after[i].Missing/100) { // tallied once a second
					t.Errorf("slot %d has %d missing inputs, client %d %d", slot, counted, i, in.Missing)
				}
				if s := b.Clients[i].Stats(); s.HardResets != 0 {
					t.Errorf("client %d: %d hard resets", i, s.HardResets)
				}
				used, missing = used+u, missing+m
			}
			if share := float64(used) / float64(used+missing); share < c.own {
				t.Errorf("%.5f of %d ticks ran with the player's own command, want %v",
					share, used+missing, c.own)
			}
			t.Logf("%.5f of %d ticks ran with the player's own command",
				float64(used)/float64(used+missing), used+missing)
		})
	}
}
