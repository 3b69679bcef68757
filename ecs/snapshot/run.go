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
	RunBytes   = 6
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
	wide     = 15          // in half of a header's first byte: the number has bytes of its own
)

// ErrRun says that a run's header is cut short or names an impossible baseline or group.
var ErrRun = errors.New("snapshot: bad run header")

// AppendRun writes the header of a run in the snapshot of tick now; a client gets a snapshot every
// interval ticks. The run has 1 to MaxRun groups or rows; its baselines lie a whole number of
// intervals back, less than Window.
//
//	1  place    low half: count less one, below 15; 15: it has a byte of its own, as for all rows
//	            high half: first, below 15; 15: it has two bytes of its own
//	2  first    only from 15 on; big-endian
//	1  count    only from 16 on, or with rows; less one
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
	dst = append(dst, byte(min(r.First, wide)<<4))
	if r.First >= wide {
		dst = append(dst, byte(r.First>>8), byte(r.First))
	}
	dst = append(r.appendCount(dst), byte(age))
	if r.Baselines[1] == 0 {
		return dst
	}
	dst[len(dst)-1] |= older
	return append(dst, r.spacing(interval))
}

// wideCount reports whether the count has a byte of its own.
func (r *Run) wideCount() bool { return r.Rows || r.Count > wide }

// appendCount notes the count in the last byte of the place, at the end of dst or before first.
func (r *Run) appendCount(dst []byte) []byte {
	place := len(dst) - 1
	if r.First >= wide {
		place -= 2
	}
	if !r.wideCount() {
		dst[place] |= byte(r.Count - 1)
		return dst
	}
	dst[place] |= wide
	return append(dst, byte(r.Count-1))
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

// placeBytes is the size of the header in front of the age.
func (r *Run) placeBytes() (n int) {
	if n = 1; r.First >= wide {
		n += 2
	}
	if r.wideCount() {
		n++
	}
	return n
}

// headBytes is the size of the run's header.
func (r *Run) headBytes() int {
	if r.Baselines[1] != 0 {
		return r.placeBytes() + 2
	}
	return r.placeBytes() + 1
}

// Padding is the byte that fills a section after its last run, so that datagrams to one client
// have one length and one GSO send can carry them. No run begins with two of them: there is no
// such group.
const Padding = 0xff

// padded reports whether only padding follows.
func padded(src []byte) bool {
	return len(src) == 0 || src[0] == Padding && (len(src) == 1 || src[1] == Padding)
}

// ParseRun reads what AppendRun wrote and returns what follows.
func ParseRun(src []byte, now, interval tick.Tick) (r Run, rest []byte, err error) {
	r, rest, ok := parsePlace(src)
	if !ok || len(rest) == 0 {
		return Run{}, src, ErrRun
	}
	age, spacing := rest[0], uint8(0)
	rest, r.Rows = rest[1:], age&byRows != 0
	if wideCount := src[0]&wide == wide; wideCount != r.wideCount() { // one header for one run
		return Run{}, src, ErrRun
	}
	if age&older != 0 {
		if len(rest) == 0 || rest[0]&15 == 0 {
			return Run{}, src, ErrRun
		}
		spacing, rest = rest[0], rest[1:]
	}
	last := r.First + r.Count
	if r.Rows {
		last = r.First + 1
	}
	if r.Baselines, ok = agedBaselines(age&(older-1), spacing, now, interval); !ok || last > MaxGroups {
		return Run{}, src, ErrRun
	}
	return r, rest, nil
}

// parsePlace reads the header of a run up to its age.
func parsePlace(src []byte) (r Run, rest []byte, ok bool) {
	if len(src) == 0 {
		return r, src, false
	}
	r.First, r.Count, rest = int(src[0]>>4), int(src[0]&wide)+1, src[1:]
	if r.First == wide {
		if len(rest) < 2 {
			return r, src, false
		}
		if r.First, rest = int(rest[0])<<8|int(rest[1]), rest[2:]; r.First < wide {
			return r, src, false
		}
	}
	if src[0]&wide == wide {
		if len(rest) == 0 {
			return r, src, false
		}
		r.Count, rest = int(rest[0])+1, rest[1:]
	}
	return r, rest, true
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
