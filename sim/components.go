package sim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/anim"
)

// Velocity is in m/s. It is a type of its own since a component is found by its type.
type Velocity geom.Vec3

// Look is a player's view direction.
type Look struct{ Yaw, Pitch geom.Angle }

// Vital is a player's health, team, hero and score.
type Vital struct {
	Health        int16 // points, <= 0 = dead
	Team          uint8 // 0 or 1
	Hero          uint8 // of Game.Heroes
	RequestedHero uint8 // 1 + the requested hero; 0 none
	Life          uint8 // counts placements: spawns, teleports, hero changes; modulo 256
	// counts what no client predicts of its player: knock-backs, placements, and clips that an item
	// fills; modulo 256
	Pushes  uint8
	Kills   uint16    // points: enemies killed during rounds
	Deaths  uint16    // since joining, or since the round began
	Died    tick.Tick // tick of the death; 0: may respawn at once
	Respawn tick.Tick // tick of the respawn as things are; 0 = alive
}

// Alive reports whether the player takes part.
func (v *Vital) Alive() bool { return v.Respawn == 0 }

// place counts a placement.
func (v *Vital) place() {
	v.Life++
	v.Pushes++
}

// ClampLimits is what the server has measured of a player's connection; shots are clamped by it.
// It is a component that the server refreshes before each tick, so that a recorded match replays
// with it.
type ClampLimits struct{ lagcomp.ClampLimits }

// PublicPosPerMetre is the grid of public positions: 1/128 m. Public yaw and pitch are in 1/4096
// turn.
const PublicPosPerMetre = 128

// PublicPose writes a player's public appearance into p, rounded as on the wire; shots are tested
// against it too. It writes all of p.
func (v *Vital) PublicPose(p *rig.Pose, id uint32, pos *geom.Vec3, look Look, a *anim.State) {
	p.ID = id
	p.Pos = geom.Vec3{X: grid(pos.X), Y: grid(pos.Y), Z: grid(pos.Z)}
	p.Yaw = seenYaw(look.Yaw)
	p.Pitch = geom.Angle(uint16(clampPitch(look.Pitch.Signed()+8)) &^ 15)
	p.Flags = rig.Flags(v.Alive(), v.Team, v.Life)
	anim.WritePose(a, p)
}

// seenYaw rounds to the nearest 1/4096 turn.
func seenYaw(yaw geom.Angle) geom.Angle { return (yaw + 8) &^ 15 }

// clampPitch limits a pitch to straight down and straight up, in 1/65536 turn.
func clampPitch(p int16) int16 { return min(max(p, -0x4000), 0x4000) }

// grid rounds to the nearest 1/128 m, halves upwards; the product and the floor are exact in
// float32 here.
func grid(x float32) float32 {
	n := int32(float32(x*PublicPosPerMetre) + 0.5)
	if float32(n) > float32(x*PublicPosPerMetre)+0.5 {
		n--
	}
	return float32(n) / PublicPosPerMetre
}
