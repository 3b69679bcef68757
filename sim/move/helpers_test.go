package move

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
)

// standard is the default body.
var standard = DefaultParams().MustCompile()

// Step is Body.Step of the default body without a team.
func Step(m Motion, in Input, a *arena.Arena, rate uint16) Motion {
	return standard.Step(m, in, NoTeam, a, atRate(rate))
}

// teamless is the BodyTeam of n default bodies without a team.
func teamless(n int) []BodyTeam {
	who := make([]BodyTeam, n)
	for i := range who {
		who[i].Team = NoTeam
	}
	return who
}

// batch is the memory of the tests' StepBodies: what one call leaves in it must not matter to
// another.
var batch Batch

// stepColumns is StepBodies of default bodies without a team.
func stepColumns(c Columns, in []Input, a *arena.Arena, rate uint16) {
	batch.StepBodies(Rows{c, in, teamless(len(in))}, []*Body{standard}, a, atRate(rate))
}

// atRate is tick 0 at a tick rate: for arenas without movers.
func atRate(rate uint16) arena.Moment { return arena.Moment{Rate: tick.Rate(rate)} }
