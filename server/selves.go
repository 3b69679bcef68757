package server

import (
	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ghost"
)

// selves remembers the owner rows that a guest was sent, one a send interval, and which of them arrived: the baselines
// of its owner section.
type selves struct {
	rows  [snapshot.Window][ghost.OwnerFields]int32
	ticks [snapshot.Window]tick.Tick
	acked uint64 // bit i: rows[i] has arrived
	at    int    // the newest
}

// next opens the entry for tick t and returns its row, to be filled.
func (s *selves) next(t tick.Tick) []int32 {
	s.at = (s.at + 1) % snapshot.Window
	s.ticks[s.at] = t
	s.acked &^= 1 << s.at
	return s.rows[s.at][:]
}

// ack notes that the owner row of tick t has arrived.
func (s *selves) ack(t tick.Tick) {
	for i, at := range s.ticks {
		if at == t {
			s.acked |= 1 << i
		}
	}
}

// base returns the newest row that has arrived and how many entries back it lies; 0 and nil if there is none.
func (s *selves) base() (age int, row []int32) {
	for age = 1; age < snapshot.Window; age++ {
		if i := (s.at - age + snapshot.Window) % snapshot.Window; s.acked>>i&1 != 0 {
			return age, s.rows[i][:]
		}
	}
	return 0, nil
}

// ownerCodec writes owner rows.
type ownerCodec struct {
	w      bitio.Writer
	counts *schema.Counts // nil unless somebody counts
}

// append writes the head of a snapshot section with the owner row of tick t.
func (o *ownerCodec) append(dst []byte, m *schema.Model, s *selves, t tick.Tick, self *ghost.Self) []byte {
	row := s.next(t)
	ghost.OwnerRow(row, self)
	age, base := s.base()
	dst = ghost.Head{Tick: t, Owner: true, OwnerAge: uint8(age)}.Append(dst)
	o.w.Reset(dst)
	snapshot.EncodeRow(&o.w, m, base, row)
	if o.counts != nil {
		snapshot.CountRow(o.counts, m, base, row)
	}
	o.w.Align()
	return o.w.Bytes()
}
