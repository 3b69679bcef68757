package predict

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
)

// Field is a field of a State: on both sides of a Correction.
type Field struct {
	Name      string `json:"name"`
	Predicted any    `json:"predicted"` // a number, a bool or a string
	Server    any    `json:"server"`    // of the same type
}

// Fields returns both states field by field, in the order of State. Positions are metres,
// velocities m/s, times ticks.
func (c *Correction) Fields(kit *sim.CompiledGame) []Field {
	p, s := &c.Predicted, &c.Server
	f := fields{}
	f.vector("pos", p.Motion.Pos, s.Motion.Pos)
	f.vector("vel", p.Motion.Vel, s.Motion.Vel)
	f.add("loco", p.Motion.Loco.String(), s.Motion.Loco.String())
	f.add("loco.since", p.Motion.Since, s.Motion.Since)
	f.add("jumps", p.Motion.Jumps, s.Motion.Jumps)
	f.add("held", p.Motion.Held, s.Motion.Held)
	f.add("dead", p.Dead, s.Dead)
	f.add("pushes", p.Pushes, s.Pushes)
	f.add("hero", p.Hero, s.Hero)
	f.add("team", p.Team, s.Team)
	a, b := &p.Abilities, &s.Abilities
	hero := kit.Hero(s.Hero)
	for _, mask := range []struct {
		name string
		p, s uint8
	}{
		{"request", a.Request, b.Request}, {"active", a.Active, b.Active},
		{"cooling", a.Cooling, b.Cooling}, {"on", a.On, b.On}, {"asked", a.Asked, b.Asked},
		{"reloading", a.Reloading, b.Reloading},
	} {
		f.add("abilities."+mask.name, slotNames(hero, mask.p), slotNames(hero, mask.s))
	}
	for i := range hero.Len() {
		name, p, s := hero.Name(i), &a.Slots[i], &b.Slots[i]
		f.add(name+".load", p.Load, s.Load)
		f.add(name+".count", p.Count, s.Count)
		f.add(name+".cool", p.Cool, s.Cool)
		f.add(name+".heat", p.Heat, s.Heat)
	}
	return f
}

// Differs reports whether the two sides of a field differ.
func (f *Field) Differs() bool { return f.Predicted != f.Server }

type fields []Field

func (f *fields) add(name string, predicted, server any) {
	*f = append(*f, Field{name, predicted, server})
}

func (f *fields) vector(name string, p, s geom.Vec3) {
	f.add(name+".x", p.X, s.X)
	f.add(name+".y", p.Y, s.Y)
	f.add(name+".z", p.Z, s.Z)
}

// slotNames names the abilities in a mask; "-" for none.
func slotNames(h *ability.Hero, mask uint8) (names string) {
	for ; mask != 0; mask &= mask - 1 {
		if names != "" {
			names += ", "
		}
		names += h.Name(bits.TrailingZeros8(mask))
	}
	if names == "" {
		return "-"
	}
	return names
}
