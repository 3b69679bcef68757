package snapshot

import (
	"math/rand/v2"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// playerSchema is what a shooter replicates of a player: 11 fields.
var playerSchema = schema.Schema{Name: "player", Fields: []schema.Field{
	{Name: "x", Min: -1 << 18, Max: 1 << 18, Often: 60, Predict: schema.Best},
	{Name: "y", Min: -1 << 18, Max: 1 << 18, Often: 20, Predict: schema.Linear},
	{Name: "z", Min: -1 << 18, Max: 1 << 18, Often: 60, Predict: schema.Best},
	{Name: "yaw", Wrap: 4096, Often: 60},
	{Name: "pitch", Wrap: 4096, Often: 40},
	{Name: "state", Min: 0, Max: 255, Often: 8},
	{Name: "health", Min: 0, Max: 100, Often: 3},
	{Name: "shots", Wrap: 256, Often: 8},
	{Name: "team", Min: 0, Max: 3, Often: 1},
	{Name: "score", Min: -100, Max: 1000, Often: 1},
	{Name: "ping", Min: 0, Max: 255, Often: 1},
}}

// edgeSchema has every kind of range at its edges.
var edgeSchema = schema.Schema{Name: "edge", Fields: []schema.Field{
	{Name: "full", Predict: schema.Quadratic}, {Name: "turn", Wrap: 4096, Predict: schema.Best}, {Name: "odd", Wrap: 359, Predict: schema.Linear},
	{Name: "bit", Max: 1, Predict: schema.Linear}, {Name: "constant", Min: 7, Max: 7, Predict: schema.Best}, {Name: "low", Min: -1 << 31, Max: -1},
}}

// world is a crowd of rows that move, rest, die and are born, by seed.
type world struct {
	rng    *rand.Rand
	schema schema.Schema
	gens   []uint8
	alive  []bool
	rows   [][]int32
	vel    [][3]int32
	churn  float64 // chance of a birth or a death, per slot and step
	wild   float64 // chance that a row is drawn anew
}

func newWorld(s schema.Schema, slots int, seed uint64, share, churn, wild float64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), schema: s, gens: make([]uint8, slots), alive: make([]bool, slots),
		rows: make([][]int32, slots), vel: make([][3]int32, slots), churn: churn, wild: wild}
	for slot := range slots {
		w.rows[slot] = make([]int32, len(s.Fields))
		if w.rng.Float64() < share {
			w.born(slot)
		}
	}
	return w
}

func (w *world) slots() int { return len(w.rows) }

func (w *world) born(slot int) {
	w.alive[slot] = true
	if w.gens[slot]++; w.gens[slot] == 0 {
		w.gens[slot] = 1
	}
	w.draw(slot)
}

func (w *world) draw(slot int) {
	for i, f := range w.schema.Fields {
		lo, hi := f.Range()
		switch w.rng.IntN(4) {
		case 0:
			w.rows[slot][i] = lo
		case 1:
			w.rows[slot][i] = hi
		default:
			w.rows[slot][i] = int32(int64(lo) + w.rng.Int64N(int64(hi)-int64(lo)+1))
		}
	}
}

func (w *world) step() {
	for slot := range w.rows {
		switch {
		case w.rng.Float64() < w.churn:
			if w.alive[slot] = !w.alive[slot]; w.alive[slot] {
				w.born(slot)
			} else if w.rng.IntN(2) == 0 {
				w.born(slot) // replaced within one step
			}
		case !w.alive[slot]:
		case w.rng.Float64() < w.wild:
			w.draw(slot)
		default:
			w.move(slot)
		}
	}
}

// move is plausible play: walking and turning most of the time, shots and wounds now and then.
func (w *world) move(slot int) {
	row, vel := w.rows[slot], &w.vel[slot]
	if w.rng.IntN(20) == 0 {
		if *vel = [3]int32{}; w.rng.IntN(3) > 0 {
			*vel = [3]int32{w.rng.Int32N(81) - 40, 0, w.rng.Int32N(81) - 40}
		}
	}
	add := func(field int, d int32) {
		if field < len(row) {
			row[field] = w.schema.Fields[field].Clamp(row[field] + d)
		}
	}
	add(0, vel[0])
	add(2, vel[2])
	if vel[0] != 0 {
		add(3, w.rng.Int32N(101)-50)
		add(4, w.rng.Int32N(21)-10)
	}
	if w.rng.IntN(30) == 0 {
		add(5, w.rng.Int32N(7)-3)
		add(7, 1)
	}
	if w.rng.IntN(100) == 0 {
		add(6, -w.rng.Int32N(30))
		add(10, w.rng.Int32N(9)-4)
	}
}

func (w *world) capture(f *Frame) {
	for slot, alive := range w.alive {
		if alive {
			f.Set(slot, netid.Make(slot, w.gens[slot]), w.rows[slot])
		}
	}
}

// learned is a model that was trained on a world: with classes of fields and contexts of rows.
func learned(s schema.Schema) *schema.Model { return schema.Train(s, counted(s)) }

// corrected is a model whose fields follow from others: all but the first have terms.
func corrected(s schema.Schema) *schema.Model {
	n, rng := counted(s), rand.New(rand.NewPCG(1, 2))
	for range 40000 {
		var row schema.Row
		for f := range s.Fields {
			row.Trends[f] = rng.Int32N(400) - 200
			if row.Moves[f] = rng.Int32N(400) - 200; f > 0 {
				row.Moves[f] = row.Moves[f-1]/2 - row.Trends[f]/4 + rng.Int32N(3)
			}
			row.Errors[f], row.Signals[f] = row.Moves[f], 9
		}
		n.Row(&row)
	}
	return schema.Train(s, n)
}

// counted is what a world of this schema tells.
func counted(s schema.Schema) *schema.Counts {
	const slots, ticks = 200, 40
	w, n := newWorld(s, slots, 5, 0.8, 0.01, 0.01), schema.NewCounts(s)
	ring, e := NewRing(s, slots, Window, 1), NewEncoder(schema.DefaultModel(s), slots)
	e.Count(n)
	for now := tick.Tick(1); now <= ticks; now++ {
		w.step()
		w.capture(ring.Begin(now))
		if now > 8 {
			e.Begin(ring.At(now), ring)
			for _, b := range []Baselines{{now - 2, now - 3, now - 4}, {now - 1, now - 2, now - 3}, {now - 4, now - 6, now - 8}, {now - 3, now - 4}, {now - 4}} {
				e.whole(b)
			}
		}
	}
	return n
}

// cloneFrame keeps a frame beyond its ring.
func cloneFrame(f *Frame, s schema.Schema) *Frame {
	c := &newFrames(s, f.Slots(), 1)[0]
	c.Reset(f.Tick)
	copy(c.ids, f.ids)
	copy(c.occupied, f.occupied)
	copy(c.blocks, f.blocks)
	c.groups = f.groups
	return c
}

// recorded runs a world for n ticks into a ring that holds them all.
func recorded(s schema.Schema, slots, n int, w *world) *Ring {
	r := NewRing(s, slots, Window, 1)
	for t := tick.Tick(1); t <= tick.Tick(n); t++ {
		w.step()
		w.capture(r.Begin(t))
	}
	return r
}
