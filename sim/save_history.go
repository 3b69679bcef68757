package sim

import (
	"encoding/binary"
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// rewind is the most that ClampLimits may cap views at.
func (r *Rules) rewind() tick.Tick { return max(r.ticks(r.RewindMillis), tick.Tick(r.Rate/4)) }

// reach is how many ticks of history a later tick may need: the instant of a view is no older than
// the rewind, and the older of its two ticks no further away than that again. A tick for rounding,
// and the newest.
func (m *Match) reach() tick.Tick { return 2*m.Rules().rewind() + 2 }

// Flags of what in a pose differs from the prediction that the body keeps its velocity and nothing
// else changes.
const (
	poseThere = 1 << iota
	poseKey   // id and flags, as in a public row: the lowest bit is set of a living player
	posePlace // second difference of the position, on its grid
	poseLook
	poseBody // phase or figure
	poseFar  // the position is on no grid: three floats
)

// saveHistory writes slot by slot, since the ticks of a slot resemble each other: the oldest tick,
// then a byte a tick and slot, followed by what its flags announce.
func saveHistory(s *State, dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.poses.first))
	for slot := range s.slots {
		var predicted track
		for at := slot; at < len(s.poses.rows); at += s.slots {
			if p := &s.poses.rows[at]; p.ID != 0 {
				dst = predicted.append(dst, p)
			} else {
				dst = predicted.appendNone(dst)
			}
		}
	}
	return dst
}

// loadHistory records all ticks again. Slot by slot as they come they are put into the frames of
// ticks first.
func loadHistory(m *Match, src []byte) ([]byte, error) {
	first, n := binary.Uvarint(src)
	newest, slots := m.Tick(), m.World.Slots()
	if n <= 0 || first != uint64(newest-min(newest, m.reach())+1) {
		return nil, wrong("first tick of history", first)
	}
	src = src[n:]
	ticks := int(newest + 1 - tick.Tick(first))
	if len(src) < ticks*slots { // a byte each at least
		return nil, wrong("bytes of history", len(src))
	}
	all := make([]rig.Pose, ticks*slots)
	for slot := range slots {
		var s track
		for i := range ticks {
			var ok bool
			if src, ok = s.parse(src, &all[i*slots+slot]); !ok {
				return nil, wrong("pose in slot", slot)
			}
		}
	}
	for i := range ticks {
		m.History().Record(tick.Tick(first)+tick.Tick(i), all[i*slots:][:slots])
	}
	m.remember()
	return src, nil
}

// remember restores the public poses, which follow from history and abilities.
func (m *Match) remember() {
	c := m.open()
	defer c.close()
	p := m.poses
	for i, id := range c.id {
		if at, ok := c.history.Pose(c.clock.Tick, id.Index()); ok {
			p.of[id.Index()] = at
			p.acts[id.Index()] = c.kit.Heroes[c.vital[i].Hero].Public(&c.ability[i])
		}
	}
}

// track predicts a slot's next pose.
type track struct {
	last  rig.Pose
	at    [3]int32 // position in 1/PublicPosPerMetre
	speed [3]int32 // a tick
}

// onPublicGrid returns a position in units of the public grid, false if it is not on the grid.
func onPublicGrid(p geom.Vec3) (at [3]int32, ok bool) {
	for i, v := range [3]float32{p.X, p.Y, p.Z} {
		if !(v > -1<<16 && v < 1<<16) {
			return at, false
		}
		at[i] = int32(v * PublicPosPerMetre)
		// -0 is on no grid, either
		if math.Float32bits(float32(at[i])/PublicPosPerMetre) != math.Float32bits(v) {
			return at, false
		}
	}
	return at, true
}

// appendNone writes that the slot has no pose.
func (s *track) appendNone(dst []byte) []byte {
	s.speed = [3]int32{}
	return append(dst, 0)
}

