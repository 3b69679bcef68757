package replay

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
)

// A log is the inputs of a chunk's ticks, as one stream of bytes for each sort of data, since
// similar bytes next to each other compress well. Each stream starts again with the chunk.
const (
	sChanges = iota // a tick: number of changes; a change: kind, id, value
	// a tick: number of slots that start or stop giving commands; each: distance from the last, and
	// the generation if it starts
	sPresent
	sFlags   // a command: what differs from the player's last, see below
	sYaw     // zigzag of the change, as a varint
	sPitch   // likewise
	sMove    // direction and speed
	sButtons // 2 bytes
	sView    // ticks behind now, span, fraction
	sLimits  // a tick: count; each: id, what changed, and the changes
	// a tick: count; each: shooter, victim. Then the count of target views; each: see targetViews
	sHidden
	// a checkpoint: after which tick of the chunk, from 1; hash, and 16 bits of each checksum
	sChecksums
	streams
)

// Flags of a command: what differs from the player's last.
const (
	cYaw = 1 << iota
	cPitch
	cMove
	cButtons
	cView
)

// slotState is what a log knows of a slot.
type slotState struct {
	here    bool
	id      netid.ID
	command sim.Command
	known   lagcomp.ClampLimits
}

// writer writes a log.
type writer struct {
	out    [streams][]byte
	slots  []slotState
	toggle []bool
}

// reset begins a log for a match of the given number of slots. It keeps the memory of the last.
func (w *writer) reset(slots int) {
	if len(w.slots) != slots {
		w.slots, w.toggle = make([]slotState, slots), make([]bool, slots)
	}
	clear(w.slots)
	for i := range w.out {
		w.out[i] = w.out[i][:0]
	}
}

// reserve makes room for the commands of that many ticks, as long as commands are at most.
func (w *writer) reserve(slots, ticks int) {
	w.reset(slots)
	commands := slots * ticks
	for s, bytes := range [streams]int{sFlags: 1, sYaw: 3, sPitch: 3, sMove: 2, sButtons: 2, sView: 5} {
		w.out[s] = slices.Grow(w.out[s], commands*bytes+16*ticks)
	}
}

// uvarint and varint append a number to stream s.
func (w *writer) uvarint(s int, v uint64) { w.out[s] = binary.AppendUvarint(w.out[s], v) }
func (w *writer) varint(s int, v int64)   { w.out[s] = binary.AppendVarint(w.out[s], v) }

// tick appends the inputs of a tick.
func (w *writer) tick(d *sim.TickInputs) {
	w.uvarint(sChanges, uint64(len(d.Changes)))
	for _, a := range d.Changes {
		w.out[sChanges] = append(w.out[sChanges], byte(a.Kind))
		w.uvarint(sChanges, uint64(a.ID))
		w.varint(sChanges, int64(a.Value))
	}
	w.presence(d)
	for i := range d.Commands {
		w.command(&d.Commands[i], d.Tick)
	}
	w.uvarint(sLimits, uint64(len(d.Limits)))
	for i := range d.Limits {
		w.limits(&d.Limits[i], d.Tick)
	}
	w.uvarint(sHidden, uint64(len(d.Hidden)))
	for _, u := range d.Hidden {
		w.uvarint(sHidden, uint64(u.Shooter))
		w.uvarint(sHidden, uint64(u.Victim))
	}
	w.targetViews(d)
}

// presence writes which slots give a command in this tick: those of the last tick, with changes.
func (w *writer) presence(d *sim.TickInputs) {
	clear(w.toggle)
	for i := range w.slots {
		w.toggle[i] = w.slots[i].here
	}
	for i := range d.Commands {
		id := d.Commands[i].ID
		s := &w.slots[id.Index()]
		w.toggle[id.Index()] = !s.here || s.id != id
		if s.here && s.id != id { // another player in the same slot: it starts again
			s.here = false
		}
		if s.id != id {
			*s = slotState{id: id}
		}
	}
	n := 0
	for _, t := range w.toggle {
		if t {
			n++
		}
	}
	w.uvarint(sPresent, uint64(n))
	last := 0
	for i, t := range w.toggle {
		if !t {
			continue
		}
		w.uvarint(sPresent, uint64(i-last))
		last = i
		s := &w.slots[i]
		if s.here {
			w.out[sPresent] = append(w.out[sPresent], 0)
		} else {
			w.out[sPresent] = append(w.out[sPresent], s.id.Generation())
		}
		s.here = !s.here
	}
}

