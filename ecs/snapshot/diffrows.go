package snapshot

// Occupied returns the rows of group g that are known, and those that are in use: bit r is row r.
func (f *Frame) Occupied(g int) (known, there uint16) {
	for r, id := range f.ids[g] {
		if id != 0 {
			there |= 1 << r
		}
	}
	return rowsOf(f.known, g), there
}

// DiffRows returns the rows of group g that differ between two frames, known or not: bit r is row
// r. Values of empty slots do not count.
func (f *Frame) DiffRows(o *Frame, g int) (rows uint16) {
	_, there := f.Occupied(g)
	for r, id := range f.ids[g] {
		if id != o.ids[g][r] {
			rows |= 1 << r
		}
	}
	a, b := f.group(g), o.group(g)
	b = b[:len(a)]
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		for r := range a[i] {
			if a[i][r] != b[i][r] {
				rows |= 1 << r & there
			}
		}
	}
	return rows
}
