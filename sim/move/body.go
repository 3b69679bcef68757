package move

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Params is the numbers of a body. Compile checks and converts them.
type Params struct {
	RadiusMetres float32 // of the capsule; 0.25 to 0.75
	HeightMetres float32 // of the capsule; more than twice the radius, at most 4
	EyeMetres    float32 // of the eyes above the feet; 0 to the height
	StepMetres   float32 // what is no higher is stepped on; 0 to 0.8
	SlopeDegrees float32 // what is steeper is a wall; 10 to 80

	WalkSpeed       float32 // m/s; 0 to 30, as all speeds here
	SprintSpeed     float32 // m/s
	Acceleration    float32 // on the ground, 1/s, in multiples of the speed; 0 to 1000
	Friction        float32 // on the ground, 1/s; 0 to 1000
	AirAcceleration float32 // 1/s
	AirFriction     float32 // 1/s
	Gravity         float32 // m/s2; 0 to 100
	FallSpeed       float32 // no fall is faster, m/s; 0 to TopSpeed
	StickGravity    float32 // m/s2 that hold a walker to the ground; 0 to 1000
	JumpMetres      float32 // height of a jump, m
	JumpMillis      int32   // ms of the rise, after which gravity acts; 1 to 10000
	Jumps           uint8   // without touching the ground, the first one included; 0 to 3
	Arc             Arc     // of a rocket jump; none if its time is 0
}

// Arc is a rocket jump: the body flies at a fixed speed towards where it looked when it began,
// along a direction that turns from one elevation to another. Then it falls.
type Arc struct {
	Speed        float32 // m/s; 0 to 60
	StartDegrees float32 // elevation at the beginning, upwards positive; -90 to 90
	EndDegrees   float32 // and at the end
	Millis       int32   // 0 to 10000
}

// DefaultParams are the numbers of FPSSample's Terraformer.
func DefaultParams() Params {
	return Params{
		RadiusMetres: Radius, HeightMetres: Height, EyeMetres: EyeHeight, StepMetres: StepHeight,
		SlopeDegrees: SlopeLimit,
		WalkSpeed:    WalkSpeed, SprintSpeed: RunSpeed, Acceleration: 30, Friction: 16, AirAcceleration: 1,
		AirFriction: 0.5,
		Gravity:     Gravity, FallSpeed: FallSpeed, StickGravity: 400, JumpMetres: JumpHeight,
		JumpMillis: 300,
		Jumps:      2,
	}
}

// RobotParams are the numbers of the Robot's body: wider and taller, as fast.
func RobotParams() Params {
	p := DefaultParams()
	p.RadiusMetres, p.HeightMetres, p.EyeMetres = 0.5, 2.2, 1.9
	return p
}

// Body is a compiled body. It is read-only and serves every tick rate: times are compared with tick
// counts in whole numbers. Many rows may share it.
type Body struct {
	// The capsule that collides, in multiples of PosUnit (see the package comment), and what
	// follows from it.
	radius, height, shoulder float32 // shoulder: where the upper half sphere begins
	bare, bareSq             float32 // nearer than this is a touch
	radiusSq, invRadius      float32
	tanLimit, cosLimit       float32 // of the steepest floor
	step, stepTop            float32
	wide, below, above       float32 // how far gather looks aside, down and up
	// longest way between two tests; below the radius, so that no wall is ever jumped
	stride, strideSq, invStride float32
	walk, run                   float32
	accel, friction             float32
	airAccel, airFriction       float32
	gravity, fallSpeed, stick   float32
	jumpSpeed                   float32
	jumpMillis, arcMillis       uint32
	arcSpeed                    float32
	arcStart, arcTurn           int32 // elevation and what it turns by, 1/65536 turn
	jumps                       uint8
	eye                         float32
}

// skin is how deep a touch is left alone: rounding may cause it, and pushing it out would tremble.
const skin = 2. / 4096

