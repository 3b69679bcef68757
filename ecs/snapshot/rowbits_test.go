package snapshot

import (
	"fmt"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestRowsAreCodedOnce: a batch keeps all rows that it codes, also those of more than inlineBits,
// and a row has the same bits whether it was coded alone, with others of a plan or in a batch.
func TestRowsAreCodedOnce(t *testing.T) {
	const slots, now = 16 * GroupRows, tick.Tick(12)
	w := newWorld(playerSchema, slots, 7, 0.9, 0.01, 0.01)
	ring := NewRing(playerSchema, slots, Window, 1)
	for at := tick.Tick(1); at <= now; at++ {
		w.step()
		w.capture(ring.Begin(at))
	}
	frame := ring.At(now)
	for _, base := range []Baselines{{}, {1}, {now - 2, now - 4, now - 6}} {
		m := schema.DefaultModel(playerSchema)
		one, all := NewEncoder(m, slots), NewEncoder(m, slots)
		one.Begin(frame, ring)
		all.Begin(frame, ring)
		c, d := one.rows(base), all.rows(base)
		longRows, made := 0, uint64(0)
		for g := range slots / GroupRows {
			x, rows := all.group(d, g), uint16(frame.occupied[g/wordGroups]>>(g%wordGroups*GroupRows))
			if base[0] != 0 {
				rows = x.staying()
			}
			if rows == 0 {
				continue
			}
			all.codeRows(d, g, rows)
			for r := range GroupRows {
				slot := g*GroupRows + r
				if rows>>r&1 == 0 {
					continue
				}
				made++
				if c.rows[slot] == 0 {
					one.row(c, slot)
				}
				if c.rows[slot]>>56 == long {
					longRows++
				}
				if a, b := rowOf(c, slot), rowOf(d, slot); a != b {
					t.Errorf("baselines %v, slot %d: %s alone, %s with its group", base, slot, a, b)
				}
			}
		}
		if one.Coded.Rows != made || all.Coded.Rows != made || longRows == 0 {
			t.Errorf("baselines %v: %d rows, %d of them long: %d coded by request, %d by group",
				base, made, longRows, one.Coded.Rows, all.Coded.Rows)
		}
	}
}

// row codes one row.
func (e *Encoder) row(c *encodeCache, slot int) rowBits {
	e.codeRows(c, slot/GroupRows, 1<<(slot%GroupRows))
	return c.rows[slot]
}

// rowOf is the bits of a coded row as text.
func rowOf(c *encodeCache, slot int) string {
	b := c.rows[slot]
	buf := make([]byte, 256)
	acc, n, pos := uint64(b)&(1<<56-1), b.size(), 0
	if b>>56 == long {
		acc, n, pos = appendLong(buf, 0, 0, 0, c.long, b, 0)
	}
	for ; n > 0 || acc != 0; pos++ {
		buf[pos] = byte(acc)
		acc >>= 8
		n -= min(n, 8)
	}
	return fmt.Sprintf("%d bits %x", b.size(), buf[:pos])
}
