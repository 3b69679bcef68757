package effect

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/object"
)

// Kind is the kind of an effect.
type Kind uint8

// The kinds. Those up to Explosion follow from rows.
const (
	None      Kind = iota
	Shot           // the first weapon fired
	Launch         // the second weapon fired or threw
	Punch          // a punch swept
	Footstep       // a foot came down
	Jump           // a player left the ground
	Land           // a player came back to it
	Death          // a player died
	Teleport       // a teleporter took a player
	Explosion      // a grenade, a projectile with splash or a barrel exploded
	Impact         // a round or a projectile struck something
	Damage         // the own player was hurt
	Hit            // the own player hurt another: the server's confirmation
	Kinds          // how many kinds there are, None included
)

var kindNames = [Kinds]string{"none", "shot", "launch", "punch", "footstep", "jump", "land", "death",
	"teleport", "explosion", "impact", "damage", "hit"}

// String names the kind.
func (k Kind) String() string {
	if k < Kinds {
		return kindNames[k]
	}
	return "invalid"
}

// Surface is what an impact struck.
type Surface uint8

// The surfaces.
const (
	Map    Surface = iota // ground, wall
	Player                // Target, at Bone
	Object                // a barrel or a cube
	surfaces
)

// String names the surface.
func (s Surface) String() string {
	if s < surfaces {
		return [surfaces]string{"map", "player", "object"}[s]
	}
	return "invalid"
}

// Effect is one effect, or several equal ones of a tick. Those of shots, launches, punches, impacts
// and explosions may be registered in the content pack; the others are of the game's own kinds.
//
//	kind       Pos             Dir                       Strength          Amount
//	shot       eye             of the view               0                 0
//	launch     eye             of the view               0                 0
//	punch      eye             of the view               0                 0
//	footstep   feet            0                         gait, 0 to 1      0
//	explosion  centre          0                         radius, metres    0
//	impact     point           normal of the surface     0                 0
//	damage     the victim      in which it pushes        impulse, m/s      points
//	hit        0               0                         0                 points
type Effect struct {
	Kind     Kind
	Count    uint8   // equal effects, 1 or more
	Surface  Surface // of an impact
	Bone     rig.Bone
	Cause    object.Cause // of an impact, damage or a hit
	Tick     tick.Tick    // in which it happened; of derived ones the snapshot that shows it
	Pos, Dir geom.Vec3    // metres; a unit vector, or 0 where there is none
	Strength float32
	Amount   uint16
	// Registered is the row of the content pack that presents it; 0: none does. It follows from the
	// hero, the projectile or the object, and takes no bytes.
	Registered content.EffectID
	Source     netid.ID // the player behind it; 0: the world, or hidden from the receiver
	Target     netid.ID // the player that it happened to; 0: none
}
