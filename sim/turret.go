package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/object"
)

// Turret is a crossbow that a map places. It belongs to the player that stood at it last, and
// shoots bolts at the nearest player that its owner may hurt.
type Turret struct {
	Pos  geom.Vec3 // its foot
	Aim  geom.Vec3 // direction of its last bolt
	Next tick.Tick // at which it looks for a target again
}

// Numbers of turrets.
const (
	turretMuzzle = 1.5 // metres above the foot
	turretChest  = 1.1 // metres above the feet of the player that it aims at
	turretReach  = 2   // metres from which a player takes it
	turretRange  = 40  // metres
	turretMillis = 500 // from bolt to bolt
	turretSearch = 100 // milliseconds from one search for a target to the next
	turretDamage = 12  // points
)

// pageTurret is the page of their net ids.
const pageTurret = 10

const dTurrets Datum = "turrets"

// turrets is the resource of their columns.
type turrets struct {
	id     []netid.ID
	turret []Turret
	owner  []Owner
	sweep  [1]lagcomp.Sweep // of the bolt at hand
	hit    [1]lagcomp.Hit
}

func init() {
	declareKind(&kindSpec{
		name: "turret", page: pageTurret, datum: dTurrets, is: "turrets, and the players that they belong to",
		columns: []columnSpec{column[Turret](full), column[Owner](full)},
		byName:  true,
		count:   func(m *Match) int { return m.layout().countObjects("turret") },
		place:   placeTurrets,
		restart: placeTurrets,
		bind:    bindTurrets,
		valid:   validTurrets,
		systems: []placedSystem{{"grenades", System{
			"turrets", "gives turrets to players that stand at them, and shoots at their owners' enemies",
			[]Datum{dTurrets, dMotion, dVital, dHistory}, []Datum{dTurrets, dDamage}, Server, runTurrets,
		}}},
	})
}

// placeTurrets writes all turrets as the map has them, without an owner.
func placeTurrets(m *Match) {
	t := ecs.Resource[turrets](m.World)
	for i := range t.turret {
		o := m.layout().object("turret", i)
		t.turret[i], t.owner[i] = Turret{Pos: o.Pos, Aim: geom.Forward(o.Yaw, 0)}, Owner{}
	}
}

func bindTurrets(m *Match) {
	t := ecs.Resource[turrets](m.World)
	if t == nil {
		t = &turrets{}
		ecs.SetResource(m.World, t)
	}
	t.id, t.turret, t.owner = m.idsOf(pageTurret), rowsOf[Turret](m, pageTurret), rowsOf[Owner](m, pageTurret)
}

func validTurrets(m *Match) error {
	for i, t := range ecs.Resource[turrets](m.World).turret {
		if t.Pos != m.layout().object("turret", i).Pos || t.Next > m.Tick()+m.rules.ticks(turretMillis) {
			return wrong("turret", t)
		}
	}
	return nil
}

// runTurrets lets players take turrets, and turrets shoot.
func runTurrets(c *columns) {
	if c.match.World.Count(c.match.kinds[pageTurret]) == 0 {
		return
	}
	t := ecs.Resource[turrets](c.match.World)
	for i := range t.turret {
		c.claimTurret(&t.turret[i], &t.owner[i])
		c.shootTurret(t, i)
	}
}

// claimTurret gives a turret to the nearest living player at it, and takes it from one that has
// left.
func (c *columns) claimTurret(t *Turret, owner *Owner) {
	if _, ok := c.row(owner.ID); !ok {
		owner.ID = 0
	}
	if row := c.nearest(t.Pos, turretReach, func(int) bool { return true }); row >= 0 {
		owner.ID = c.id[row]
	}
}

// shootTurret shoots at the nearest enemy of a turret's owner that it sees, when it is time. A search
// casts a ray at each enemy in range that a wall hides, so a turret without a target searches every
// turretSearch only. A bolt is as fast as a rifle's round, and the owner's friends do not stop it.
func (c *columns) shootTurret(all *turrets, i int) {
	t, owner := &all.turret[i], all.owner[i].ID
	row, ok := c.row(owner)
	if !ok || c.clock.Tick < t.Next {
		return
	}
	muzzle := t.Pos.Add(geom.Vec3{Y: turretMuzzle})
	target := c.nearest(t.Pos, turretRange, func(row int) bool {
		return c.match.Harms(all.id[i], c.id[row]) && c.sees(muzzle, row)
	})
	if target < 0 {
		t.Next = c.clock.Tick + c.match.rules.ticks(turretSearch)
		return
	}
	t.Next = c.clock.Tick + c.match.rules.ticks(turretMillis)
	t.Aim = c.chest(target).Sub(muzzle).Normalize()
	all.sweep[0] = lagcomp.Sweep{Ray: geom.Ray{Origin: muzzle, Dir: t.Aim, Max: turretRange},
		View: c.history.DelayedView(c.clock.Tick, 0), Except: uint32(owner), Spare: lagcomp.TeamOf(c.vital[row].Team)}
	c.scene.Players.Cast(all.sweep[:], all.hit[:])
	if hit := &all.hit[0]; hit.ID != 0 {
		c.scene.Damage.Add(object.Damage{Victim: netid.ID(hit.ID), Instigator: owner,
			Cause: object.CauseProjectile, Points: turretDamage})
	}
}

// chest is where a turret aims at a player.
func (c *columns) chest(row int) geom.Vec3 { return c.pos[row].Add(geom.Vec3{Y: turretChest}) }

// sees reports that no wall stands between a place and a player.
func (c *columns) sees(from geom.Vec3, row int) bool {
	to := c.chest(row).Sub(from)
	_, blocked := c.arena.RaycastAt(geom.Ray{Origin: from, Dir: to.Normalize(), Max: to.Len()}, c.moment())
	return !blocked
}

// nearest is the row of the nearest living player within reach of a place that is chosen, -1 if
// there is none.
func (c *columns) nearest(at geom.Vec3, reach float32, chosen func(row int) bool) int {
	best, least := -1, float32(reach*reach)
	for row := range c.pos {
		if !c.vital[row].Alive() || c.vital[row].Team == lagcomp.NoTeam {
			continue
		}
		if d := c.pos[row].Sub(at).LenSq(); d <= least && (best < 0 || d < least) && chosen(row) {
			best, least = row, d
		}
	}
	return best
}

// Turrets is the number of turrets of a match.
func Turrets(m *Match) int { return len(ecs.Resource[turrets](m.World).turret) }

// TurretOf is turret i of a match in the order of its map, and its owner; false if there is none.
func TurretOf(m *Match, i int) (t Turret, owner netid.ID, ok bool) {
	all := ecs.Resource[turrets](m.World)
	if i < 0 || i >= len(all.turret) {
		return t, 0, false
	}
	return all.turret[i], all.owner[i].ID, true
}
