package kernel

import "unsafe"

// Row is 32 bytes of a table of rows, as words in the order of a little-endian machine:
//
//	0 to 2  x, y, z, float32
//	4       bit 0: dead
//	5       net id; 0 is an empty slot
//	6       bits 3 to 5: the build
type Row [8]uint32

var _ [32]byte = [unsafe.Sizeof(Row{})]byte{}

// SplitRows copies rows to kept, and their positions and radii to the columns of c, for as many of
// the first rows as fill whole registers; the caller does the rest, all of them where there is no
// assembly. It returns how many it did. Row i gets the radius (negated and squared, as in Spheres)
// radii[8 + build] if it holds a living player, and radii[build] if not. kept and c must have at
// least as many rows.
func SplitRows(rows, kept []Row, c *Spheres, radii *[16]float32) int {
	n := len(rows)
	c.len()
	if len(kept) < n || len(c.X) < n {
		panic("kernel: Unzip of more rows than there is room for")
	}
	return level.splitRows(rows, kept, c, radii)
}