// command writes what differs from the player's last command. Views are relative to now.
func (w *writer) command(g *sim.PlayerCommand, now tick.Tick) {
	c, last := &g.Command, &w.slots[g.ID.Index()].command
	flags := byte(0)
	if d := int16(c.Yaw - last.Yaw); d != 0 {
		flags |= cYaw
		w.varint(sYaw, int64(d))
	}
	if d := int16(c.Pitch - last.Pitch); d != 0 {
		flags |= cPitch
		w.varint(sPitch, int64(d))
	}
	if c.MoveYaw != last.MoveYaw || c.MoveMag != last.MoveMag {
		flags |= cMove
		w.out[sMove] = append(w.out[sMove], c.MoveYaw, c.MoveMag)
	}
	if c.Buttons != last.Buttons {
		flags |= cButtons
		w.out[sButtons] = append(w.out[sButtons], byte(c.Buttons), byte(c.Buttons>>8))
	}
	if c.View != (tick.View{}) {
		flags |= cView
		w.varint(sView, int64(int32(now-c.View.From)))
		w.varint(sView, int64(int32(c.View.To-c.View.From)))
		w.out[sView] = append(w.out[sView], c.View.Frac)
	}
	w.out[sFlags] = append(w.out[sFlags], flags)
	*last = *c
}

// limitNumbers is how many numbers of clamp limits are recorded.
const limitNumbers = 12

// numbers is the recorded part of clamp limits as whole bits, with ticks relative to now.
func numbers(k *lagcomp.ClampLimits, now tick.Tick) [limitNumbers]uint32 {
	return [limitNumbers]uint32{
		uint32(k.Rate), math.Float32bits(k.RTTTicks), math.Float32bits(k.InterpTicks),
		math.Float32bits(k.SlackTicks), uint32(k.CapTicks),
		uint32(now - k.NewestAcked), uint32(now - k.Newest), uint32(now - k.Oldest),
		behind(k.AnnouncedInstant, now), behind(k.UnclampedInstant, now), uint32(now - k.From),
		uint32(now - k.To),
	}
}

// limits writes the numbers of a player's clamp limits that changed relative to the tick.
func (w *writer) limits(k *sim.PlayerLimits, now tick.Tick) {
	last := &w.slots[k.ID.Index()].known
	w.uvarint(sLimits, uint64(k.ID))
	was, is := numbers(last, 0), numbers(&k.ClampLimits, now)
	changed := uint64(0)
	for i := range is {
		if is[i] != was[i] {
			changed |= 1 << i
		}
	}
	w.uvarint(sLimits, changed)
	for i := range is {
		if changed>>i&1 != 0 {
			w.uvarint(sLimits, uint64(is[i]))
		}
	}
	*last = limitsOf(is, 0)
}

// limitsOf is the reverse of numbers.
func limitsOf(n [limitNumbers]uint32, now tick.Tick) lagcomp.ClampLimits {
	return lagcomp.ClampLimits{
		Rate: tick.Rate(n[0]), RTTTicks: math.Float32frombits(n[1]),
		InterpTicks: math.Float32frombits(n[2]), SlackTicks: math.Float32frombits(n[3]),
		CapTicks: tick.Tick(n[4]), NewestAcked: now - tick.Tick(n[5]), Newest: now - tick.Tick(n[6]),
		Oldest:           now - tick.Tick(n[7]),
		AnnouncedInstant: before(n[8], now), UnclampedInstant: before(n[9], now),
		From: now - tick.Tick(n[10]), To: now - tick.Tick(n[11]),
	}
}

// noInstant stands for no announced instant.
const noInstant = 1 << 31

// behind is how far an instant lies behind a tick, in 1/256 tick; before is the reverse.
func behind(line int64, now tick.Tick) uint32 {
	if line == 0 {
		return noInstant
	}
	return uint32(int64(now)<<8 - line)
}

// before is the instant that lies n/256 ticks behind now.
func before(n uint32, now tick.Tick) int64 {
	if n == noInstant {
		return 0
	}
	return int64(now)<<8 - int64(int32(n))
}

