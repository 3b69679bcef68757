package predict

import (
	"testing"
	"time"
)

// A count is sent twice after each change, at most once a second, and not without a change.
func TestReportIsSparing(t *testing.T) {
	var m Report
	var said []int
	for tick := range 60 * 20 {
		now, count := time.Duration(tick)*time.Second/60, uint64(0)
		switch {
		case tick >= 60*12:
			count = uint64(tick) // without end
		case tick >= 60*5:
			count = 3
		}
		if m.Due(now, count) {
			said = append(said, tick)
		}
	}
	if len(said) != 2+8 || said[0] != 60*5 || said[1] != 60*6 || said[2] != 60*12 || said[9] != 60*19 {
		t.Errorf("said at ticks %v", said)
	}
}
