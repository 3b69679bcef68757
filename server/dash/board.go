package dash

import "sync/atomic"

// board hands frames from one writer to one reader. Neither ever waits: there are three frames, one that is written, one that is
// read and one between them, and whoever is done swaps its own for that one.
type board struct {
	frames [3]Frame
	back   uint32        // the writer's
	front  uint32        // the reader's
	middle atomic.Uint32 // the one between, and whether it is fresh
	lost   atomic.Uint64 // frames that were written over before they were read
}

const fresh = 4 // bit of middle

// init makes room for what a frame of so many players, stages and parts holds.
func (b *board) init(players, stages, parts, bones int) {
	b.back, b.front = 0, 1
	b.middle.Store(2)
	for i := range b.frames {
		f := &b.frames[i]
		*f = Frame{Ticks: make([]Tick, 0, MaxTicks), Stages: make([]float64, 0, stages), Parts: make([]float64, 0, parts),
			Players: make([]Player, 0, players), Shots: make([]Shot, MaxShots)[:0], Rays: make([]Ray, 0, MaxRays)}
		for k := range MaxShots {
			s := &f.Shots[:MaxShots][k]
			s.Then, s.Now = make(Body, 0, bones), make(Body, 0, bones)
		}
	}
}

// next is the frame to be written.
func (b *board) next() *Frame { return &b.frames[b.back] }

// hang lets the reader have what next gave, and gives the writer another.
func (b *board) hang() {
	was := b.middle.Swap(b.back | fresh)
	if was&fresh != 0 {
		b.lost.Add(1)
	}
	b.back = was &^ fresh
}

// take is the newest frame if the reader has not had it yet, else nil. It is the reader's until the next take.
func (b *board) take() *Frame {
	if b.middle.Load()&fresh == 0 {
		return nil
	}
	b.front = b.middle.Swap(b.front) &^ fresh
	return &b.frames[b.front]
}
