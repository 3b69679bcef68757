package mode

import "math/bits"

// captureUnit is what one attacker adds to Progress in a tick. Four attackers add twice as much:
// the square root counts, rounded down to 1/captureUnit.
const captureUnit = 1 << 12

// captureRate is the square root of a number of players, in 1/captureUnit. It uses integers only,
// so that all machines agree.
func captureRate(players uint16) uint32 {
	if players == 0 {
		return 0
	}
	n := uint64(players) * captureUnit * captureUnit
	root := uint64(1) << ((bits.Len64(n) + 1) / 2) // not below the root
	for {
		next := (root + n/root) / 2
		if next >= root {
			return uint32(root)
		}
		root = next
	}
}

// capture moves the attacked point. Attackers alone advance it, defenders alone take that back.
func (s *State) capture(r *Rules, in *Input, out *Output) {
	s.Status = Quiet
	if int(s.Point) >= len(in.Zones) {
		return
	}
	attackers, defenders := in.Zones[s.Point][Attackers], in.Zones[s.Point][Defenders]
	switch {
	case attackers > 0 && defenders > 0:
		s.Status = Contested
	case attackers > 0:
		s.Status = Capturing
		if s.Progress == 0 {
			out.announce(Announcement{Kind: PointAttacked, Point: s.Point})
		}
		s.Progress += min(captureRate(attackers), r.full-s.Progress)
	case defenders > 0:
		s.Status = Recovering
		s.Progress -= min(captureRate(defenders), s.Progress)
	}
	if s.Progress < r.full {
		return
	}
	s.Point++
	s.Progress, s.Status = 0, Quiet
	s.Score[Attackers]++
	out.announce(Announcement{Kind: PointCaptured, Point: s.Point - 1, Value: int32(r.Points - s.Point)})
}
