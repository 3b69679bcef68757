package sim

import "github.com/tickrate/tickrate/ecs/tick"

// Rules are the numbers of a match. The zero value of a field means its default, the reference's number
// (FPSSample, AutoRifle and deathmatch).
type Rules struct {
	Rate           tick.Rate // ticks a second, 20 to 128; default 60
	Seed           uint64    // of every random draw
	Health         int16     // points at spawn; default 100
	Damage         int16     // points a body hit takes; default 7
	HeadScale      int16     // a head hit takes Damage times this; default 2 (the reference has no head hits)
	RoundsPerSec   int32     // default 14
	Clip           uint8     // rounds; default 25
	ReloadMillis   int32     // default 1500
	RangeMetres    float32   // default 500
	ConeMaxDegrees float32   // widest half angle of the cone; default 8
	ConePerShot    float32   // degrees a shot adds; default 0.5
	ConePerSecond  float32   // degrees a second takes away; default 16
	RespawnMillis  int32     // default 10000
	RewindMillis   int32     // the furthest a shot may look back; default 400: a round trip of 200 ms and the view's delay
}

// WithDefaults returns r with every zero field set to its default.
func (r Rules) WithDefaults() Rules {
	set(&r.Rate, tick.DefaultRate)
	set(&r.Health, 100)
	set(&r.Damage, 7)
	set(&r.HeadScale, 2)
	set(&r.RoundsPerSec, 14)
	set(&r.Clip, 25)
	set(&r.ReloadMillis, 1500)
	set(&r.RangeMetres, 500)
	set(&r.ConeMaxDegrees, 8)
	set(&r.ConePerShot, 0.5)
	set(&r.ConePerSecond, 16)
	set(&r.RespawnMillis, 10000)
	set(&r.RewindMillis, 400)
	return r
}

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
