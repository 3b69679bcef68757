package snapshot

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// ownerSchema is a player's own row, at full precision.
var ownerSchema = schema.Schema{Name: "own", Single: true, Fields: []schema.Field{
	{Name: "x", Often: 60}, {Name: "y", Often: 20}, {Name: "z", Often: 60},
	{Name: "vx", Min: -1 << 16, Max: 1 << 16, Often: 60}, {Name: "vy", Min: -1 << 16, Max: 1 << 16, Often: 20},
	{Name: "vz", Min: -1 << 16, Max: 1 << 16, Often: 60}, {Name: "loco", Max: 7}, {Name: "jumps", Max: 3},
	{Name: "since", Max: 65535, Often: 90}, {Name: "clip", Max: 30}, {Name: "reload", Max: 255},
	{Name: "yaw", Wrap: 65536, Often: 60}, {Name: "pitch", Wrap: 65536, Often: 50}, {Name: "score", Min: -1000, Max: 1000},
}}

// TestOwnerRows: over a bad link the client's row is the server's for every tick that arrives, and
// within bounds.
func TestOwnerRows(t *testing.T) {
	m := schema.DefaultModel(ownerSchema)
	for i, c := range []struct {
		interval      tick.Tick
		loss, ackLoss float64
		delay         int // in acknowledgements
	}{{1, 0, 0, 0}, {3, 0.3, 0.3, 3}, {2, 0.7, 0.6, 4}} {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		out, in := NewOwnerWriter(m, c.interval), NewOwnerReader(m, c.interval)
		row := make([]int32, len(ownerSchema.Fields))
		truth := map[tick.Tick][]int32{}
		var late []tick.Tick
		deltas, got := 0, 0
		for step := range 2000 {
			now := 7 + tick.Tick(step)*c.interval
			for f, field := range ownerSchema.Fields {
				switch rng.IntN(12) {
				case 0:
					row[f] = int32(rng.Uint32()) // also out of range: clamped
				case 1, 2, 3:
					row[f] = field.Clamp(row[f] + rng.Int32N(9) - 4)
				}
			}
			src := out.Append(nil, now, row)
			if len(src) > 1+(m.MaxRowBits()+7)/8 {
				t.Fatalf("case %d: %d bytes, bound %d", i, len(src), 1+(m.MaxRowBits()+7)/8)
			}
			for f, field := range ownerSchema.Fields {
				row[f] = field.Clamp(row[f])
			}
			truth[now] = slices.Clone(row)
			if rng.Float64() < c.loss {
				continue
			}
			back, rest, err := in.Parse(now, append(src, 1, 2, 3))
			if err != nil || len(rest) != 3 || !slices.Equal(back, truth[now]) {
				t.Fatalf("case %d, tick %d: %v, %d bytes left, row %v, want %v", i, now, err, len(rest), back, truth[now])
			}
			if got++; src[0] != 0 {
				deltas++
			}
			if rng.Float64() >= c.ackLoss {
				late = append(late, now)
			}
			if len(late) > c.delay {
				out.Acked(late[0])
				late = late[1:]
			}
			out.Acked(now + c.interval) // never sent: ignored
		}
		if got == 0 || deltas*4 < got {
			t.Errorf("case %d: %d of %d rows are deltas", i, deltas, got)
		}
	}
}

func TestOwnerRefuses(t *testing.T) {
	m := schema.DefaultModel(ownerSchema)
	out, in := NewOwnerWriter(m, 1), NewOwnerReader(m, 1)
	row := make([]int32, len(ownerSchema.Fields))
	src := out.Append(nil, 100, row)
	if _, _, err := in.Parse(100, src); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		t    tick.Tick
		src  []byte
		want error
	}{
		{0, src, ErrStale},
		{100 - Window, src, ErrStale},
		{101, nil, ErrRun},
		{101, []byte{Window}, ErrRun},
		{1, []byte{1, 0, 0}, ErrRun},
		{101, []byte{2, 0, 0}, ErrNoBaseline},
		{101, []byte{1}, ErrBlock},
		{101, src[:len(src)-1], ErrBlock},
	} {
		if _, rest, err := in.Parse(c.t, c.src); !errors.Is(err, c.want) || len(rest) != len(c.src) {
			t.Errorf("case %d: %v, want %v", i, err, c.want)
		}
	}
}
