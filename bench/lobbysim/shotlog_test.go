package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// newCombatLobby is a small lobby whose players are likely to meet, with links so slow that some
// views are clamped.
func newCombatLobby(t testing.TB, records int) *Sim {
	t.Helper()
	b, err := New(Config{
		Clients: 16, Seed: 4, Link: impair.Profile{Delay: 100 * time.Millisecond,
			Jitter: 30 * time.Millisecond},
		Lobby: server.Config{Arena: arena.Generate(8, 4), ArenaName: "test", Players: 16,
			Rules: sim.Rules{Seed: 4}, ShotLogSize: records},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every shot and punch of a match has one shot record, which equals the match's result. A shot
// whose claimed view was accepted was judged by that view, to the bit. The shot log does not change
// the match.
func TestShotLogIsRight(t *testing.T) {
	b, plain := newCombatLobby(t, 64), newCombatLobby(t, 0)
	ring := b.Lobby.ShotLog()
	if plain.Lobby.ShotLog() != nil {
		t.Fatal("shot records without a shot log")
	}
	var number uint64
	var verdicts [8]int
	var clamps [16]int
	exact, missed := 0, 0
	for range 40 * 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		if err := plain.Step(); err != nil {
			t.Fatal(err)
		}
		m := b.Lobby.Match()
		out := m.Outcome()
		got := ring.Since(number, 0, nil)
		number = ring.Count()
		if len(got) != len(out.Shots)+len(out.Punches) {
			t.Fatalf("tick %d: %d records of %d rounds and %d punches",
				m.Tick(), len(got), len(out.Shots), len(out.Punches))
		}
		for i := range got {
			r := &got[i]
			verdicts[r.Verdict]++
			clamps[r.ClampReason]++
			var s *sim.Shot
			if r.Melee != (i >= len(out.Shots)) {
				t.Fatalf("record %d of %d rounds: melee %v", i, len(out.Shots), r.Melee)
			}
			if s = &out.Punches[:cap(out.Punches)][max(i-len(out.Shots), 0)]; !r.Melee {
				s = &out.Shots[i]
				if h := &out.Hits[i]; (h.ID != 0) != (r.Verdict == lagcomp.HitPlayer) || h.ID != 0 &&
					(h.ID != r.Subject || h.Bone != r.Bone || h.Distance != r.Distance ||
						h.Point != r.Point || h.Normal != r.Normal) {
					t.Fatalf("%+v of %+v", *r, *h)
				}
			}
			if r.Tick != m.Tick() || r.Shooter != s.Shooter || r.Used != s.View || r.Ray != s.Ray ||
				(r.ClampReason == lagcomp.ClampNone) != (r.Claimed == r.Used) || r.Nanos != 0 {
				t.Fatalf("%+v of %+v", *r, *s)
			}
			if r.Subject == 0 {
				continue
			}
			at, ok := m.History().At(r.Used, netid.ID(r.Subject).Index())
			if !ok || r.Poses&lagcomp.PoseRewound == 0 || at != r.Rewound {
				t.Fatalf("%+v: the subject stood %+v", *r, at)
			}
			if r.ClampReason == lagcomp.ClampNone {
				if exact++; r.Seen != r.Rewound || r.Shift != 0 {
					t.Fatalf("%+v: judged by its own claim, and not what it saw", *r)
				}
			}
			if r.Verdict == lagcomp.HitPlayer {
				if hit, ok := lagcomp.Test(rig.HeroBodies, r.Ray, r.Radius, &r.Rewound); !ok ||
					hit.Distance != r.Distance || r.Normal == (geom.Vec3{}) {
					t.Fatalf("%+v: the pose in it is hit at %+v", *r, hit)
				}
			} else if r.Verdict != lagcomp.NotVisible {
				if _, hit := lagcomp.Test(rig.HeroBodies, r.Ray, r.Radius, &r.Rewound); hit || r.Miss < 0 {
					t.Fatalf("%+v: a miss that hits", *r)
				}
				missed++
			}
		}
	}
	if b.Lobby.Match().Hash() != plain.Lobby.Match().Hash() {
		t.Error("the shot log changed the match")
	}
	t.Logf("%d records, verdicts %v, clamps %v, %d exact, %d near misses",
		number, verdicts, clamps, exact, missed)
	if verdicts[lagcomp.HitPlayer] < 20 || verdicts[lagcomp.HitWall] < 20 || exact < 20 || missed < 20 ||
		clamps[lagcomp.ClampCap] < 5 {
		t.Error("the cases prove little")
	}
}

// With a shot log, too, a steady tick allocates nothing.
func TestShotLogAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	steadyTick(t, server.Config{ShotLogSize: 4096})
}
