package replay

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// targetViews appends the target views: a count; for each shooter, slot, ticks behind now, span,
// fraction.
func (w *writer) targetViews(d *sim.TickInputs) {
	w.uvarint(sHidden, uint64(len(d.TargetViews)))
	for _, b := range d.TargetViews {
		w.uvarint(sHidden, uint64(b.Shooter))
		w.uvarint(sHidden, uint64(b.Slot))
		w.varint(sHidden, int64(int32(d.Tick-b.View.From)))
		w.varint(sHidden, int64(int32(b.View.To-b.View.From)))
		w.out[sHidden] = append(w.out[sHidden], b.View.Frac)
	}
}

// targetViews reads what writer.targetViews wrote.
func (r *reader) targetViews(d *sim.TickInputs, now tick.Tick) {
	for range r.count(sHidden) {
		b := sim.ShotTargetView{Shooter: uint32(r.uvarint(sHidden, anyUint32))}
		b.Slot = int32(r.uvarint(sHidden, uint64(len(r.slots))))
		b.View.From = now - tick.Tick(int32(r.varint(sHidden)))
		b.View.To = b.View.From + tick.Tick(int32(r.varint(sHidden)))
		b.View.Frac = r.byte(sHidden)
		b.Seen = b.View
		d.TargetViews = append(d.TargetViews, b)
	}
}
