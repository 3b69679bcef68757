package predict

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

// ErrorOffset smooths the error of a misprediction: the picture starts where it was and converges
// to the predicted position within some tenths of a second. Only the picture has the offset.
type ErrorOffset struct {
	Offset geom.Vec3 // metres, from the predicted position
	Stats  ErrorStats
}

// ErrorStats counts the mispredictions that moved the player.
type ErrorStats struct {
	Smoothed uint64  // shown gradually
	Snapped  uint64  // shown at once: a teleport, or a long silence
	Longest  float32 // metres: the longest that was smoothed
}

const (
	halfLife    = 100 * time.Millisecond // of the offset
	maxSmoothed = 2                      // metres; smoothing more would show players inside walls
)

// Add takes a change of the predicted position, in metres.
func (e *ErrorOffset) Add(from, to geom.Vec3) {
	if from == to {
		return
	}
	offset := e.Offset.Add(from.Sub(to))
	length := offset.Len()
	if !(length <= maxSmoothed) {
		e.Offset = geom.Vec3{}
		e.Stats.Snapped++
		return
	}
	e.Offset = offset
	e.Stats.Smoothed++
	e.Stats.Longest = max(e.Stats.Longest, length)
}

// Decay lets dt pass.
func (e *ErrorOffset) Decay(dt time.Duration) {
	if e.Offset == (geom.Vec3{}) {
		return
	}
	e.Offset = e.Offset.Scale(float32(math.Exp2(-float64(dt) / float64(halfLife))))
	if e.Offset.LenSq() < 1e-8 { // a tenth of a millimetre
		e.Offset = geom.Vec3{}
	}
}

// Reset drops the offset. Stats stay.
func (e *ErrorOffset) Reset() { e.Offset = geom.Vec3{} }
