package effect

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

func testTracker(t *testing.T, self netid.ID) (*Tracker, *sim.CompiledGame) {
	t.Helper()
	kit, err := sim.Rules{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return NewTracker(kit, arena.Generate(16, 7), 16, self), kit
}

// kindsOf is kinds and counts.
func kindsOf(all []Effect) (out []Effect) {
	for _, e := range all {
		out = append(out, Effect{Kind: e.Kind, Count: e.Count, Bone: e.Bone})
	}
	return out
}

// What a player's rows count and show becomes effects, each once: counters that go round, rows that
// are missing, feet, jumps and deaths. Another player in the slot, and a row that is too late, give
// nothing.
func TestRow71EffectsFollowFromPlayers(t *testing.T) {
	k, _ := testTracker(t, 0)
	id, other := netid.Make(3, 1), netid.Make(3, 2)
	row := func(shots, punches, phase uint8, s rig.Stance, alive bool) netstate.PlayerState {
		return netstate.PlayerState{Shots: shots, Punches: punches & 15, Phase: phase, Stance: s,
			Flags: rig.Flags(alive, 1, 0) ^ netstate.StateAlive, Gait: 3}
	}
	life := func(n uint8, p netstate.PlayerState) netstate.PlayerState {
		p.Flags = rig.Flags(true, 1, n) ^ netstate.StateAlive
		return p
	}
	one := func(kinds ...Kind) (out []Effect) {
		for _, kind := range kinds {
			out = append(out, Effect{Kind: kind, Count: 1})
		}
		return out
	}
	for i, c := range []struct {
		t    tick.Tick
		id   netid.ID
		row  netstate.PlayerState
		want []Effect
	}{
		{3, id, row(250, 14, 0, rig.Run, true), nil}, // nothing before it
		{6, id, row(252, 14, 6, rig.Run, true), []Effect{{Kind: Shot, Count: 2}}},
		{6, id, row(253, 14, 7, rig.Run, true), nil}, // the same tick
		{9, id, row(252, 14, 9, rig.Run, true), []Effect{{Kind: Footstep, Count: 1, Bone: rig.FootL}}},
		{12, id, row(252, 14, 9, rig.Run, true), nil},
		{15, id, row(1, 1, 26, rig.Sprint, true), []Effect{{Kind: Shot, Count: 5}, {Kind: Punch, Count: 3},
			{Kind: Footstep, Count: 1, Bone: rig.FootR}}},
		{18, id, row(1, 1, 30, rig.Jump, true), one(Jump)},
		{21, id, row(1, 1, 30, rig.InAir, true), nil},
		{24, id, row(1, 1, 30, rig.Stand, true), one(Land)},
		{27, id, row(1, 1, 30, rig.InAir, true), nil}, // over an edge
		{20, id, row(9, 1, 30, rig.InAir, true), nil}, // late
		{30, id, row(2, 1, 30, rig.Dead, false), one(Shot, Death)},
		{33, id, row(2, 1, 30, rig.Dead, false), nil},
		{36, other, row(90, 1, 30, rig.Run, true), nil},
		{39, other, row(91, 1, 30, rig.Run, true), one(Shot)},
		{42, 0, netstate.PlayerState{}, nil},
		{45, other, row(99, 1, 30, rig.Run, true), nil},
		{200, other, row(120, 1, 30, rig.Run, true), nil}, // much later
		{203, other, row(121, 1, 30, rig.Dead, false), one(Shot, Death)},
		{206, other, row(0, 0, 30, rig.Dead, false), nil}, // another hero, for its next life
		{209, other, life(1, row(1, 0, 30, rig.Run, true)), one(Shot)},
		{212, other, life(2, row(2, 0, 30, rig.Run, true)), one(Shot)}, // it was teleported
		{230, other, life(3, row(1, 0, 30, rig.Run, true)), one(Shot)}, // it died and is back
		{233, other, life(3, row(2, 1, 30, rig.Run, true)), one(Shot, Punch)},
	} {
		got := k.Player(nil, c.t, 3, c.id, &c.row)
		if !slices.Equal(kindsOf(got), c.want) {
			t.Errorf("%d: %+v, want %+v", i, kindsOf(got), c.want)
		}
		for _, e := range got {
			if e.Source != c.id || e.Tick != c.t || e.Kind == Shot && e.Dir.Len() < 0.99 {
				t.Errorf("%d: %+v", i, e)
			}
		}
	}
}

// A client predicts its own shots: its tracker leaves them out, and keeps its steps.
func TestRow71OwnShotsAreLeftOut(t *testing.T) {
	id := netid.Make(3, 1)
	k, _ := testTracker(t, id)
	p := netstate.PlayerState{Stance: rig.Run, Flags: rig.Flags(true, 1, 0) ^ netstate.StateAlive}
	k.Player(nil, 3, 3, id, &p)
	p.Shots, p.Throws, p.Punches, p.Phase = 4, 1, 1, 10
	if got := k.Player(nil, 6, 3, id, &p); len(got) != 1 || got[0].Kind != Footstep {
		t.Errorf("%+v", got)
	}
}

// Flights that end, barrels that break and teleporters that are used become effects, once, also for
// a receiver that first hears of them when they are over; what was over long ago does not.
func TestRow71EffectsFollowFromObjects(t *testing.T) {
	k, kit := testTracker(t, 0)
	rocket := uint8(slices.IndexFunc(kit.ProjectileKinds, func(p object.CompiledProjectile) bool {
		return p.Splash.Radius > 0
	}))
	rivet := uint8(slices.IndexFunc(kit.ProjectileKinds, func(p object.CompiledProjectile) bool {
		return p.Splash.Radius == 0
	}))
	floor := geom.Vec3{X: 1, Z: 1}
	owner := uint32(netid.Make(2, 1))
	projectile := func(kind uint8, phase object.HitKind, span uint16) netstate.ObjectState {
		return netstate.ObjectState{Kind: netstate.Projectile, Type: kind, Owner: owner, Born: 100, Span: span,
			Pos: floor, Phase: uint8(phase)}
	}
	barrel := netstate.ObjectState{Kind: netstate.Barrel, Level: 10}
	broken := netstate.ObjectState{Kind: netstate.Barrel, Phase: 1, Born: 118}
	port := func(born uint16) netstate.ObjectState {
		return netstate.ObjectState{Kind: netstate.Teleporter, Phase: 1, Born: born}
	}
	for i, c := range []struct {
		t    tick.Tick
		slot int
		row  netstate.ObjectState
		want []Kind
	}{
		{103, 0, projectile(rocket, object.Flying, 0), nil},
		{106, 0, projectile(rocket, object.HitGround, 5), []Kind{Impact, Explosion}},
		{109, 0, projectile(rocket, object.HitGround, 5), nil},
		{106, 1, projectile(rivet, object.HitBody, 4), []Kind{Impact}}, // first heard of when over
		{180, 2, projectile(rivet, object.HitBody, 4), nil},            // long ago
		{118, 3, barrel, nil},
		{121, 3, broken, []Kind{Explosion}},
		{124, 3, broken, nil},
		{121, 4, port(119), []Kind{Teleport}},
		{124, 4, port(119), nil},
		{127, 4, port(126), []Kind{Teleport}}, // used again
		{121, 5, netstate.ObjectState{Kind: netstate.Grenade, Phase: 1, Born: 100, Span: 20}, []Kind{Explosion}},
		{121, 6, netstate.ObjectState{Kind: netstate.Cube, Phase: 1, Born: 120}, nil},
		{124, 7, projectile(15, object.HitGround, 20), nil}, // of no kind
	} {
		got := k.Object(nil, c.t, c.slot, netid.Make(5000+c.slot, 1), &c.row)
		if len(got) != len(c.want) {
			t.Errorf("%d: %+v, want %v", i, got, c.want)
			continue
		}
		for n, e := range got {
			if e.Kind != c.want[n] || e.Kind == Explosion && e.Strength <= 0 || e.Tick > c.t ||
				c.row.Owner != 0 && e.Source != netid.ID(owner) {
				t.Errorf("%d: %+v, want %v", i, e, c.want[n])
			}
		}
		if i == 1 && (got[0].Surface != Map || got[0].Dir.Y < 0.9 || got[0].Tick != 105) {
			t.Errorf("struck %+v, want the floor in tick 105", got[0])
		}
	}
}
