package sim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowInbox is the inbox as one would explain it: a map of what has come, and counting.
type slowInbox struct {
	have    map[tick.Tick]Command
	over    tick.Tick
	last    Command
	without int
	count   CommandCounts
}

func (b *slowInbox) offer(c Command) {
	clean, mended := c.Sanitize()
	had, known := b.have[c.Tick]
	switch {
	case c.Tick <= b.over:
		b.count.Stale++
	case c.Tick > b.over+bufferTicks:
		b.count.Future++
	case known && had == clean:
		b.count.Duplicate++
	case known:
		b.count.Conflict++
	default:
		b.have[c.Tick] = clean
		b.count.Accepted++
		if mended {
			b.count.Clamped++
		}
	}
}

func (b *slowInbox) take(t tick.Tick) (Command, bool) {
	b.over = t
	if c, ok := b.have[t]; ok {
		b.last, b.without = c, 0
		b.count.Used++
		return c, true
	}
	b.without++
	if b.last.Tick != 0 {
		b.count.Missing++
	}
	c := b.last
	c.Tick, c.View = t, tick.View{}
	c.Buttons &= Jump | Sprint
	if b.without > 3 {
		c.MoveMag, c.Buttons = 0, 0
	}
	return c, false
}

// Commands in any order, several times, too early, too late and in conflict: the ring agrees with
// the map, and whatever came, each tick is played once.
func TestInboxEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := tick.Tick(rapid.SampledFrom([]uint32{0, 1, 63, 64, 1000, 1 << 31}).Draw(t, "start"))
		var b CommandBuffer
		b.reset(start)
		slow := slowInbox{have: map[tick.Tick]Command{}, over: start}
		offered, newest := 0, tick.Tick(0)
		for now := start + 1; now < start+tick.Tick(rapid.IntRange(1, 200).Draw(t, "ticks")); now++ {
			for range rapid.IntRange(0, 4).Draw(t, "offers") {
				c := Command{
					Tick: tick.Tick(max(0, int64(now)+rapid.SampledFrom([]int64{-70, -2, -1, 0, 0, 0, 1,
						2, 5, 62, 63, 64, 65, 200}).Draw(t, "ahead"))),
					Yaw:     geom.Angle(rapid.IntRange(0, 2).Draw(t, "yaw")),
					Pitch:   geom.Angle(rapid.SampledFrom([]uint16{0, 0x4000, 0x5000}).Draw(t, "pitch")),
					MoveMag: 255, Buttons: rapid.SampledFrom([]Buttons{Sprint, Fire | Jump, Reload,
						0xffff}).Draw(t, "keys"),
				}
				if c.Buttons&Fire != 0 {
					c.View = tick.View{From: 1, To: 2, Frac: uint8(rapid.IntRange(0, 1).Draw(t, "frac"))}
				}
				b.Offer(c)
				slow.offer(c)
				offered++
				if c.Tick <= now-1+bufferTicks { // late ones too: the report has their delay
					newest = max(newest, c.Tick)
				}
			}
			got, own := b.Take(now)
			want, wantOwn := slow.take(now)
			if got != want || own != wantOwn || b.Count != slow.count {
				t.Fatalf("tick %d: %+v %v, counted %+v;\nwant %+v %v, %+v", now, got, own, b.Count, want,
					wantOwn, slow.count)
			}
			if lead := int64(newest) - int64(now); int64(b.Lead(now)) != min(max(lead, -128), 127) {
				t.Fatalf("tick %d: lead %d, the newest is %d", now, b.Lead(now), newest)
			}
			n := b.Count
			if n.Accepted+n.Duplicate+n.Stale+n.Future+n.Conflict != uint64(offered) || n.Used > n.Accepted {
				t.Fatalf("tick %d: %d commands offered, counted %+v", now, offered, n)
			}
		}
	})
}

// A window goes in as its commands do one by one, the oldest first.
func TestOfferWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, single CommandBuffer
		for now := tick.Tick(40); now < 60; now++ {
			window := make([]Command, rapid.IntRange(1, MaxWindow).Draw(t, "commands"))
			newest := now + tick.Tick(rapid.IntRange(0, 70).Draw(t, "ahead"))
			for i := range window {
				window[i] = Command{Tick: newest - tick.Tick(i),
					Buttons: rapid.SampledFrom([]Buttons{0, Fire, 0xffff}).Draw(t, "keys")}
			}
			for i := len(window) - 1; i >= 0; i-- {
				single.Offer(window[i])
			}
			if whole.OfferWindow(window); whole != single {
				t.Fatalf("tick %d: counted %+v, one by one %+v", now, whole.Count, single.Count)
			}
			whole.Take(now)
			single.Take(now)
		}
	})
}

// A missing command is bridged for three ticks, then the player stands still; no trigger is ever
// pulled twice.
func TestInboxBridges(t *testing.T) {
	var b CommandBuffer
	b.reset(10)
	b.Offer(Command{Tick: 12, Yaw: 77, Pitch: 5, MoveYaw: 3, MoveMag: 200, Buttons: allKeys,
		View: tick.View{From: 5, To: 6}})
	for i, want := range []struct {
		keys Buttons
		mag  uint8
		own  bool
	}{
		{0, 0, false}, // tick 11: nothing has come yet
		{allKeys, 200, true},
		{Jump | Sprint, 200, false},
		{Jump | Sprint, 200, false},
		{Jump | Sprint, 200, false},
		{0, 0, false},
		{0, 0, false},
	} {
		c, own := b.Take(tick.Tick(11 + i))
		if c.Buttons != want.keys || c.MoveMag != want.mag || own != want.own || c.Tick != tick.Tick(11+i) {
			t.Errorf("tick %d: %+v, own %v; want %+v", 11+i, c, own, want)
		}
		if i > 0 && (c.Yaw != 77 || c.Pitch != 5) || !own && c.View != (tick.View{}) {
			t.Errorf("tick %d: looks at %d, %d, %v", 11+i, c.Yaw, c.Pitch, c.View)
		}
	}
	if b.Count != (CommandCounts{Accepted: 1, Used: 1, Missing: 5}) {
		t.Errorf("counted %+v", b.Count)
	}
}

func TestInboxAllocatesNothing(t *testing.T) {
	var b CommandBuffer
	now := tick.Tick(0)
	if n := alloctest.In(1000, func() {
		now++
		b.Offer(Command{Tick: now + 3})
		b.Take(now)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