// append writes a pose by how it differs from what the track expects.
func (s *track) append(dst []byte, p *rig.Pose) []byte {
	head := len(dst)
	dst = append(dst, poseThere)
	flag := func(bit byte) { dst[head] |= bit }
	if p.ID != s.last.ID || p.Flags != s.last.Flags {
		flag(poseKey)
		dst = binary.LittleEndian.AppendUint32(dst, p.ID)
		dst = binary.LittleEndian.AppendUint16(dst, p.Flags^rig.FlagDead)
	}
	at, ok := onPublicGrid(p.Pos)
	if !ok {
		flag(poseFar)
		for _, v := range [3]float32{p.Pos.X, p.Pos.Y, p.Pos.Z} {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
		s.speed = [3]int32{}
	} else {
		var off [3]int32
		for i := range off {
			off[i] = at[i] - s.at[i] - s.speed[i]
			s.speed[i] = at[i] - s.at[i]
		}
		if off != [3]int32{} {
			flag(posePlace)
			for _, v := range off {
				dst = binary.AppendVarint(dst, int64(v))
			}
		}
		s.at = at
	}
	if p.Yaw != s.last.Yaw || p.Pitch != s.last.Pitch {
		flag(poseLook)
		dst = binary.AppendVarint(dst, int64(int16(p.Yaw-s.last.Yaw)))
		dst = binary.AppendVarint(dst, int64(int16(p.Pitch-s.last.Pitch)))
	}
	if is, was := figure(p), figure(&s.last); p.Phase != s.last.Phase || is != was {
		flag(poseBody)
		dst = binary.AppendVarint(dst, int64(int16(p.Phase-s.last.Phase)))
		changed := len(dst)
		dst = append(dst, 0)
		for i := range is {
			if is[i] != was[i] {
				dst[changed] |= 1 << i
				dst = append(dst, is[i])
			}
		}
	}
	s.last = *p
	return dst
}

// parse reads a pose. It reports false for bytes that append cannot have written, as far as a
// match could depend on them.
func (s *track) parse(src []byte, p *rig.Pose) (rest []byte, ok bool) {
	if len(src) == 0 {
		return nil, false
	}
	flags := src[0]
	src = src[1:]
	if flags&poseThere == 0 {
		s.speed = [3]int32{}
		return src, flags == 0
	}
	*p = s.last
	if flags&poseKey != 0 {
		if len(src) < 6 {
			return nil, false
		}
		p.ID, p.Flags = binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint16(src[4:])^rig.FlagDead
		src = src[6:]
	}
	if src, ok = s.parsePosition(src, flags, p); !ok {
		return nil, false
	}
	if flags&poseLook != 0 {
		var v [2]int64
		if src, ok = varints(src, v[:]); !ok {
			return nil, false
		}
		p.Yaw += geom.Angle(v[0])
		p.Pitch += geom.Angle(v[1])
	}
	if flags&poseBody != 0 {
		if src, ok = s.parseBody(src, p); !ok {
			return nil, false
		}
	}
	s.last = *p
	return src, p.ID != 0 && flags < 2*poseFar
}

// parsePosition reads the position of a pose: exact numbers, or the difference to where the track
// expects it.
func (s *track) parsePosition(src []byte, flags byte, p *rig.Pose) (rest []byte, ok bool) {
	var v [3]int64
	if flags&poseFar != 0 {
		if len(src) < 12 || flags&posePlace != 0 {
			return nil, false
		}
		var f [3]float32
		for i := range f {
			f[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
			if !(f[i] > -1<<20 && f[i] < 1<<20) {
				return nil, false
			}
		}
		p.Pos, src = geom.Vec3{X: f[0], Y: f[1], Z: f[2]}, src[12:]
		s.speed = [3]int32{}
	} else {
		if flags&posePlace != 0 {
			if src, ok = varints(src, v[:]); !ok {
				return nil, false
			}
		}
		for i := range v {
			to := int64(s.at[i]) + int64(s.speed[i]) + v[i]
			if to <= -1<<23 || to >= 1<<23 {
				return nil, false
			}
			s.speed[i] = int32(to) - s.at[i]
			s.at[i] = int32(to)
		}
		p.Pos = geom.Vec3{X: float32(s.at[0]) / PublicPosPerMetre, Y: float32(s.at[1]) / PublicPosPerMetre,
			Z: float32(s.at[2]) / PublicPosPerMetre}
	}
	return src, true
}

// parseBody reads the phase of a pose and what of its figure differs from the last.
func (s *track) parseBody(src []byte, p *rig.Pose) (rest []byte, ok bool) {
	var v [1]int64
	if src, ok = varints(src, v[:]); !ok || len(src) == 0 {
		return nil, false
	}
	p.Phase += uint16(v[0])
	changed, body := src[0], figure(p)
	src = src[1:]
	for i := range body {
		if changed>>i&1 == 0 {
			continue
		}
		if len(src) == 0 {
			return nil, false
		}
		body[i], src = src[0], src[1:]
	}
	pose(p, body)
	return src, true
}

// figure is the part of a pose that bends the body, except for the phase.
func figure(p *rig.Pose) [8]uint8 {
	return [8]uint8{uint8(p.Form), p.Move, p.Gait, uint8(p.Bank), uint8(p.Hips), p.Aim, p.Air, p.Squat}
}

// pose is the reverse of figure.
func pose(p *rig.Pose, f [8]uint8) {
	p.Form, p.Move, p.Gait, p.Bank, p.Hips, p.Aim, p.Air, p.Squat = rig.Form(f[0]), f[1], f[2], int8(f[3]),
		int8(f[4]), f[5], f[6], f[7]
}

// varints reads len(v) numbers of at most 32 bits.
func varints(src []byte, v []int64) (rest []byte, ok bool) {
	for i := range v {
		x, n := binary.Varint(src)
		if n <= 0 || x != int64(int32(x)) {
			return nil, false
		}
		v[i], src = x, src[n:]
	}
	return src, true
}
