package snapshot

import (
	"errors"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Reasons for which a section is refused.
var (
	ErrNoBaseline = errors.New("snapshot: baseline is not held")
	ErrStale      = errors.New("snapshot: older than the window")
	ErrGroup      = errors.New("snapshot: no such group")
)

// sectionReader reads sections into a stage: of a Decoder, which then keeps the rows, and of a
// meter at either end, for which only the bits count.
type sectionReader struct {
	codec    *codec
	interval tick.Tick
	at       func(tick.Tick) *Frame  // finds a baseline, or nil
	stage    *Frame                  // rows wait here until the whole section is read
	staged   []stagedRows            // ascending: no group twice
	contexts contexts                // of the group in hand
	signals  [schema.MaxFields]uint8 // of the row in hand
	coder    rangecoder.EmbeddedDecoder
	message  [96]byte // of a row that is range-coded: its bits, the first one highest
}

// stagedRows names rows of a group that wait.
type stagedRows struct {
	group int
	rows  uint16
}

func newSectionReader(c *codec, stage *Frame, interval tick.Tick, at func(tick.Tick) *Frame) sectionReader {
	return sectionReader{codec: c, interval: interval, at: at, stage: stage,
		staged: make([]stagedRows, 0, len(stage.ids))}
}

// readSection reads the runs that fill src up to its padding, of the snapshot of tick t. On an
// error the stage holds anything. m is nil but for a measured read.
func readSection[M metered](d *sectionReader, t tick.Tick, src []byte, m *Meter) error {
	var meter M
	d.staged = d.staged[:0]
	d.codec.spawns.at(t)
	for !padded(src) {
		run, rest, err := ParseRun(src, t, d.interval)
		if err != nil {
			return err
		}
		if len(meter) == 1 {
			m.runHead(&run)
		}
		if run.Rows {
			src, err = readRows[M](d, t, run, rest, m)
		} else {
			src, err = readBlocks[M](d, t, run, rest, m)
		}
		if err != nil {
			return err
		}
	}
	if len(meter) == 1 {
		m.row(ReasonFill, 8*len(src))
	}
	return nil
}

// readBlocks reads a run of blocks and returns what follows.
func readBlocks[M metered](
	d *sectionReader, t tick.Tick, run Run, src []byte, m *Meter,
) (rest []byte, err error) {
	var meter M
	h, there := d.held(t, run.Baselines)
	idle := 0 // groups from g on that the last byte says are idle
	for g := run.First; g < run.First+run.Count; g++ {
		if !d.open(g) {
			return nil, ErrGroup
		}
		if !there || !h.hasGroup(g) {
			return nil, ErrNoBaseline
		}
		x := rowGroup{index: g, ids: &d.stage.ids[g], was: &empty, now: d.stage.group(g), ctx: &unknown, frames: &h}
		if f := h.frames[0]; f != nil {
			if x.was = &f.ids[g]; h.spacing.Single() {
				copy(x.now, f.group(g))
			} else {
				x.ctx = &d.contexts
				d.codec.predict(&h, g, x.now, x.ctx)
			}
		}
		n, form := 0, d.codec.form(&x)
		if idle == 0 && len(src) > 0 {
			if idle = form.idleGroups(src[0]); idle > 0 {
				n = 1
			}
			if idle > run.First+run.Count-g {
				return nil, ErrBlock
			}
		}
		switch {
		case idle > 0:
			idle--
			if *x.ids = *x.was; x.was != &empty {
				d.codec.correct(&h, g, x.now, x.now, x.ctx)
			}
			if len(meter) == 1 {
				m.row(ReasonSame, 8*n)
			}
		case form == rangeBlock:
			n, err = takeRange[M](d.codec, &d.coder, src, &x, m)
		case form == zstdBlock:
			n, err = takePacked[M](d.codec, src, &x, m)
		default:
			n, err = takeBlock[M](d.codec, src, &x, m)
		}
		if err != nil {
			return nil, err
		}
		d.staged = append(d.staged, stagedRows{g, allRows})
		src = src[n:]
	}
	return src, nil
}

// readRows reads a run of rows and returns what follows.
func readRows[M metered](
	d *sectionReader, t tick.Tick, run Run, src []byte, m *Meter,
) (rest []byte, err error) {
	var meter M
	slot, group, base, spacing := run.First*GroupRows-1, -1, run.Baselines, run.spacing(d.interval)
	h, there := d.held(t, base)
	x := bitSource{src: src, meter: m}
	for range run.Count {
		window := bitio.Peek(src, x.off)
		gap, n := parseGap(window)
		slot += gap + 1
		g := slot / GroupRows
		if g != group {
			if !d.open(g) {
				return nil, ErrGroup
			}
			group, d.staged = g, append(d.staged, stagedRows{group: g})
		}
		own := window >> n // what the row says of its baseline
		width := uint(1)
		if own&1 != 0 {
			var ok bool
			if base, width, ok = ownBase(own, spacing, t, d.interval); !ok {
				return nil, ErrRun
			}
			h, there = d.held(t, base)
		}
		x.off += int(n + width)
		if len(meter) == 1 {
			m.row(ReasonGap, int(n))
			m.row(ReasonBaseline, int(width))
		}
		if !there || !h.hasRow(slot) {
			return nil, ErrNoBaseline
		}
		readRow[M](d, &x, g, slot%GroupRows, &h)
		if x.bad {
			return nil, ErrBlock
		}
		d.staged[len(d.staged)-1].rows |= 1 << (slot % GroupRows)
	}
	end, ok := x.end()
	if !ok {
		return nil, ErrBlock
	}
	if len(meter) == 1 {
		m.row(ReasonAlign, 8*end-x.off)
	}
	return src[end:], nil
}

// ownBase reads the baselines that a row names for itself, and how many bits that takes.
func ownBase(window uint64, spacing uint8, now, interval tick.Tick) (base Baselines, width uint, ok bool) {
	age := uint8(window >> 1 & (1<<ageBits - 1))
	width, with := uint(1+ageBits), uint8(0)
	if spacing != 0 {
		with = spacing * uint8(window>>width&1)
		width++
	}
	base, ok = agedBaselines(age, with, now, interval)
	return base, width, ok
}

// readRow reads one row. All baselines know it.
func readRow[M metered](d *sectionReader, x *bitSource, g, r int, h *baselineFrames) {
	row := rowGroup{index: g, ids: &d.stage.ids[g], was: &empty, now: d.stage.group(g), ctx: &unknown, frames: h}
	if ctx, depth := d.codec.predictRow(h, g*GroupRows+r, row.now, &d.signals); depth > 0 {
		row.was, row.ctx, d.contexts[r] = &h.frames[0].ids[g], &d.contexts, ctx
	}
	row.ids[r] = row.was[r]
	if d.codec.ranged() && row.was != &empty {
		takeRangeLoose[M](d, x, &row, r)
		return
	}
	takeRows[M, looseRows](d.codec, x, &row, 1<<r, 1)
}

// open reports whether group g exists and comes after the staged ones.
func (d *sectionReader) open(g int) bool {
	n := len(d.staged)
	return uint(g) < uint(len(d.stage.ids)) && (n == 0 || d.staged[n-1].group < g)
}

// held finds the frames of baselines of tick t. ok is false if one is missing, is not older than
// the one before it, or is no whole number of intervals back.
func (d *sectionReader) held(t tick.Tick, base Baselines) (h baselineFrames, ok bool) {
	last := t
	for i, at := range base[:base.count()] {
		if h.frames[i] = d.at(at); h.frames[i] == nil || at >= last || (t-at)%d.interval != 0 {
			return h, false
		}
		last = at
	}
	h.spacing = base.spacing(t)
	return h, true
}

// hasGroup reports whether all baselines know all of group g.
func (h *baselineFrames) hasGroup(g int) bool {
	for _, f := range h.frames {
		if f != nil && !f.HasGroup(g) {
			return false
		}
	}
	return true
}

// hasRow reports whether all baselines know a slot.
func (h *baselineFrames) hasRow(slot int) bool {
	for _, f := range h.frames {
		if f != nil && !f.HasRow(slot) {
			return false
		}
	}
	return true
}
