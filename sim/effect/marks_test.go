package effect

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

func mark(x, radius float32, t tick.Tick) Mark {
	return Mark{Pos: geom.Vec3{X: x}, Normal: geom.Vec3{Y: 1}, Radius: radius, Tick: t}
}

// A large mark replaces the small ones that it covers, and keeps its place against them.
func TestRow71LargeMarksReplaceSmallOnes(t *testing.T) {
	m := NewMarks(8)
	for i := range 5 {
		m.Add(mark(float32(i)*0.2, 0.05, tick.Tick(i)))
	}
	wall := mark(0.4, 0.05, 9)
	wall.Normal = geom.Vec3{X: 1} // of another surface
	m.Add(wall)
	if !m.Add(mark(0.4, 0.3, 10)) || len(m.All()) != 4 || m.Replaced() != 3 {
		t.Errorf("%d marks, %d replaced: %+v", len(m.All()), m.Replaced(), m.All())
	}
	if m.Add(mark(0.5, 0.05, 11)) || len(m.All()) != 4 {
		t.Error("a small mark was added in a large one")
	}
	if !m.Add(mark(0.75, 0.05, 12)) || !m.Add(mark(0.4, 0.3, 13)) || len(m.All()) != 6 {
		t.Errorf("beside it, and one as large: %+v", m.All())
	}
}

// However many marks come, the pool keeps its budget, allocates nothing, and large marks outlive
// small ones.
func TestRow71MarksKeepTheirBudget(t *testing.T) {
	const most = 64
	m := NewMarks(most)
	rng := rand.New(rand.NewPCG(71, 6))
	now := tick.Tick(0)
	for i := range 16 {
		m.Add(mark(float32(100+10*i), 2, now))
	}
	add := func() {
		now++
		m.Add(Mark{Pos: geom.Vec3{X: rng.Float32() * 60, Z: rng.Float32() * 60}, Normal: geom.Vec3{Y: 1},
			Radius: 0.02 + 0.05*rng.Float32(), Tick: now})
		if len(m.All()) > most {
			t.Fatalf("%d marks, want at most %d", len(m.All()), most)
		}
	}
	for range 5000 {
		add()
	}
	large := 0
	for _, k := range m.All() {
		if k.Radius == 2 {
			large++
		}
	}
	if len(m.All()) != most || large != 16 {
		t.Errorf("%d marks, %d of 16 large ones", len(m.All()), large)
	}
	for i := range 200 { // all of the pool is large: the oldest goes
		m.Add(mark(float32(1000+10*i), 2, now+tick.Tick(i)))
	}
	if !m.Add(mark(0, 0.05, now+500)) || len(m.All()) != most {
		t.Errorf("%d marks, and a small one was not added", len(m.All()))
	}
	if n := alloctest.In(100, add); n != 0 {
		t.Errorf("%v allocations a mark", n)
	}
}