// checksums appends the checkpoint after the nth tick.
func (w *writer) checksums(nth int, hash uint64, prints []sim.Checksum) {
	w.uvarint(sChecksums, uint64(nth))
	w.out[sChecksums] = binary.LittleEndian.AppendUint64(w.out[sChecksums], hash)
	for _, p := range prints {
		w.out[sChecksums] = binary.LittleEndian.AppendUint16(w.out[sChecksums], uint16(p.Sum))
	}
}

// append joins the streams: the length of each, then all.
func (w *writer) append(dst []byte) []byte {
	for _, s := range w.out {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
	}
	for _, s := range w.out {
		dst = append(dst, s...)
	}
	return dst
}

// size is the length of what append appends, without the lengths.
func (w *writer) size() (n int) {
	for _, s := range w.out {
		n += len(s)
	}
	return n
}

// reader reads a log. The first error stays.
type reader struct {
	in    [streams]stream
	slots []slotState
	err   error
}

// stream is the bytes of one sort, and how many of them are read.
type stream struct {
	all []byte
	at  int
}

// left is the bytes that are not read yet.
func (s *stream) left() []byte { return s.all[s.at:] }

// newReader splits a log into its streams. It keeps the log's memory. Errors wrap ErrFormat.
func newReader(log []byte, slots int) (*reader, error) {
	r := &reader{slots: make([]slotState, slots)}
	var sizes [streams]uint64
	for i := range sizes {
		v, n := binary.Uvarint(log)
		if n <= 0 {
			return nil, fmt.Errorf("%w: a log without lengths", ErrFormat)
		}
		sizes[i], log = v, log[n:]
	}
	for i, n := range sizes {
		if n > uint64(len(log)) {
			return nil, fmt.Errorf("%w: stream %d of %d bytes, expected at most %d", ErrFormat, i, n,
				len(log))
		}
		r.in[i].all, log = log[:n], log[n:]
	}
	if len(log) > 0 {
		return nil, fmt.Errorf("%w: a log with %d bytes too many", ErrFormat, len(log))
	}
	return r, nil
}

// fail keeps the first error and empties all streams, so that loops over counts end.
func (r *reader) fail(s int) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: a log that makes no sense in stream %d", ErrFormat, s)
	}
	r.in = [streams]stream{}
}

// uvarint reads a number of at most limit from stream s.
func (r *reader) uvarint(s int, limit uint64) uint64 {
	in := &r.in[s]
	if b := in.left(); len(b) > 0 && b[0] < 0x80 && uint64(b[0]) <= limit { // most are a byte
		in.at++
		return uint64(b[0])
	}
	v, n := binary.Uvarint(in.left())
	if n <= 0 || v > limit {
		r.fail(s)
		return 0
	}
	in.at += n
	return v
}

// varint reads a signed 32-bit number from stream s.
func (r *reader) varint(s int) int64 {
	in := &r.in[s]
	v, n := binary.Varint(in.left())
	if n <= 0 || v != int64(int32(v)) {
		r.fail(s)
		return 0
	}
	in.at += n
	return v
}

// byte reads a byte from stream s.
func (r *reader) byte(s int) byte {
	in := &r.in[s]
	if in.at >= len(in.all) {
		r.fail(s)
		return 0
	}
	in.at++
	return in.all[in.at-1]
}

// anyUint32 is the limit of ids.
const anyUint32 = 1<<32 - 1

// count reads a count of items of at least one byte each.
func (r *reader) count(s int) int { return int(r.uvarint(s, uint64(len(r.in[s].left())))) }

// tick reads the inputs of tick now into d.
func (r *reader) tick(d *sim.TickInputs, now tick.Tick) error {
	*d = sim.TickInputs{Tick: now, Changes: d.Changes[:0], Commands: d.Commands[:0], Limits: d.Limits[:0],
		Hidden: d.Hidden[:0], TargetViews: d.TargetViews[:0]}
	for range r.count(sChanges) {
		k := sim.ChangeKind(r.byte(sChanges))
		d.Changes = append(d.Changes, sim.Change{Kind: k, ID: netid.ID(r.uvarint(sChanges, anyUint32)),
			Value: int32(r.varint(sChanges))})
	}
	r.presence()
	for i := range r.slots {
		if s := &r.slots[i]; s.here && r.err == nil {
			d.Commands = append(d.Commands, sim.PlayerCommand{})
			r.command(s, now, &d.Commands[len(d.Commands)-1])
		}
	}
	for range r.count(sLimits) {
		r.limits(d, now)
	}
	for range r.count(sHidden) {
		u := sim.HiddenTarget{Shooter: uint32(r.uvarint(sHidden, anyUint32))}
		u.Victim = uint32(r.uvarint(sHidden, anyUint32))
		d.Hidden = append(d.Hidden, u)
	}
	r.targetViews(d, now)
	return r.err
}

