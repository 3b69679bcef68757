package objects

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

var (
	testArena = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("arena-16") })
	testKit   = sync.OnceValues(func() (*sim.CompiledGame, error) { return sim.Rules{Rate: 60}.Compile() })
)

// newSet returns the set of a client that has joined.
func newSet(t testing.TB) *Set {
	t.Helper()
	ground, err := testArena()
	if err != nil {
		t.Fatal(err)
	}
	kit, err := testKit()
	if err != nil {
		t.Fatal(err)
	}
	clocks := &clock.Clocks{}
	clocks.Start(60, 3)
	s := NewSet()
	s.Start(Match{
		View: &tick.View{}, Clocks: clocks, Kit: kit, Arena: ground,
		Rows: netstate.Trained().Objects, Self: netid.Make(1, 1),
		Players: 16, Interval: 3, MaxGap: 24,
	})
	return &s
}

// encoder writes rows of objects as a server does; nothing is acked.
type encoder struct {
	ring *snapshot.Ring
	enc  *snapshot.Encoder
	hold *snapshot.Tracker
	pack snapshot.Packer
}

func newEncoder() *encoder {
	slots := netstate.ObjectSlots(16)
	return &encoder{ring: snapshot.NewRing(netstate.Objects, slots, 256, 1),
		enc:  snapshot.NewEncoder(netstate.Trained().Objects, slots),
		hold: snapshot.NewTracker(slots, 3)}
}

// part returns the runs of tick t, with the rows that set puts into the frame.
func (w *encoder) part(t tick.Tick, set func(*snapshot.Frame)) []byte {
	f := w.ring.Begin(t)
	set(f)
	w.enc.Begin(f, w.ring)
	w.hold.Advance(t)
	w.pack.Begin(w.enc, w.hold, 0, w.ring.Groups())
	out, first, count, _ := w.pack.Next(netstate.Header{}.AppendObjects(nil), 1<<15)
	netstate.Header{}.SealObjects(out, 0, 0)
	w.hold.Acked(t, first, count)
	return out
}

// wild fills a row with any values that the schema allows.
func wild(rng *rand.Rand, row []int32) {
	for i, f := range netstate.Objects.Fields {
		if f.Wrap != 0 {
			row[i] = rng.Int32N(f.Wrap)
		} else if rng.IntN(4) == 0 {
			row[i] = f.Min + int32(rng.Int64N(int64(f.Max)-int64(f.Min)+1))
		} else {
			row[i] = min(max(rng.Int32N(300), f.Min), f.Max)
		}
	}
}

// For any rows of objects, in any order and with any owner, the client shows finite numbers,
// computes a bounded number of ticks, uses bounded memory and does not panic.
func TestObjectsOfAHostileServer(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 55))
	c := newSet(t)
	w := newEncoder()
	var row [netstate.ObjectStateFields]int32
	var buf []Object
	at := tick.Tick(3 * 400)
	for n := range 600 {
		at += 3
		part := w.part(at, func(f *snapshot.Frame) {
			for slot := range f.Slots() {
				if rng.IntN(3) > 0 {
					wild(rng, row[:])
					f.Set(slot, netid.Make(slot, uint8(1+rng.IntN(2))), row[:])
				}
			}
		})
		if rest, err := c.Section(netstate.Header{Tick: at, Objects: true, Owner: n%3 == 0},
			part); err != nil || len(rest) != 0 {
			t.Fatalf("snapshot %d: %d bytes left, %v", n, len(rest), err)
		}
		*c.match.View = tick.View{From: at - 6, To: at - 3, Frac: uint8(rng.Uint32())}
		c.match.Clocks.Predicted.At = c.match.Clocks.Rate.At(at + tick.Tick(rng.IntN(20)))
		buf = c.Append(buf[:0])
		if c.steps < 0 || len(buf) > netstate.ObjectSlots(16)+maxOwn {
			t.Fatalf("snapshot %d: %d objects, %d steps over the limit", n, len(buf), -c.steps)
		}
		for i := range buf {
			if p := buf[i].Pos; math.IsNaN(float64(p.X+p.Y+p.Z)) || math.IsInf(float64(p.LenSq()), 0) {
				t.Fatalf("snapshot %d: %+v", n, buf[i])
			}
		}
	}
	if len(buf) < 50 {
		t.Errorf("%d objects are shown", len(buf))
	}
}

