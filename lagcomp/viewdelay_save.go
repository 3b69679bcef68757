package lagcomp

import (
	"encoding/binary"
	"errors"
)

// ErrTrack is the error of ParseViewDelayTrack.
var ErrTrack = errors.New("lagcomp: not a saved track of view delays")

// ViewDelayTrackSize is the length of a saved track, in bytes.
const ViewDelayTrackSize = 1 + 4 + 4 + announcedSpans*6

// Append appends the track, for ParseViewDelayTrack.
//
//	1  flags      1 unlimited, 2 started
//	4  span
//	2  ramp       with limits: from, to
//	2  ramp       without limits
//	   announced  8 times: 1 known, 4 span, 1 delay
func (p *ViewDelayTrack) Append(dst []byte) []byte {
	dst = append(dst, flag(p.unlimited)|flag(p.started)<<1)
	dst = binary.LittleEndian.AppendUint32(dst, p.span)
	dst = append(dst, p.now.from, p.now.to, p.unclamped.from, p.unclamped.to)
	for i := range p.announced {
		a := &p.announced[i]
		dst = append(binary.LittleEndian.AppendUint32(append(dst, flag(a.known)), a.span), a.delay)
	}
	return dst
}

// ParseViewDelayTrack reads what Append wrote, and returns what follows it.
func ParseViewDelayTrack(src []byte) (p ViewDelayTrack, rest []byte, err error) {
	if len(src) < ViewDelayTrackSize || src[0] > 3 {
		return p, nil, ErrTrack
	}
	p.unlimited, p.started = src[0]&1 != 0, src[0]&2 != 0
	p.span = binary.LittleEndian.Uint32(src[1:])
	p.now, p.unclamped = ramp{src[5], src[6]}, ramp{src[7], src[8]}
	src = src[9:]
	for i := range p.announced {
		if src[0] > 1 {
			return ViewDelayTrack{}, nil, ErrTrack
		}
		p.announced[i] = announcement{binary.LittleEndian.Uint32(src[1:]), src[5], src[0] == 1}
		src = src[6:]
	}
	return p, src, nil
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}
