package snapshot

import (
	"errors"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Run is a number of consecutive groups: blocks that are coded against the same baselines. With
// Rows it is as many rows from group First on, and a row names its own baselines where they differ
// from those of the row before.
type Run struct {
	First, Count int
	Baselines    Baselines
	Rows         bool
}

// RunBytes is the most that a run's header takes; MaxRun the most groups or rows that one
// announces; MaxSpacing how many intervals a baseline may lie before the next newer one of its set.
const (
	RunBytes   = 5
	MaxRun     = 256
	MaxSpacing = 15
)

// In a header's age byRows marks a run of single rows, and older a set of baselines; ageBits is the
// width of an age.
const (
	byRows   = 0x80
	older    = 0x40
	ageBits  = 6
	baseBits = ageBits + 1 // of a row's own age, at most
	baseAt   = 3           // bytes of a header in front of the age
)

// ErrRun says that a run's header is cut short or names an impossible baseline or group.
var ErrRun = errors.New("snapshot: bad run header")

// AppendRun writes the header of a run in the snapshot of tick now; a client gets a snapshot every
// interval ticks. The run has 1 to MaxRun groups or rows; its baselines lie a whole number of
// intervals back, less than Window.
//
//	2  first    little-endian
//	1  count    less one
//	1  age      of the newest baseline in intervals, 0 for none; +64 with older ones; +128 for rows
//	1  spacing  only with older ones: intervals from the newest to the next, 1 to 15; +16 times the
//	            intervals from that to the oldest, 0 for two baselines
//
// The blocks of the groups, or the rows, follow.
func AppendRun(dst []byte, r Run, now, interval tick.Tick) []byte {
	age := tick.Tick(0)
	if r.Baselines[0] != 0 {
		age = (now - r.Baselines[0]) / interval
	}
	if r.Rows {
		age |= byRows
	}
	dst = append(dst, byte(r.First), byte(r.First>>8), byte(r.Count-1), byte(age))
	if r.Baselines[1] == 0 {
		return dst
	}
	dst[len(dst)-1] |= older
	return append(dst, r.spacing(interval))
}

// spacing is the header's byte for the distances between the baselines; 0 for fewer than two.
func (r *Run) spacing(interval tick.Tick) (n uint8) {
	if r.Baselines[1] != 0 {
		n = uint8((r.Baselines[0] - r.Baselines[1]) / interval)
	}
	if r.Baselines[2] != 0 {
		n |= uint8((r.Baselines[1]-r.Baselines[2])/interval) << 4
	}
	return n
}

// headBytes is the size of the run's header.
func (r *Run) headBytes() int {
	if r.Baselines[1] != 0 {
		return RunBytes
	}
	return RunBytes - 1
}

// Padding is the byte that fills a section behind its last run, so that datagrams to one client
// have one length and one GSO send can carry them. No run begins with two of them: there is no
// such group.
const Padding = 0xff

// padded reports whether only padding follows.
func padded(src []byte) bool {
	return len(src) == 0 || src[0] == Padding && (len(src) == 1 || src[1] == Padding)
}

// ParseRun reads what AppendRun wrote and returns what follows.
func ParseRun(src []byte, now, interval tick.Tick) (r Run, rest []byte, err error) {
	if len(src) < RunBytes-1 {
		return Run{}, src, ErrRun
	}
	r = Run{First: int(src[0]) | int(src[1])<<8, Count: int(src[2]) + 1, Rows: src[3]&byRows != 0}
	spacing, head := uint8(0), RunBytes-1
	if src[3]&older != 0 {
		if len(src) < RunBytes || src[4]&15 == 0 {
			return Run{}, src, ErrRun
		}
		spacing, head = src[4], RunBytes
	}
	var ok bool
	last := r.First + r.Count
	if r.Rows {
		last = r.First + 1
	}
	if r.Baselines, ok = agedBaselines(src[3]&(older-1), spacing, now, interval); !ok || last > MaxGroups {
		return Run{}, src, ErrRun
	}
	return r, src[head:], nil
}

// agedBaselines is the baselines that a header's age and spacing name, or ok is false if there can
// be none such.
func agedBaselines(age, spacing uint8, now, interval tick.Tick) (b Baselines, ok bool) {
	if b[0], ok = aged(age, now, interval); !ok || spacing == 0 {
		return b, ok
	}
	next := age + spacing&15
	if b[1], ok = aged(next, now, interval); age == 0 || !ok {
		return b, false
	}
	if spacing >>= 4; spacing != 0 {
		b[2], ok = aged(next+spacing, now, interval)
	}
	return b, ok
}

// aged is the tick of a baseline of an age, 0 for none. ok is false if there can be none of that
// age.
func aged(age uint8, now, interval tick.Tick) (base tick.Tick, ok bool) {
	if age == 0 {
		return 0, true
	}
	if age >= Window || uint64(age)*uint64(interval) >= uint64(now) {
		return 0, false
	}
	return now - tick.Tick(age)*interval, true
}
