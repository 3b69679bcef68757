package server

import "math/bits"

// dirtyRows has a bit for each connection and row of a table by slot: the connection has not been
// sent the row as it is. A row that changes twice is sent once.
type dirtyRows struct {
	words int
	bits  []uint64 // words for each connection
	count []int32  // of its bits, by connection
}

func newDirtyRows(slots int) dirtyRows {
	words := (slots + 63) / 64
	return dirtyRows{words, make([]uint64, slots*words), make([]int32, slots)}
}

// of returns the bits of a connection.
func (d *dirtyRows) of(conn int) []uint64 { return d.bits[conn*d.words : (conn+1)*d.words] }

// has reports whether a connection has not been sent a row.
func (d *dirtyRows) has(conn, row int) bool { return d.of(conn)[row>>6]>>(row&63)&1 != 0 }

// mark has a row sent to a connection.
func (d *dirtyRows) mark(conn, row int) {
	if !d.has(conn, row) {
		d.of(conn)[row>>6] |= 1 << (row & 63)
		d.count[conn]++
	}
}

// sent clears the bit of a row.
func (d *dirtyRows) sent(conn, row int) {
	if d.has(conn, row) {
		d.of(conn)[row>>6] &^= 1 << (row & 63)
		d.count[conn]--
	}
}

// next returns the first row from a slot on that a connection has not been sent, -1 if there is
// none.
func (d *dirtyRows) next(conn, from int) int {
	words := d.of(conn)
	for i := from >> 6; i < len(words); i++ {
		w := words[i]
		if i == from>>6 {
			w &= ^uint64(0) << (from & 63)
		}
		if w != 0 {
			return i<<6 | bits.TrailingZeros64(w)
		}
	}
	return -1
}

// clear clears all bits of a connection.
func (d *dirtyRows) clear(conn int) {
	clear(d.of(conn))
	d.count[conn] = 0
}
