package capacity

import "math"

// Pool is what more matches of the same scenario make of what was known of it: means weigh by how many matches they are of. Memory, which
// does not differ, is the first one's.
func (f Facts) Pool(more Facts) Facts {
	if f.Matches == 0 {
		return more
	}
	n, m := float64(f.Matches), float64(more.Matches)
	a, b := n/(n+m), m/(n+m)
	out := f
	out.Matches = f.Matches + more.Matches
	out.Unsure = pooledError(f, more)
	x, y := more.results(), out.results()
	for i := range y {
		*y[i] = a**y[i] + b**x[i]
	}
	return out
}

// results are what came of a scenario.
func (f *Facts) results() []*float64 {
	p := &f.Parts
	return []*float64{&f.Visible, &f.Shots, &f.Alive, &f.Flights, &f.Launches, &f.Turns, &f.Kills, &f.Bytes, &p.Frame, &p.Events, &p.Owner, &p.Things, &p.Rows, &f.Datagrams, &f.Snapshots}
}

// pooledError is the relative standard error of the bytes of all matches of both.
func pooledError(f, g Facts) float64 {
	n, m := float64(f.Matches), float64(g.Matches)
	mean := (n*f.Bytes + m*g.Bytes) / (n + m)
	squares := func(f Facts) float64 { // of the differences of single matches from the mean of both
		k := float64(f.Matches)
		return k*(k-1)*sq(f.Unsure*f.Bytes) + k*sq(f.Bytes-mean)
	}
	if mean == 0 || n+m < 2 {
		return 0
	}
	return math.Sqrt((squares(f)+squares(g))/(n+m-1)/(n+m)) / mean
}
