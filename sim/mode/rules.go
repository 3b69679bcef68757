package mode

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Kind is the objective of a round.
type Kind uint8

// The kinds.
const (
	Deathmatch Kind = iota
	Assault
	kinds // how many there are
)

// Teams is how many teams a match has. Attackers and Defenders are theirs in Assault.
const (
	Teams     = 2
	Attackers = 0
	Defenders = 1
)

// MaxPoints is how many capture points a match may have.
const MaxPoints = 8

// Params is the numbers of a mode. Compile checks and converts them.
type Params struct {
	Name            string // for errors and lists
	Kind            Kind
	MinPlayers      uint16 // of both teams together, to begin; 1 to 10000
	PrematchMillis  int32  // Countdown; 0 to 600000
	RoundMillis     int32  // Active; 1000 to 7200000
	PostmatchMillis int32  // Ended; 0 to 600000
	RespawnMillis   int32  // from a death to the respawn; 0 to 60000
	ScoreLimit      int32  // of Deathmatch, ends the round; 0: only time does; to 1000000
	Points          uint8  // of Assault, 1 to MaxPoints; else 0
	CaptureMillis   int32  // of Assault, what one attacker needs for a point, 100 to 600000; else 0
	// of Assault: how many points behind the attacked one its defenders spawn; 0: at it; to
	// MaxPoints
	SpawnBehind uint8
}

// DefaultDeathmatch is FPSSample's deathmatch.
func DefaultDeathmatch() Params {
	return Params{
		Name: "deathmatch", Kind: Deathmatch, MinPlayers: 2,
		PrematchMillis: 20000, RoundMillis: 420000, PostmatchMillis: 10000, RespawnMillis: 10000,
	}
}

// DefaultAssault is FPSSample's assault.
func DefaultAssault() Params {
	return Params{
		Name: "assault", Kind: Assault, MinPlayers: 2,
		PrematchMillis: 10000, RoundMillis: 420000, PostmatchMillis: 10000, RespawnMillis: 10000,
		Points: 3, CaptureMillis: 10000,
	}
}

// Rules are compiled Params, for one tick rate. They are read-only; any number of matches share
// them.
type Rules struct {
	Params
	rate                       uint32
	prematch, round, postmatch uint32 // ticks, at least 1
	respawn                    tick.Tick
	full                       uint32 // progress of a captured point, in 1/unit attacker ticks
}

// Compile checks the numbers and converts them. The error names the first field that is out of
// range, and the range.
func (p Params) Compile(rate tick.Rate) (*Rules, error) {
	if !rate.Valid() {
		return nil, fmt.Errorf("mode %s: %d ticks a second, want %d to %d", p.Name, rate, tick.MinRate,
			tick.MaxRate)
	}
	points, capture := int64(0), int64(0)
	if p.Kind == Assault {
		points, capture = 1, 100
	}
	for _, c := range []struct {
		name      string
		v, lo, hi int64
	}{
		{"Kind", int64(p.Kind), 0, int64(kinds) - 1},
		{"MinPlayers", int64(p.MinPlayers), 1, 10000},
		{"PrematchMillis", int64(p.PrematchMillis), 0, 600000},
		{"RoundMillis", int64(p.RoundMillis), 1000, 7200000},
		{"PostmatchMillis", int64(p.PostmatchMillis), 0, 600000},
		{"RespawnMillis", int64(p.RespawnMillis), 0, 60000},
		{"ScoreLimit", int64(p.ScoreLimit), 0, 1000000 * (1 - points)},
		{"Points", int64(p.Points), points, MaxPoints * points},
		{"CaptureMillis", int64(p.CaptureMillis), capture, 600000 * points},
		{"SpawnBehind", int64(p.SpawnBehind), 0, MaxPoints * points},
	} {
		if c.v < c.lo || c.v > c.hi {
			return nil, fmt.Errorf("mode %s: %s: %d, want %d to %d", p.Name, c.name, c.v, c.lo, c.hi)
		}
	}
	ticks := func(millis int32) uint32 { return uint32((int64(millis)*int64(rate) + 999) / 1000) }
	return &Rules{
		Params: p, rate: uint32(rate),
		prematch: max(1, ticks(p.PrematchMillis)), round: ticks(p.RoundMillis),
		postmatch: max(1, ticks(p.PostmatchMillis)),
		respawn:   tick.Tick(ticks(p.RespawnMillis)),
		full:      uint32(int64(p.CaptureMillis) * int64(rate) * captureUnit / 1000),
	}, nil
}

// MustCompile is Compile for numbers that are known to be valid; it panics for others.
func (p Params) MustCompile(rate tick.Rate) *Rules {
	r, err := p.Compile(rate)
	if err != nil {
		panic("mode: " + err.Error())
	}
	return r
}

// CaptureTotal is the Progress at which a point is captured; 0 without points.
func (r *Rules) CaptureTotal() uint32 { return r.full }

// Seconds is the time that a phase has left, rounded up.
func (r *Rules) Seconds(s *State) uint32 { return (s.Left + r.rate - 1) / r.rate }
