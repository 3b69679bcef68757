package predict

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// TestFarErrorsAreNotSmoothed: large errors snap, so that no picture moves through walls.
func TestFarErrorsAreNotSmoothed(t *testing.T) {
	var e ErrorOffset
	e.Add(geom.Vec3{X: 1}, geom.Vec3{})
	e.Add(geom.Vec3{X: maxSmoothed}, geom.Vec3{})
	if e.Offset != (geom.Vec3{}) || e.Stats != (ErrorStats{Smoothed: 1, Snapped: 1, Longest: 1}) {
		t.Errorf("%+v", e)
	}
	e.Add(geom.Vec3{}, geom.Vec3{Y: 1})
	for range 10 {
		e.Decay(halfLife / 10)
	}
	if got := e.Offset.Y; got < -0.501 || got > -0.499 {
		t.Errorf("%v m left of 1 after the time of one half-life", got)
	}
}

// TestErrorOffsetEndsAtATenthOfAMillimetre: below that the picture is where the player is.
func TestErrorOffsetEndsAtATenthOfAMillimetre(t *testing.T) {
	for metres, stays := range map[float32]bool{1.01e-4: true, 0.99e-4: false, 0.5e-4: false, 1e-3: true} {
		e := ErrorOffset{Offset: geom.Vec3{Y: metres}}
		if e.Decay(0); (e.Offset != geom.Vec3{}) != stays {
			t.Errorf("%g m: %+v", metres, e)
		}
	}
}
