package move

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/sim/arena"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestColumns holds StepBodies to Body.Step, bit by bit, over any arena and any motion, reachable
// or not.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a := clutter(r, rapid.IntRange(0, 30).Draw(t, "solids"))
		if rapid.Bool().Draw(t, "generated") {
			a = arena.Generate(rapid.IntRange(2, 40).Draw(t, "players"), r.Uint64())
		}
		n := rapid.SampledFrom([]int{0, 1, 16, 17, 33, 100, 256, 270}).Draw(t, "rows")
		rate := rapid.SampledFrom([]uint16{0, 1, 20, 60, 128}).Draw(t, "rate")
		c := Columns{make([]geom.Vec3, n), make([]geom.Vec3, n), make([]State, n)}
		in := make([]Input, n)
		want := make([]Motion, n)
		for i := range n {
			want[i] = Motion{place(r, a), geom.Vec3{X: r.Float32()*90 - 45, Y: r.Float32()*90 - 45,
				Z: r.Float32()*90 - 45},
				Loco(r.IntN(8)), uint8(r.IntN(4)), uint16(r.Uint32()),
				uint16(r.IntN(2)) | uint16(r.Uint32())&heading}
			switch r.IntN(20) {
			case 0:
				want[i].Pos.Y = math.Float32frombits(r.Uint32())
			case 1:
				want[i].Vel.X = math.Float32frombits(r.Uint32())
			}
			want[i].round()
			c.Pos[i], c.Vel[i], c.State[i] = Split(want[i])
		}
		for range 20 {
			for i := range in {
				in[i] = randomInput(r)
				want[i] = Step(want[i], in[i], a, rate)
			}
			stepColumns(c, in, a, rate)
			for i := range want {
				if got := Join(c.Pos[i], c.Vel[i], c.State[i]); !equalBits(got, want[i]) {
					t.Fatalf("row %d: columns %+v, Step %+v", i, got, want[i])
				}
			}
		}
	})
}

// equalBits is == that also holds for NaN, and not for 0 and -0.
func equalBits(a, b Motion) bool {
	return a.Loco == b.Loco && a.Jumps == b.Jumps && a.Since == b.Since && a.Held == b.Held &&
		slices.Equal(bitsOf(a), bitsOf(b))
}

func bitsOf(m Motion) []uint32 {
	var out []uint32
	for _, v := range [6]float32{m.Pos.X, m.Pos.Y, m.Pos.Z, m.Vel.X, m.Vel.Y, m.Vel.Z} {
		out = append(out, math.Float32bits(v))
	}
	return out
}

// TestWalkHash pins 10,000 ticks of 16 players that wander about generated arenas, with both
// implementations. A new hash means that recorded matches replay differently.
func TestWalkHash(t *testing.T) {
	const pinned = "0f9e78076254603c7ffffd3e891b2e96418ca1dff5a4eb3d3570964403240420"
	digest := sha256.New()
	for map16 := range uint64(4) {
		a := arena.Generate(16, map16)
		c, in := crowd(a, 16)
		want := make([]Motion, 16)
		for i := range want {
			want[i] = Join(c.Pos[i], c.Vel[i], c.State[i])
		}
		travelled := float32(0)
		for tick := range uint32(2500) {
			for i := range in {
				in[i] = wander(uint32(i), tick)
				before := want[i].Pos
				want[i] = Step(want[i], in[i], a, 60)
				travelled += want[i].Pos.Sub(before).Len()
			}
			stepColumns(c, in, a, 60)
			for i := range want {
				if got := Join(c.Pos[i], c.Vel[i], c.State[i]); !equalBits(got, want[i]) {
					t.Fatalf("tick %d row %d: columns %+v, Step %+v", tick, i, got, want[i])
				}
				for _, b := range bitsOf(want[i]) {
					digest.Write(binary.LittleEndian.AppendUint32(nil, b))
				}
				digest.Write([]byte{byte(want[i].Loco), want[i].Jumps, byte(want[i].Since),
					byte(want[i].Held)})
			}
		}
		if travelled < 16*2500/60*2 {
			t.Errorf("map %d: 16 players walked %v m in 42 s: someone is stuck", map16, travelled)
		}
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != pinned {
		t.Errorf("the walk's hash is\n%s, pinned\n%s", got, pinned)
	}
}

// TestAnywhere walks the same walk in the same room at two places: the bits may not depend on where
// it stands.
func TestAnywhere(t *testing.T) {
	shift := geom.Vec3{X: 1234.5, Y: -77.25, Z: -1800.015625}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		a := clutter(r, 20)
		start := Motion{Pos: place(r, a), Loco: InAir}
		at := a.Bounds.Min
		solids := slices.Clone(a.Solids)
		for i, s := range solids {
			solids[i] = arena.NewSolid(s.Shape, s.Min.Sub(at).Add(shift), s.Max.Sub(at).Add(shift))
		}
		moved, err := arena.New("moved", geom.AABB{Min: shift, Max: a.Bounds.Max.Sub(at).Add(shift)},
			solids, nil)
		if err != nil {
			t.Fatal(err)
		}
		here, there := start, start
		there.Pos = start.Pos.Sub(at).Add(shift)
		for tick := range 300 {
			in := randomInput(r)
			here, there = Step(here, in, a, 60), Step(there, in, moved, 60)
			back := there
			back.Pos = there.Pos.Sub(shift).Add(at)
			if back != here {
				t.Fatalf("seed %d tick %d: %+v here, %+v there", seed, tick, here, back)
			}
		}
	}
}

