package snapshot

import (
	"errors"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Run is a number of consecutive groups: blocks that are coded against the same baseline. Or, if it is of Rows, it is as
// many rows from group First on, of which each names what it is coded against if that is not what the one before is.
type Run struct {
	First, Count int
	Base         tick.Tick // 0: no baseline
	Rows         bool
}

// RunBytes is the size of a run's header; MaxRun the most groups or rows that one announces.
const (
	RunBytes = 4
	MaxRun   = 256
)

// byRows marks a run of single rows in the header's age; ageBits is the width of an age.
const (
	byRows  = 0x80
	ageBits = 6
)

// ErrRun says that a run's header is cut short or names an impossible baseline or group.
var ErrRun = errors.New("snapshot: bad run header")

// AppendRun writes the header of a run in the snapshot of tick now, of which a client gets one every interval ticks.
// The run has 1 to MaxRun groups or rows; its base lies a whole number of intervals back, less than Window.
//
//	2  first  little-endian
//	1  count  less one
//	1  age    of the baseline in intervals, 0 for none; +128 if rows follow in place of blocks
//
// The blocks of the groups, or the rows, follow.
func AppendRun(dst []byte, r Run, now, interval tick.Tick) []byte {
	age := tick.Tick(0)
	if r.Base != 0 {
		age = (now - r.Base) / interval
	}
	if r.Rows {
		age |= byRows
	}
	return append(dst, byte(r.First), byte(r.First>>8), byte(r.Count-1), byte(age))
}

// Padding is the byte that may fill a section behind its last run, so that datagrams to one client have one length and
// the kernel can send them as one (netio's trains). A run cannot begin with two of them: there is no such group.
const Padding = 0xff

// padded reports whether nothing but padding follows.
func padded(src []byte) bool {
	return len(src) == 0 || src[0] == Padding && (len(src) == 1 || src[1] == Padding)
}

// ParseRun reads what AppendRun wrote and returns what follows.
func ParseRun(src []byte, now, interval tick.Tick) (r Run, rest []byte, err error) {
	if len(src) < RunBytes {
		return Run{}, src, ErrRun
	}
	r = Run{First: int(src[0]) | int(src[1])<<8, Count: int(src[2]) + 1, Rows: src[3]&byRows != 0}
	var ok bool
	last := r.First + r.Count
	if r.Rows {
		last = r.First + 1
	}
	if r.Base, ok = aged(src[3]&^byRows, now, interval); !ok || last > MaxGroups {
		return Run{}, src, ErrRun
	}
	return r, src[RunBytes:], nil
}

// aged is the tick of a baseline of an age, 0 for none. ok is false if there can be none of that age.
func aged(age uint8, now, interval tick.Tick) (base tick.Tick, ok bool) {
	if age == 0 {
		return 0, true
	}
	if age >= Window || uint64(age)*uint64(interval) >= uint64(now) {
		return 0, false
	}
	return now - tick.Tick(age)*interval, true
}
