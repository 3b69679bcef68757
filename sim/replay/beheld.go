package replay

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// beheld appends who was seen elsewhere than a view says: how many; of each shooter, slot, ticks behind now, span, fraction.
func (w *writer) beheld(d *sim.TickInputs) {
	w.uvarint(sUnseen, uint64(len(d.TargetViews)))
	for _, b := range d.TargetViews {
		w.uvarint(sUnseen, uint64(b.Shooter))
		w.uvarint(sUnseen, uint64(b.Slot))
		w.varint(sUnseen, int64(int32(d.Tick-b.View.From)))
		w.varint(sUnseen, int64(int32(b.View.To-b.View.From)))
		w.out[sUnseen] = append(w.out[sUnseen], b.View.Frac)
	}
}

func (r *reader) beheld(d *sim.TickInputs, now tick.Tick) {
	for range r.count(sUnseen) {
		b := sim.ShotTargetView{Shooter: uint32(r.uvarint(sUnseen, anything))}
		b.Slot = int32(r.uvarint(sUnseen, uint64(len(r.slots))))
		b.View.From = now - tick.Tick(int32(r.varint(sUnseen)))
		b.View.To = b.View.From + tick.Tick(int32(r.varint(sUnseen)))
		b.View.Frac = r.byte(sUnseen)
		b.Seen = b.View
		d.TargetViews = append(d.TargetViews, b)
	}
}
