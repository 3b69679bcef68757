package snapshot

import (
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Baselines names the snapshots that rows are coded against, newest first; 0 is none, and nothing follows it. Of one baseline
// the row is expected to be as it was; of more it is expected to go on, field by field as schema.Predictor says.
type Baselines [3]tick.Tick

// count is how many there are.
func (b Baselines) count() int {
	n := 0
	for n < len(b) && b[n] != 0 {
		n++
	}
	return n
}

// spacing is how far they lie apart, for a snapshot of tick now.
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

// baselineFrames is baselines and what they hold.
type baselineFrames struct {
	frames  [3]*Frame // nil: none
	spacing schema.BaselineSpacing
}

// depth is how many of the baselines hold the row that stands in slot r of group g of the newest: 0 if that slot is empty.
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