// TestBuried puts bodies into solids, as a bad spawn or a moved map would: they come out within a
// second.
func TestBuried(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 11))
		a := clutter(r, 3)
		s := a.Solids[6+r.IntN(len(a.Solids)-6)]
		m := Motion{Pos: s.Min.Lerp(s.Max, r.Float32())}
		for range 60 {
			m = Step(m, Input{}, a, 60)
		}
		if d := depth(a, m.Pos); d > 1./1024 {
			t.Errorf("seed %d: still %v deep in %+v at %+v", seed, d, s, m)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	a := arena.Generate(64, 1)
	c, in := crowd(a, 64)
	who, bodies := teamless(64), []*Body{standard}
	if n := alloctest.In(100, func() {
		batch.StepBodies(Rows{c, in, who}, bodies, a, atRate(60))
		m := Step(Join(c.Pos[0], c.Vel[0], c.State[0]), in[0], a, 60)
		c.Pos[0], c.Vel[0], c.State[0] = Split(m)
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// FuzzStep feeds Step motions of any bits: it returns what the wire can carry, within the bounds.
func FuzzStep(f *testing.F) {
	a, moving := arena.Generate(4, 1), lifts(f)
	f.Add(uint32(0), uint32(0), uint32(0x7fc00000), uint32(0x7f800000), uint32(0), uint32(1), uint64(0),
		uint64(0), uint16(60))
	f.Add(uint32(0xff800000), uint32(0x42000000), uint32(0), uint32(0x7149f2ca), uint32(0), uint32(1),
		uint64(1<<63), uint64(1), uint16(1))
	f.Fuzz(func(t *testing.T, px, py, pz, vx, vy, vz uint32, state, input uint64, rate uint16) {
		bit := math.Float32frombits
		m := Motion{geom.Vec3{X: bit(px), Y: bit(py), Z: bit(pz)}, geom.Vec3{X: bit(vx), Y: bit(vy),
			Z: bit(vz)},
			Loco(state), uint8(state >> 8), uint16(state >> 16), uint16(state >> 32)}
		in := Input{geom.Angle(input), uint8(input >> 16), uint8(input >> 24), uint16(input >> 32)}
		if rate == 0 {
			rate = 1
		}
		among := m
		for i := range tick.Tick(3) {
			now := arena.Moment{Tick: tick.Tick(state>>32) + i, Rate: tick.Rate(rate)}
			among = standard.Step(among, in, NoTeam, moving, now)
			if p := among.Pos; !equalBits(among, Round(among)) || p.Max(moving.Bounds.Min).Min(moving.Bounds.Max) != p {
				t.Fatalf("among movers not rounded, or beyond the bounds: %+v", among)
			}
			if m = Step(m, in, a, rate); !equalBits(m, Round(m)) {
				t.Fatalf("not rounded: %+v", m)
			}
			if p := m.Pos; p != p.Max(a.Bounds.Min).Min(a.Bounds.Max) {
				t.Fatalf("out of bounds: %+v", m)
			}
		}
	})
}
