package rows

import "strings"

// neighbours knows where the rows of a frame are that had errors.
type neighbours struct {
	axes []int // fields of the position
	at   [][3]int32
	rows []int
}

// maxNear bounds how many rows are remembered: the search is linear.
const maxNear = 256

// locate finds the fields of the position: those called pos.x, pos.y and pos.z. Without them nobody
// is near.
func (n *neighbours) locate(fields []Field) {
	n.axes = n.axes[:0]
	for f := range fields {
		if strings.HasPrefix(fields[f].Name, "pos.") && fields[f].Kind == Number && len(n.axes) < 3 {
			n.axes = append(n.axes, f)
		}
	}
}

func (n *neighbours) clear() { n.at, n.rows = n.at[:0], n.rows[:0] }

func (n *neighbours) place(held []int32) (p [3]int32) {
	for i, f := range n.axes {
		p[i] = held[f]
	}
	return p
}

// add remembers a row by where it was, and reports whether there was room for it.
func (n *neighbours) add(held []int32, row int) bool {
	if len(n.axes) == 0 || len(n.at) == maxNear {
		return false
	}
	n.at, n.rows = append(n.at, n.place(held)), append(n.rows, row)
	return true
}

// nearest returns the row nearest to where another was, or -1.
func (n *neighbours) nearest(held []int32) int {
	p, best, row := n.place(held), int64(1)<<62, -1
	for i := range n.at {
		q := &n.at[i]
		x, y, z := int64(p[0]-q[0]), int64(p[1]-q[1]), int64(p[2]-q[2])
		if d := x*x/4 + y*y/4 + z*z/4; d < best {
			best, row = d, n.rows[i]
		}
	}
	return row
}

// moves reports whether a row was on its way somewhere.
func (n *neighbours) moves(held *[nLags][]int32) bool {
	for _, f := range n.axes {
		if held[0][f] != held[1][f] {
			return true
		}
	}
	return false
}
