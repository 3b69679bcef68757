package rows

import "math/bits"

// Angles in here are 1/65536 turns, so that both ends compute the same on any machine: integers
// only.
const turnUnits = 1 << 16

// cordic holds atan(2^-i) in 1/2^30 turns.
var cordic = [...]int64{134217728, 79233351, 41864678, 21251135, 10666850, 5338623, 2669963, 1335063, 667542, 333772,
	166886, 83443, 41722, 20861, 10430, 5215, 2608, 1304}

// direction returns the angle of (x, y) from the x axis.
func direction(x, y int32) int32 {
	if x == 0 && y == 0 {
		return 0
	}
	a, b, angle := int64(x), int64(y), int64(0)
	if a < 0 { // turn by half a turn into the right half plane
		a, b, angle = -a, -b, 1<<29
	}
	shift := 40 - bits.Len64(uint64(max(a, b, -b)))
	a, b = a<<shift, b<<shift
	for i, step := range cordic {
		da, db := a>>i, b>>i
		if b > 0 {
			a, b, angle = a+db, b-da, angle+step
		} else {
			a, b, angle = a-db, b+da, angle-step
		}
	}
	return int32((angle + 1<<13) >> 14 & (turnUnits - 1))
}

// sines is a quarter of a turn in 256 steps, times 2^14.
var sines = makeSines()

func makeSines() (table [257]int32) {
	const gain = 652032874 // product of cos(atan(2^-i)), times 2^30
	for i := range table {
		a, b, rest := int64(gain), int64(0), int64(i)<<20
		for k, step := range cordic {
			da, db := a>>k, b>>k
			if rest >= 0 {
				a, b, rest = a-db, b+da, rest-step
			} else {
				a, b, rest = a+db, b-da, rest+step
			}
		}
		table[i] = int32((b + 1<<15) >> 16)
	}
	table[0], table[256] = 0, 1<<14
	return table
}

// sine returns the sine of an angle times 2^14.
func sine(angle int32) int32 {
	a := angle & (turnUnits - 1)
	half := a >= turnUnits/2
	a &= turnUnits/2 - 1
	if a > turnUnits/4 {
		a = turnUnits/2 - a
	}
	i, rest := a>>6, a&63
	v := sines[i]
	if rest != 0 {
		v += ((sines[i+1]-v)*rest + 32) >> 6
	}
	if half {
		return -v
	}
	return v
}

func cosine(angle int32) int32 { return sine(angle + turnUnits/4) }
