package rows

import (
	"math"
	"testing"
)

func TestTrig(t *testing.T) {
	for a := int32(-turnUnits); a < 2*turnUnits; a += 7 {
		rad := float64(a) / turnUnits * 2 * math.Pi
		if got, want := float64(sine(a)), math.Sin(rad)*(1<<14); math.Abs(got-want) > 1.6 {
			t.Fatalf("sine of %d is %v, want %v", a, got, want)
		}
		if got, want := float64(cosine(a)), math.Cos(rad)*(1<<14); math.Abs(got-want) > 1.6 {
			t.Fatalf("cosine of %d is %v, want %v", a, got, want)
		}
		x, y := int32(math.Round(1000*math.Cos(rad))), int32(math.Round(1000*math.Sin(rad)))
		want := math.Atan2(float64(y), float64(x)) / 2 / math.Pi * turnUnits
		if d := math.Remainder(float64(direction(x, y))-want, turnUnits); math.Abs(d) > 1.1 {
			t.Fatalf("direction of (%d, %d) is off by %v", x, y, d)
		}
	}
}
