package ddnet

import (
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// snapshots are those that a delta may refer to.
type snapshots struct {
	acked  int32 // newest tick whose snapshot is whole; -1: none
	at     time.Duration
	ring   [128]kept // by tick
	joiner *parts
}

type kept struct {
	tick  int32 // -1: none
	items items
}

func newSnapshots() snapshots {
	s := snapshots{acked: -1, joiner: &parts{}}
	for i := range s.ring {
		s.ring[i].tick = -1
	}
	return s
}

// tick is the server's tick at a time.
func (s *snapshots) tick(now time.Duration) int32 {
	return s.acked + int32((now-s.at)*Rate/time.Second)
}

// receive takes one of the three messages of snapshots.
func (s *snapshots) receive(id int32, u *unpacker, now time.Duration, stats *crowd.Stats) error {
	tick, back := u.int(), u.int()
	count, part, sum, data := int32(1), int32(0), int32(0), []byte{0, 0, 0}
	if id == systemSnap {
		count, part = u.int(), u.int()
	}
	if id != systemSnapEmpty {
		sum = u.int()
		data = u.raw(u.int())
	}
	if u.failed || tick < 0 || tick <= s.acked {
		return errDelta
	}
	if id == systemSnap {
		if data = s.joiner.add(tick, count, part, data); data == nil {
			return nil
		}
	}
	base := &items{}
	if from := tick - back; from >= 0 {
		k := &s.ring[from%int32(len(s.ring))]
		if k.tick != from {
			return errDelta
		}
		base = &k.items
		stats.Deltas++
	}
	next, size, err := base.apply(data)
	if err != nil {
		return err
	}
	if id != systemSnapEmpty && next.sum() != sum {
		return errSum
	}
	s.ring[tick%int32(len(s.ring))] = kept{tick, next}
	s.acked, s.at = tick, now
	stats.Snapshots++
	stats.Players += next.others()
	stats.PlayerBits += 8 * size
	return nil
}