// Compile checks the numbers and converts them. The error names the first field that is out of
// range, and the range.
func (p Params) Compile() (*Body, error) {
	for _, c := range []struct {
		name      string
		v, lo, hi float32
	}{
		{"RadiusMetres", p.RadiusMetres, 0.25, 0.75},
		{"HeightMetres", p.HeightMetres, float32(2*p.RadiusMetres) + 0.01, 4},
		{"EyeMetres", p.EyeMetres, 0, p.HeightMetres},
		{"StepMetres", p.StepMetres, 0, 0.8},
		{"SlopeDegrees", p.SlopeDegrees, 10, 80},
		{"WalkSpeed", p.WalkSpeed, 0, 30},
		{"SprintSpeed", p.SprintSpeed, 0, 30},
		{"Acceleration", p.Acceleration, 0, 1000},
		{"Friction", p.Friction, 0, 1000},
		{"AirAcceleration", p.AirAcceleration, 0, 1000},
		{"AirFriction", p.AirFriction, 0, 1000},
		{"Gravity", p.Gravity, 0, 100},
		{"FallSpeed", p.FallSpeed, 0, TopSpeed},
		{"StickGravity", p.StickGravity, 0, 1000},
		{"JumpMillis", float32(p.JumpMillis), 1, 10000},
		{"JumpMetres", p.JumpMetres, 0, TopSpeed * float32(p.JumpMillis) / 1000},
		{"Jumps", float32(p.Jumps), 0, 3},
		{"Arc.Speed", p.Arc.Speed, 0, 60},
		{"Arc.StartDegrees", p.Arc.StartDegrees, -90, 90},
		{"Arc.EndDegrees", p.Arc.EndDegrees, -90, 90},
		{"Arc.Millis", float32(p.Arc.Millis), 0, 10000},
	} {
		if !(c.v >= c.lo && c.v <= c.hi) {
			return nil, fmt.Errorf("%s: %v, want %v to %v", c.name, c.v, c.lo, c.hi)
		}
	}
	b := &Body{
		walk: p.WalkSpeed, run: p.SprintSpeed, accel: p.Acceleration, friction: p.Friction,
		airAccel: p.AirAcceleration, airFriction: p.AirFriction,
		gravity: p.Gravity, fallSpeed: p.FallSpeed, stick: p.StickGravity,
		jumpSpeed:  float32(float64(p.JumpMetres) * 1000 / float64(p.JumpMillis)),
		jumpMillis: uint32(p.JumpMillis), jumps: p.Jumps, eye: p.EyeMetres,
		arcSpeed: p.Arc.Speed, arcMillis: uint32(p.Arc.Millis), arcStart: turns(p.Arc.StartDegrees),
		arcTurn: turns(p.Arc.EndDegrees) - turns(p.Arc.StartDegrees),
	}
	b.shape(p)
	return b, nil
}

// shape is what follows from the capsule. It is reckoned in float64, where sums and products of
// such numbers are exact or as good, and rounded once.
func (b *Body) shape(p Params) {
	grid := func(x float32) float64 { return float64(math.Floor(roundDecimal(x)/PosUnit) * PosUnit) }
	r, h := grid(p.RadiusMetres), grid(p.HeightMetres)
	bare := r - skin
	b.radius, b.height, b.shoulder = float32(r), float32(h), float32(h-r)
	b.bare, b.bareSq = float32(bare), float32(bare*bare)
	b.radiusSq, b.invRadius = float32(r*r), float32(1/r)
	slope := roundDecimal(p.SlopeDegrees) * (math.Pi / 180)
	b.tanLimit, b.cosLimit = float32(truncateDigits(math.Tan(slope))),
		float32(truncateDigits(math.Cos(slope)))
	step := roundDecimal(p.StepMetres)
	b.step, b.stepTop = float32(step), float32(step+skin)
	b.wide, b.below, b.above = float32(r+slack), float32(step+slack), float32(h+step+slack)
	stride := min(0.36, 0.9*roundDecimal(p.RadiusMetres), arena.Reach-(r+slack))
	b.stride, b.strideSq, b.invStride = float32(stride), float32(stride*stride), float32(1/stride)
}

// roundDecimal is x as it was written, not as float32 has it: 0.4, not 0.4000000059604645.
func roundDecimal(x float32) float64 { return math.Round(float64(x)*1e6) / 1e6 }

// truncateDigits cuts x to seven places, so that no processor's tangent shows.
func truncateDigits(x float64) float64 { return math.Round(x*1e7) / 1e7 }

func turns(degrees float32) int32 {
	return int32(math.Round(roundDecimal(degrees) * (geom.Turn / 360.)))
}

// MustCompile is Compile for numbers that are known to be valid; it panics for others.
func (p Params) MustCompile() *Body {
	b, err := p.Compile()
	if err != nil {
		panic("move: " + err.Error())
	}
	return b
}

// Eye returns the eye position when the feet are at pos.
func (b *Body) Eye(pos geom.Vec3) geom.Vec3 { return geom.Vec3{X: pos.X, Y: pos.Y + b.eye, Z: pos.Z} }

// passed reports whether ticks at rate ticks/s last at least millis ms, in exact integers.
func passed(ticks uint16, rate uint16, millis uint32) bool {
	return uint32(ticks)*1000 >= uint32(rate)*millis
}
