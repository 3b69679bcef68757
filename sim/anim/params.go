package anim

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

// Params is how a hero is animated: metres, seconds and degrees. Times are from 0 to full weight.
type Params struct {
	Cycle       float64 // metres of two steps, running
	SprintCycle float64 // the same, sprinting
	TopSpeed    float64 // m/s at which Gait is full
	Still       float64 // m/s; slower is standing
	FullBank    float64 // m/s2 to the side for a full Bank, at least 4
	TurnAfter   float64 // degrees between view and hips that start a turn on the spot, at most 90
	TurnWithin  float64 // degrees that end it
	HipsSpeed   float64 // degrees a second
	Shuffle     float64 // cycles a second while turning on the spot
	SoftFall    float64 // m/s at touchdown that need no squat
	HardFall    float64 // m/s that bend the knees fully; more than SoftFall

	GaitTime, BankTime  float64
	SquatTime, RiseTime float64 // into the squat, out of it
	CollapseTime        float64 // of the dead
}

// DefaultParams are the numbers of a hero of lagcomp/rig. FPSSample keeps them in animation
// assets; these fit its speeds.
func DefaultParams(h rig.Hero) Params {
	p := Params{
		Cycle: 3.0, SprintCycle: 3.8, TopSpeed: 8, Still: 0.3, FullBank: 16,
		TurnAfter: 60, TurnWithin: 4, HipsSpeed: 450, Shuffle: 1.4, SoftFall: 4, HardFall: 20,
		GaitTime: 0.2, BankTime: 0.25, SquatTime: 0.08, RiseTime: 0.5, CollapseTime: 0.6,
	}
	if h == rig.Robot {
		p.Cycle, p.SprintCycle, p.HipsSpeed, p.RiseTime = 3.6, 4.5, 360, 0.6
	}
	return p
}

// Rates is Params in integers for one rate of ticks.
type Rates struct {
	stances                      [rig.Dead + 1]stanceRates
	still                        uint32 // VelUnits
	turnAfter                    int32  // angle units
	turnWithin                   int32
	hips                         int32 // angle units a tick
	soft, hard                   int32 // of falls, see fallsPerMetre
	gaitStep, bankStep, riseStep int32 // of weights, a tick
}

// stanceRates is how a stance advances the phase, and the goals of its weights.
type stanceRates struct {
	perUnit, perTick uint32 // 2^-32 cycles: for one VelUnit of speed, and for nothing
	gaitPerUnit      uint32 // weight for one VelUnit, 2^-8
	gait             int32  // weight besides
	squat            int32  // weight
	squatStep        int32  // towards more
	bank             int64  // weight per VelUnit and angle unit of turn; 2^-32/0x4000
}

// Table is the rates of all heroes.
type Table [rig.Heroes]Rates

// fallsPerMetre is the precision of a fall, in parts of m/s.
const fallsPerMetre = 4

// Compile makes Rates of p. It panics if a number is out of its range, as content is checked where
// it is read.
func Compile(p Params, rate tick.Rate) Rates {
	ok := p.Cycle > 0.5 && p.SprintCycle > 0.5 && p.TopSpeed > 0.1 && p.Still >= 0 && p.FullBank >= 4 &&
		p.TurnAfter > 0 && p.TurnAfter <= 90 && p.TurnWithin > 0 && p.TurnWithin < p.TurnAfter &&
		p.HipsSpeed > 0 &&
		p.Shuffle >= 0 && p.Shuffle <= 8 && p.SoftFall >= 0 && p.SoftFall < p.HardFall && p.HardFall < 60 &&
		rate.Valid()
	for _, time := range []float64{p.GaitTime, p.BankTime, p.SquatTime, p.RiseTime, p.CollapseTime} {
		ok = ok && time >= 0 && time <= 60
	}
	if !ok {
		panic(fmt.Sprintf("anim: Compile of %+v at %d Hz", p, rate))
	}
	hz := float64(rate)
	round := func(x float64) float64 { return math.Floor(float64(x) + 0.5) }
	step := func(time float64) int32 {
		return int32(min(max(round(full/max(float64(time*hz), 1)), 1), full))
	}
	degrees := func(d float64) int32 { return int32(round(d * 65536 / 360)) }
	radians := float64(2 * math.Pi / 65536 * hz) // a second, for one angle unit a tick
	r := Rates{
		still:     uint32(round(p.Still / move.VelUnit)),
		turnAfter: degrees(p.TurnAfter), turnWithin: degrees(p.TurnWithin),
		hips: max(degrees(p.HipsSpeed/hz), 1),
		soft: int32(round(p.SoftFall * fallsPerMetre)), hard: int32(round(p.HardFall * fallsPerMetre)),
		gaitStep: step(p.GaitTime), bankStep: step(2 * p.BankTime), riseStep: step(p.RiseTime),
	}
	cycles := func(metres float64) uint32 {
		return uint32(round(1 << 32 * move.VelUnit / float64(hz*metres)))
	}
	gait := uint32(round(full * 256 * move.VelUnit / p.TopSpeed))
	soften := step(p.SquatTime)
	bank := int64(round(1 << 32 * 32767 * move.VelUnit * radians / (0x4000 * p.FullBank)))
	walk := stanceRates{bank: bank, perUnit: cycles(p.Cycle), gaitPerUnit: gait, squatStep: soften}
	sprint, air := walk, walk
	sprint.perUnit = cycles(p.SprintCycle)
	air.perUnit /= 4 // legs go on, but not as fast
	air.bank = 0
	land := air // reach for the ground
	land.squat = full / 3
	r.stances = [rig.Dead + 1]stanceRates{
		rig.Stand: {bank: bank, gaitPerUnit: gait, squatStep: soften},
		rig.Turn: {bank: bank, perTick: uint32(round(1 << 32 * p.Shuffle / hz)), gait: full / 8,
			squatStep: soften},
		rig.Run:    walk,
		rig.Sprint: sprint,
		rig.Jump:   air,
		rig.InAir:  air,
		rig.Land:   land,
		rig.Dead:   {squat: full, squatStep: step(p.CollapseTime)},
	}
	return r
}

// DefaultTable compiles the defaults of all heroes.
func DefaultTable(rate tick.Rate) *Table {
	t := new(Table)
	for h := range t {
		t[h] = Compile(DefaultParams(rig.Hero(h)), rate)
	}
	return t
}
