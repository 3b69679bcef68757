package kernel

// MaxDisplacement compares the rows that a and b both have, except those that are Never in a. It
// returns the largest squared displacement up to limit, 0 if there is none, and in out[:0] the
// rows, ascending, that moved further, are not a number, or are Never in b. out needs the capacity
// of the shorter column, so that nothing is allocated.
func MaxDisplacement(a, b *Spheres, limit float32, out []int32) (most float32, further []int32) {
	n := min(a.len(), b.len())
	out = grow(out, n)
	named, most := level.displacement(a, b, n, limit, out)
	return most, out[:named]
}

func displacementGeneric(a, b *Spheres, n int, limit float32, out []int32) (named int, most float32) {
	ax, ay, az, ar, bx, by, bz, br := a.X[:n], a.Y[:n], a.Z[:n], a.NR2[:n], b.X[:n], b.Y[:n], b.Z[:n],
		b.NR2[:n]
	for i := range ar {
		if ar[i] == Never {
			continue
		}
		x, y, z := bx[i]-ax[i], by[i]-ay[i], bz[i]-az[i]
		if square := float32(x*x) + float32(y*y) + float32(z*z); square <= limit && br[i] != Never {
			most = max(most, square)
			continue
		}
		out[named] = int32(i)
		named++
	}
	return named, most
}
