package lobbysim

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// The views that the server resolves for a shot are those of all slots, less those that the shot
// cannot touch: over bad links, under a budget, with players that come and go, every omitted target
// is missed in the view that judges it and in the view that was seen.
func TestOmittedViewsAreMisses(t *testing.T) {
	skipUnderRace(t)
	links := impair.Presets()
	for _, c := range []struct {
		name  string
		link  impair.Profile
		kbps  int
		every int
	}{
		{"mobile, 32 kbit/s", links[2].Profile, 32, 3},
		{"bad, 32 kbit/s", links[3].Profile, 32, 3},
		{"wifi, 24 kbit/s, slow", links[1].Profile, 24, 6},
	} {
		t.Run(c.name, func(t *testing.T) { omittedViews(t, c.link, c.kbps, c.every) })
	}
}

func omittedViews(t *testing.T, link impair.Profile, kbps, every int) {
	const n = 48
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Clients: n, Seed: 26, Link: link,
		Brain: func(n int) swarm.Brain { return trigger{swarm.NewBot(26, n)} },
		Lobby: server.Config{Players: n, Kbps: kbps, SendInterval: every, Arena: a, ArenaName: "arena-64",
			Rules: sim.Rules{Seed: 26, RespawnMillis: 1000, RewindMillis: 1000, Mix: true,
				Game: rapidFire()}}})
	if err != nil {
		t.Fatal(err)
	}
	m := b.Lobby.Match()
	h, resolve := m.History(), m.ViewResolver()
	var all []sim.TargetView
	shots, full, kept, late := 0, 0, 0, 0
	m.SetViewResolver(func(s *sim.Shot, reach sim.ShotReach) ([]sim.TargetView, []uint64) {
		list, plain := resolve(s, sim.ShotReach{})
		all = append(all[:0], list...)
		every := slices.Clone(plain)
		list, plain = resolve(s, reach)
		if !slices.Equal(plain, every) {
			t.Fatalf("tick %d: regular slots differ", m.Tick())
		}
		shots, full, kept = shots+1, full+len(all), kept+len(list)
		left := list
		for _, want := range all {
			if len(left) > 0 && left[0].Slot == want.Slot {
				if left[0].View != want.View || left[0].Expired != want.Expired ||
					!want.Expired && left[0].Seen != want.Seen {
					t.Fatalf("tick %d: %+v, want %+v", m.Tick(), left[0], want)
				}
				if want.Seen != want.View {
					late++
				}
				left = left[1:]
				continue
			}
			_, judged := h.CastSlot(&s.Sweep, int(want.Slot), want.View, lagcomp.Hit{})
			_, seen := h.CastSlot(&s.Sweep, int(want.Slot), want.Seen, lagcomp.Hit{})
			if judged || seen || want.Expired {
				t.Fatalf("tick %d: %+v was omitted, judged %v, seen %v", m.Tick(), want, judged, seen)
			}
		}
		if len(left) > 0 {
			t.Fatalf("tick %d: %+v is too many", m.Tick(), left)
		}
		return list, plain
	})
	for i := range 500 {
		if i%40 == 39 { // a player leaves, another comes
			who := i / 40 % n
			b.Leave(who)
			if err := b.Connect(who); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d shots: %d missing targets, %d resolved, %d of them seen otherwise than judged", shots, full,
		kept, late)
	if shots < 1000 || full < 1000 || kept > full*4/5 || late == 0 {
		t.Error("the cases prove little")
	}
}