// A damaged recording of rows is refused whole or decodes to rows in range. A refused section
// changes nothing.
func FuzzObjects(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := newEncoder()
	var row [netstate.ObjectStateFields]int32
	for n := range 4 {
		f.Add(uint8(n), w.part(tick.Tick(300+3*n), func(fr *snapshot.Frame) {
			for slot := range 20 {
				wild(rng, row[:])
				fr.Set(slot, netid.Make(slot, 1), row[:])
			}
		}))
	}
	f.Add(uint8(9), []byte{5, 0, 0, 0, 0, 1, 0})
	f.Add(uint8(9), []byte{6, 0, 255, 255, 255, 255, 255, 255})
	held := newEncoder().part(297, func(fr *snapshot.Frame) { fr.Set(3, netid.Make(3, 1), row[:]) })
	f.Fuzz(func(t *testing.T, n uint8, src []byte) {
		c := newSet(t)
		at := tick.Tick(300 + 3*int(n))
		for k, part := range [][]byte{held, src} {
			h := netstate.Header{Tick: at, Objects: true, Owner: true}
			if k == 0 {
				h.Tick = 297
			}
			_, err := c.Section(h, part)
			if k == 0 && err != nil {
				t.Fatal(err)
			}
			if fr := c.decoder.At(at); k == 1 && err != nil && fr != nil && fr.Used() > 0 {
				t.Fatalf("%v left a trace", err)
			}
		}
		*c.match.View = tick.View{From: 297, To: at, Frac: 128}
		c.match.Clocks.Predicted.At = c.match.Clocks.Rate.At(at)
		got := c.Append(nil)
		for i := range got {
			if k := got[i].Kind; uint8(k) > 7 || got[i].ID == 0 {
				t.Fatalf("%+v", got[i])
			}
		}
	})
}

// Append allocates nothing once the slice of the caller is long enough.
func TestObjectsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 56))
	c := newSet(t)
	w := newEncoder()
	var row [netstate.ObjectStateFields]int32
	for n := range 3 {
		part := w.part(tick.Tick(300+3*n), func(f *snapshot.Frame) {
			for slot := range 200 {
				wild(rng, row[:])
				row[netstate.ObjectStateWhat] = int32(1 + slot%6)
				row[netstate.ObjectStateBorn] = 290
				f.Set(slot, netid.Make(slot, 1), row[:])
			}
		})
		if _, err := c.Section(netstate.Header{Tick: tick.Tick(300 + 3*n), Objects: true}, part); err != nil {
			t.Fatal(err)
		}
	}
	*c.match.View = tick.View{From: 303, To: 306, Frac: 100}
	c.match.Clocks.Predicted.At = c.match.Clocks.Rate.At(310)
	buf := make([]Object, 0, 512)
	if n := alloctest.In(20, func() { buf = c.Append(buf[:0]) }); n != 0 || len(buf) < 100 {
		t.Errorf("%v allocations for %d objects", n, len(buf))
	}
}

// BenchmarkObjects measures one frame of a client with 200 objects of other players.
func BenchmarkObjects(b *testing.B) {
	c := newSet(b)
	w := newEncoder()
	for n := range 3 {
		part := w.part(tick.Tick(300+3*n), func(f *snapshot.Frame) {
			for slot := range 200 {
				o := netstate.ObjectState{Kind: netstate.Projectile, Born: 290,
					Owner: uint32(netid.Make(2, 1)), Type: uint8(slot % 3)}
				var row [netstate.ObjectStateFields]int32
				o.Row(row[:])
				f.Set(slot, netid.Make(slot, 1), row[:])
			}
		})
		if _, err := c.Section(netstate.Header{Tick: tick.Tick(300 + 3*n), Objects: true}, part); err != nil {
			b.Fatal(err)
		}
	}
	*c.match.View = tick.View{From: 303, To: 306, Frac: 100}
	buf := make([]Object, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = c.Append(buf[:0])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(buf)), "ns/object")
}
