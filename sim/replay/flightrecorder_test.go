package replay

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// planted panics in a system of a tick. The value has the hash of the match as it is then, so that
// equal values mean the same state at the same place.
func planted(m func() *sim.Match, at tick.Tick, in int) func(system int) {
	return func(system int) {
		if m().Tick() == at && system == in {
			panic(fmt.Sprintf("planted at %d in %d: %016x", at, in, tornHash(m())))
		}
	}
}

// tornHash is a hash of what can be read of a match within a tick.
func tornHash(m *sim.Match) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, m.Poses(), m.Outcome().Events)
	for slot := range m.World.Slots() {
		id := m.World.At(slot)
		if v := m.Vital(id); v != nil {
			fmt.Fprint(h, *v, m.CommandBuffer(id).Last(), m.ClampLimits(id))
		}
	}
	return h.Sum64()
}

// recordFlight plays ticks until the match panics, and returns the value of the panic; "" for none.
func (p *play) recordFlight(t *testing.T, r *FlightRecorder, ticks int) (value string) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			value = fault.(string)
		}
	}()
	if err := r.Start(p.m); err != nil {
		t.Fatal(err)
	}
	for range ticks {
		p.step()
		r.Tick()
		r.Arm()
	}
	return ""
}

// A match that panics in any system, in its first tick, within a flight, and at the ends of several,
// leaves chunks that play to the same panic. They reach back for FlightTicks.
func TestThreat32FlightPlaysToTheSamePanic(t *testing.T) {
	ticks := []tick.Tick{1, 42, FlightTicks, FlightTicks + 1, 2*FlightTicks + 7}
	if testing.Short() {
		ticks = ticks[1:3]
	}
	head := HeadOf(newPlay(t, 12, 3).m, "arena-16", MaxChunkTicks)
	r := NewFlightRecorder(newPlay(t, 12, 1).m)
	for i, at := range ticks {
		for in := range len(sim.Systems()) + 1 {
			if (in+i)%len(ticks) > 1 { // each system in two of the ticks
				continue
			}
			p := newPlay(t, 12, 3)
			p.enter = planted(func() *sim.Match { return p.m }, at, in)
			value := p.recordFlight(t, r, int(at))
			if !strings.HasPrefix(value, "planted") || !r.Close() {
				t.Fatalf("tick %d, system %d: %q is no planted panic within a tick", at, in, value)
			}
			chunks := r.Chunks()
			first, last := chunks[0].First, chunks[len(chunks)-1].Last()
			if last != at || first != 1 && at-first < FlightTicks {
				t.Errorf("tick %d: recorded are %d to %d", at, first, last)
			}
			_, player, err := open(t, head.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			player.EnterSystem = planted(func() *sim.Match { return player.Match }, at, in)
			err = playFlight(player, chunks)
			if found := (*Panic)(nil); !errors.As(err, &found) || found.Tick != at || found.Value != value ||
				!errors.Is(err, ErrFormat) || len(found.Stack) == 0 {
				t.Errorf("tick %d, system %d: %v, expected %s", at, in, err, value)
			}
			if len(chunks) == 2 && player.Compared != 1 {
				t.Errorf("the newer state is not the match as it was played")
			}
		}
	}
}

func playFlight(p *Player, chunks []*Chunk) error {
	for _, c := range chunks {
		if err := p.Load(c); err != nil {
			return err
		}
		for !p.Done() {
			if err := p.Step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Between two ticks a flight ends with the last one, and a recorder that begins and ends meanwhile
// changes nothing.
func TestFlightBesideARecorder(t *testing.T) {
	p := newPlay(t, 8, 5)
	r := NewFlightRecorder(p.m)
	if err := r.Start(p.m); err != nil {
		t.Fatal(err)
	}
	var rec *Recorder
	for n := range 200 {
		p.step()
		r.Tick()
		switch {
		case n == 50:
			rec, _ = NewRecorder(p.m, 60, 2)
		case n == 150:
			rec.Close()
		case n > 50 && n < 150:
			if raw := rec.Tick(); raw != nil {
				raw.Encode()
			}
		}
		r.Arm()
	}
	want := p.m.Hash()
	p.m.Leave(p.ids[0]) // for a tick that never begins
	if r.Close() {
		t.Error("a tick was interrupted")
	}
	head := HeadOf(p.m, "arena-16", MaxChunkTicks)
	_, player, err := open(t, head.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := playFlight(player, r.Chunks()); err != nil {
		t.Fatal(err)
	}
	if got := player.Match.Hash(); got != want || player.Match.Tick() != 200 {
		t.Errorf("tick %d, hash %x, expected %x", player.Match.Tick(), got, want)
	}
}

// A tick allocates nothing, also where a flight ends, and the memory is small.
func TestFlightAllocatesNothing(t *testing.T) {
	p := newPlay(t, 16, 4)
	r := NewFlightRecorder(p.m)
	if err := r.Start(p.m); err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	flights := 0
	for i := range 4 * FlightTicks {
		p.step()
		was := r.newer
		runtime.ReadMemStats(&before)
		r.Tick()
		r.Arm()
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 0 && i > 300 { // lists of inputs have grown
			t.Errorf("tick %d: %d allocations", i, n)
		}
		if r.newer != was {
			flights++
		}
	}
	if flights != 4 {
		t.Errorf("%d flights in %d ticks", flights, 4*FlightTicks)
	}
	size := uintptr(0)
	for i := range r.flights {
		for _, s := range r.flights[i].log.out {
			size += uintptr(cap(s))
		}
		size += unsafe.Sizeof(slotState{}) * uintptr(len(r.flights[i].log.slots))
	}
	if a := size / 16; a > 20<<10 {
		t.Errorf("the logs take %d bytes a slot", a)
	}
}

// Commands that are longer than usual end a flight early and allocate nothing more.
func TestFlightOfLongCommands(t *testing.T) {
	p := newPlay(t, 16, 4)
	for range 10 {
		p.step()
	}
	r := NewFlightRecorder(p.m)
	if err := r.Start(p.m); err != nil {
		t.Fatal(err)
	}
	memory := cap(r.flights[0].log.out[sYaw])
	for range 3 * FlightTicks {
		now := p.m.Tick()
		for _, id := range p.ids { // turns by a third each tick: three bytes
			p.m.CommandBuffer(id).Offer(sim.Command{Tick: now + 1, Yaw: geom.Angle(uint64(now) * 21845)})
		}
		p.m.Step()
		r.Tick()
	}
	first := r.flights[1-r.newer].first
	if got := cap(r.flights[0].log.out[sYaw]); got != memory {
		t.Errorf("the memory grew from %d to %d", memory, got)
	}
	if kept := p.m.Tick() - first; kept < FlightTicks/2 || r.flights[1-r.newer].ticks >= FlightTicks {
		t.Errorf("%d ticks are kept, of a flight of %d", kept, r.flights[1-r.newer].ticks)
	}
}