// presence reads which slots give a command from this tick on.
func (r *reader) presence() {
	at := uint64(0)
	for i := range r.count(sPresent) {
		step := r.uvarint(sPresent, uint64(len(r.slots)))
		gen := r.byte(sPresent)
		at += step
		if at >= uint64(len(r.slots)) || i > 0 && step == 0 {
			r.fail(sPresent)
			return
		}
		s := &r.slots[at]
		if gen == 0 {
			s.here = false
			continue
		}
		if id := netid.Make(int(at), gen); s.id != id {
			*s = slotState{id: id}
		}
		s.here = true
	}
}

// command reads the command of a slot into t, field by field, since a copy of a struct that was
// just written would wait.
func (r *reader) command(s *slotState, now tick.Tick, t *sim.PlayerCommand) {
	c := &s.command
	flags := r.byte(sFlags)
	t.ID, t.Command.Tick = s.id, now
	if flags&cYaw != 0 {
		c.Yaw += geom.Angle(r.varint(sYaw))
	}
	if flags&cPitch != 0 {
		c.Pitch += geom.Angle(r.varint(sPitch))
	}
	if flags&cMove != 0 {
		c.MoveYaw = r.byte(sMove)
		c.MoveMag = r.byte(sMove)
	}
	if flags&cButtons != 0 {
		c.Buttons = sim.Buttons(r.byte(sButtons))
		c.Buttons |= sim.Buttons(r.byte(sButtons)) << 8
	}
	if flags&cView != 0 {
		v := &t.Command.View
		v.From = now - tick.Tick(int32(r.varint(sView)))
		v.To = v.From + tick.Tick(int32(r.varint(sView)))
		v.Frac = r.byte(sView)
	}
	to := &t.Command
	to.Yaw, to.Pitch, to.MoveYaw, to.MoveMag, to.Buttons = c.Yaw, c.Pitch, c.MoveYaw, c.MoveMag, c.Buttons
}

// limits reads a player's clamp limits; those that did not change keep their distance to the tick.
func (r *reader) limits(d *sim.TickInputs, now tick.Tick) {
	id := netid.ID(r.uvarint(sLimits, anyUint32))
	if id.Index() >= len(r.slots) {
		r.fail(sLimits)
		return
	}
	last := &r.slots[id.Index()].known
	n := numbers(last, 0)
	changed := r.uvarint(sLimits, 1<<len(n)-1)
	for i := range n {
		if changed>>i&1 != 0 {
			n[i] = uint32(r.uvarint(sLimits, anyUint32))
		}
	}
	*last = limitsOf(n, 0)
	d.Limits = append(d.Limits, sim.PlayerLimits{ID: id, ClampLimits: limitsOf(n, now)})
}

// hasChecksum reports whether the next checkpoint is that of the nth tick, counted from 1.
func (r *reader) hasChecksum(nth int) bool {
	v, n := binary.Uvarint(r.in[sChecksums].left())
	return n > 0 && v == uint64(nth)
}

// checksums reads a checkpoint of len(prints) checksums.
func (r *reader) checksums(prints []uint16) (hash uint64, err error) {
	r.uvarint(sChecksums, MaxChunkTicks)
	b := r.in[sChecksums].left()
	if len(b) < 8+2*len(prints) {
		r.fail(sChecksums)
		return 0, r.err
	}
	hash = binary.LittleEndian.Uint64(b)
	for i := range prints {
		prints[i] = binary.LittleEndian.Uint16(b[8+2*i:])
	}
	r.in[sChecksums].at += 8 + 2*len(prints)
	return hash, nil
}

// done reports whether everything was read.
func (r *reader) done() bool {
	for i := range r.in {
		if len(r.in[i].left()) > 0 {
			return false
		}
	}
	return true
}
