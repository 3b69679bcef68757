package snapshot

import (
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Baselines names the snapshots that rows are coded against, newest first; 0 ends the list. A row
// with one baseline is predicted to stay as it was; with more it is predicted to go on, field by
// field as schema.Predictor says.
type Baselines [3]tick.Tick

// count is the number of baselines.
func (b Baselines) count() int {
	n := 0
	for n < len(b) && b[n] != 0 {
		n++
	}
	return n
}

// spacing is how far the baselines lie apart, for a snapshot of tick now.
func (b Baselines) spacing(now tick.Tick) schema.BaselineSpacing {
	switch b.count() {
	case 3:
		return schema.MakeBaselineSpacing(uint32(now-b[0]), uint32(b[0]-b[1]), uint32(b[1]-b[2]))
	case 2:
		return schema.MakeBaselineSpacing(uint32(now-b[0]), uint32(b[0]-b[1]), 0)
	default:
		return schema.BaselineSpacing{}
	}
}

// baselineFrames is the frames of Baselines.
type baselineFrames struct {
	frames  [3]*Frame // nil: none
	spacing schema.BaselineSpacing
}

// depth is the number of baselines that hold the row in slot r of group g of the newest one: 0 if
// that slot is empty.
func (h *baselineFrames) depth(g, r int) int {
	if h.frames[0] == nil {
		return 0
	}
	id := h.frames[0].ids[g][r]
	if id == 0 {
		return 0
	}
	for n := 1; n < len(h.frames); n++ {
		if h.frames[n] == nil || h.frames[n].ids[g][r] != id {
			return n
		}
	}
	return len(h.frames)
}
