package rows

import "math"

// makeSquash tabulates 65536/(1+e^x). Halfway cases are far from any rounding error, so that all
// machines agree: TestSquash pins the table.
func makeSquash() *[2*squashEnd + 1]uint16 {
	t := new([2*squashEnd + 1]uint16)
	for i := range t {
		x := float64(i-squashEnd) / weightOne
		t[i] = uint16(min(max(math.Round(65536/(1+math.Exp(x))), 1), 65535))
	}
	return t
}
