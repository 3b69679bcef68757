package sim

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// CompiledGame is a Game at a tick rate, as server and client play it. It is read-only; any number
// of matches share it.
type CompiledGame struct {
	Rate            tick.Rate
	Seed            uint64
	Heroes          []*ability.Hero
	Bodies          []*move.Body // of the heroes
	Figures         []rig.Hero   // skeletons of the heroes
	Anim            *anim.Table  // of the skeletons
	ProjectileKinds []object.CompiledProjectile
	GrenadeKinds    []object.CompiledGrenade // one
	Mode            *mode.Rules
	game            *Game
}

// Compile checks the game and converts it. The error names what is wrong, and what was expected.
func (r Rules) Compile() (*CompiledGame, error) {
	r = r.WithDefaults()
	g := r.Game
	k := &CompiledGame{Rate: r.Rate, Seed: r.Seed, game: g,
		GrenadeKinds: []object.CompiledGrenade{g.Grenade.Compile(r.Rate)}, Anim: anim.DefaultTable(r.Rate)}
	if n := len(g.Heroes); n < 1 || n > MaxHeroes {
		return nil, fmt.Errorf("%d heroes: expected 1 to %d", n, MaxHeroes)
	}
	for i := range g.Heroes {
		if err := k.addHero(&g.Heroes[i]); err != nil {
			return nil, err
		}
	}
	for i := range g.Projectiles {
		a := &g.Projectiles[i]
		if !(a.Radius >= 0 && a.Radius <= lagcomp.MaxSweepRadius &&
			a.Splash.Radius <= lagcomp.MaxSweepRadius) {
			return nil, fmt.Errorf("projectile %s: radius %v m, splash %v m: expected 0 to %v", a.Name,
				a.Radius, a.Splash.Radius, float32(lagcomp.MaxSweepRadius))
		}
		k.ProjectileKinds = append(k.ProjectileKinds, a.Compile(r.Rate))
	}
	if g.HeadScale < 1 || g.HeadScale > 100 {
		return nil, fmt.Errorf("a hit of the head counts %d times: expected 1 to 100", g.HeadScale)
	}
	p := g.Mode
	p.RespawnMillis = r.RespawnMillis
	var err error
	if k.Mode, err = p.Compile(r.Rate); err != nil {
		return nil, err
	}
	if err := g.Layout.checkObjects(); err != nil {
		return nil, err
	}
	if err := g.checkItems(); err != nil {
		return nil, err
	}
	// Game.OnArena places missing points
	if n := len(g.Layout.Points); n > mode.MaxPoints || n > 0 && n < int(p.Points) {
		return nil, fmt.Errorf("%d capture points: expected %d, as the mode %s says, to %d", n, p.Points,
			p.Name, mode.MaxPoints)
	}
	return k, nil
}

// addHero compiles the abilities and body of a hero, and checks that its projectiles exist.
func (k *CompiledGame) addHero(p *Hero) error {
	h, err := p.Compile(k.Rate)
	if err != nil {
		return err
	}
	b, err := p.Body.Compile()
	if err != nil {
		return fmt.Errorf("hero %s: body: %w", p.Name, err)
	}
	for i := range p.Slots {
		s := &p.Slots[i]
		for _, flies := range [2]ability.Projectile{s.Gun.Projectile, s.Launcher.Projectile} {
			if flies != ability.Hitscan && flies != ability.Grenade && int(flies) > len(k.game.Projectiles) {
				return fmt.Errorf("hero %s: slots[%d] %q: projectile %d of %d", p.Name, i, s.Name, flies,
					len(k.game.Projectiles))
			}
			if flies == ability.Grenade && k.game.Grenade.LifeMillis <= 0 {
				return fmt.Errorf("hero %s: slots[%d] %q: throws grenades, and the game has none", p.Name,
					i, s.Name)
			}
		}
	}
	k.Heroes, k.Bodies, k.Figures = append(k.Heroes, h), append(k.Bodies, b),
		append(k.Figures, skeletonFor(&p.Body))
	return nil
}

