package dash

import "sync/atomic"

// tripleBuffer hands frames from one writer to one reader. Neither waits: each swaps its own frame
// for the one in the middle.
type tripleBuffer struct {
	frames [3]Frame
	back   uint32        // the writer's
	front  uint32        // the reader's
	middle atomic.Uint32 // and whether it is unread
	lost   atomic.Uint64 // frames that were replaced before they were read
}

const unread = 4 // bit of middle

// init allocates frames of a lobby.
func (b *tripleBuffer) init(a *About) {
	b.back, b.front = 0, 1
	b.middle.Store(2)
	for i := range b.frames {
		f := &b.frames[i]
		*f = Frame{
			Ticks:   make([]Tick, 0, MaxTicks),
			Stages:  make([]float64, 0, len(a.Stages)),
			Parts:   make([]float64, 0, len(a.Parts)),
			Players: make([]Player, 0, a.MaxPlayers),
			Shots:   make([]Shot, MaxShots)[:0],
			Rays:    make([]Ray, 0, MaxRays),
			Movers:  make([]Box, 0, MaxMovers),

			Effects:      make([]Effect, 0, MaxEffects),
			EffectCounts: make([]uint64, 0, len(a.Effects)),
		}
		for k := range MaxShots {
			s := &f.Shots[:MaxShots][k]
			s.Then, s.Now = make(Body, 0, len(a.Bones)), make(Body, 0, len(a.Bones))
		}
	}
}

// next returns the frame to be written.
func (b *tripleBuffer) next() *Frame { return &b.frames[b.back] }

// publish makes the frame of next the newest, and takes another for the next call of next.
func (b *tripleBuffer) publish() {
	was := b.middle.Swap(b.back | unread)
	if was&unread != 0 {
		b.lost.Add(1)
	}
	b.back = was &^ unread
}

// take returns the newest frame, nil if it was taken before. It belongs to the reader until the
// next take.
func (b *tripleBuffer) take() *Frame {
	if b.middle.Load()&unread == 0 {
		return nil
	}
	b.front = b.middle.Swap(b.front) &^ unread
	return &b.frames[b.front]
}
