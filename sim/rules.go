package sim

import "github.com/tickrate/tickrate/ecs/tick"

// Rules are a lobby's settings of its match. The zero value of a field means its default.
type Rules struct {
	Rate          tick.Rate // ticks a second, 20 to 144; default 60
	Seed          uint64    // of every random draw
	RewindMillis  int32     // furthest that a shot may look back; default the game's
	RespawnMillis int32     // from a death to the respawn; default the mode's
	Mix           bool      // players get the heroes in turns, by slot; else the first hero
	Game          *Game     // default DefaultGame
}

// WithDefaults returns r with every zero field set to its default.
func (r Rules) WithDefaults() Rules {
	set(&r.Rate, tick.DefaultRate)
	if r.Game == nil {
		r.Game = DefaultGame()
	}
	set(&r.RewindMillis, r.Game.RewindMillis)
	set(&r.RewindMillis, 400)
	set(&r.RespawnMillis, r.Game.Mode.RespawnMillis)
	return r
}

// set writes a default to a field that is zero.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ticks converts milliseconds to ticks, rounded up, at least one.
func (r Rules) ticks(millis int32) tick.Tick {
	return max(1, tick.Tick((int64(millis)*int64(r.Rate)+999)/1000))
}