// Hero is the hero with an id; an unknown id is the first hero.
func (k *CompiledGame) Hero(id uint8) *ability.Hero { return k.Heroes[k.heroOrFirst(id)] }

// Body is the body of a hero, as Hero.
func (k *CompiledGame) Body(id uint8) *move.Body { return k.Bodies[k.heroOrFirst(id)] }

// BarrelKind is the kind of all barrels, CubeKind that of all cubes.
func (k *CompiledGame) BarrelKind() object.BarrelKind { return k.game.Barrel }
func (k *CompiledGame) CubeKind() object.CubeKind     { return k.game.Cube }

// heroOrFirst is a hero's id, or 0 if it is unknown.
func (k *CompiledGame) heroOrFirst(id uint8) uint8 {
	if int(id) < len(k.Heroes) {
		return id
	}
	return 0
}

// Self is what an owner predicts of its player, and what that depends on besides commands and the
// arena.
type Self struct {
	Motion    move.Motion
	Abilities ability.State
	Hero      uint8
	Team      uint8
}

// StepPlayer takes a living player through one tick of its command, as a match does in its systems
// of side Both, to the same bits. out is overwritten; its actions start where s ends, see ShotRay.
func (k *CompiledGame) StepPlayer(s *Self, c *Command, a *arena.Arena, out *ability.Actions) {
	hero := k.heroOrFirst(s.Hero)
	in := stepAbilities(&s.Abilities, abilityInput(c, s.Motion.Loco), c, k.Heroes[hero], out)
	if launches(out) {
		s.Motion = move.Launch(s.Motion, c.Yaw)
	}
	s.Motion = k.Bodies[hero].Step(s.Motion, in, s.Team, a, arena.Moment{Tick: c.Tick, Rate: k.Rate})
}

// abilityInput is what a command asks of the abilities of a living player, whose motion is in loco
// as of the last tick.
func abilityInput(c *Command, loco move.Loco) ability.Input {
	return ability.Input{
		Tick: c.Tick, Buttons: uint16(c.Buttons), MoveYaw: c.MoveYaw, MoveMag: c.MoveMag,
		Grounded: loco.Grounded(), Alive: true,
	}
}

// stepAbilities runs a player's abilities and returns what is left for the motion.
func stepAbilities(
	s *ability.State, keys ability.Input, c *Command, h *ability.Hero, out *ability.Actions,
) move.Input {
	ability.Step(s, keys, h, out)
	in := move.Input{Yaw: c.Yaw, MoveYaw: c.MoveYaw}
	if out.Move {
		in.MoveMag, in.Buttons = c.MoveMag, uint16(c.Buttons)&move.Jump
	}
	if out.Sprint {
		in.Buttons |= move.Sprint
	}
	return in
}

// launches reports whether a tick's actions have a rocket jump.
func launches(out *ability.Actions) bool {
	for i := range out.All() {
		if out.List[i].Kind == ability.ActionLaunch {
			return true
		}
	}
	return false
}

// NeedsView reports whether an action is judged by its player's view: such a tick's command must
// name one.
func NeedsView(does ability.ActionKind) bool {
	return does == ability.ActionShot || does == ability.ActionProjectile || does == ability.ActionMelee
}

// ShotRay is the ray of a shot or a punch that a player's action starts in the tick of its
// command, after the movement.
func (k *CompiledGame) ShotRay(id uint32, hero uint8, pos geom.Vec3, c *Command, a *ability.Action) geom.Ray {
	return geom.Ray{
		Origin: k.Body(hero).Eye(pos), Max: a.Range,
		Dir: ability.Aim(ability.DrawKey{Seed: k.Seed, Entity: id, Tick: c.Tick, Shot: a.Shot}, c.Yaw,
			c.Pitch, a.Cone),
	}
}

// Eye returns the eye position of a player of the default body standing at pos.
func Eye(pos geom.Vec3) geom.Vec3 { return geom.Vec3{X: pos.X, Y: pos.Y + move.EyeHeight, Z: pos.Z} }
