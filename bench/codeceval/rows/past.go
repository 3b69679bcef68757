package rows

import "slices"

// Past is what both ends hold when a frame is coded: frames of the same rows, row after row, each
// len(Fields) values.
type Past struct {
	// Newest first; fewer than Depth stand for older ones that equal the last, none for rows of
	// zeros.
	Frames [][]int32
	Now    int32 // tick of the frame to be coded
}

// lags are the frames of a Past that predictions and features look at.
var lags = [...]int{0, 1, 2, 3, 6, 9}

// Depth is how many frames of a Past are looked at.
const Depth = 10

const nLags = len(lags)

// row is one row on its way through a coder.
type row struct {
	held  [nLags][]int32 // as it was
	fresh []int32        // as it is, of fields told already
	moved []int32        // by field told already: fresh less held[0]
	wrong []int32        // by field told already: fresh less its prediction
	guess int32          // prediction of the field under way
	step  int32          // guess less held[0], of the field under way
	now   int32
	raw   []int32 // by field told already: fresh less its prediction without a neighbour's help
	mate  []int32 // by field: raw of the nearest row told before that had errors, or zeros
	lead  []int32 // by field: raw of the first row told that had errors, or zeros
	pull  []int32 // mate if the row was moving, else zeros
	base  int32   // prediction of the field under way without a neighbour's help
	// Rows before this one in the frame: bit 0 the last one had a wrong field, and so on.
	above  uint32
	memo   []uint16 // by feature: serial<<4 | value
	serial uint16   // of the row, 12 bits, never 0
	entry  uint32   // bit u: group u of this row had a wrong field
}

func newRow(fields, features int) row {
	return row{moved: make([]int32, fields), wrong: make([]int32, fields), raw: make([]int32, fields), memo: make([]uint16, features+1)}
}

// restLags are the frames, of lags, that tell whether a row rests, besides the newest: that which
// differs most often first.
var restLags = [...]int{nLags - 1, 3, 1}

// rests reports whether the row was the same in some frames looked at, from the newest to the
// oldest.
func (r *row) rests() bool {
	for _, i := range restLags {
		if !slices.Equal(r.held[0], r.held[i]) {
			return false
		}
	}
	return true
}

// begin takes up row e of the frame. zeros is a row of zeros.
func (r *row) begin(p *Past, e, fields int, fresh, zeros []int32) {
	for i, lag := range lags {
		if len(p.Frames) == 0 {
			r.held[i] = zeros
			continue
		}
		r.held[i] = p.Frames[min(lag, len(p.Frames)-1)][e*fields:][:fields]
	}
	r.fresh, r.now, r.entry = fresh, p.Now, 0
	if r.serial++; r.serial == 1<<12 {
		clear(r.memo)
		r.serial = 1
	}
}
