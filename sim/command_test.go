package sim

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// drawWindow is a window as a client may send it: consecutive ticks, a view only where the trigger
// is held.
func drawWindow(t *rapid.T) []Command {
	n := rapid.IntRange(1, MaxWindow).Draw(t, "count")
	first := tick.Tick(rapid.Uint32Range(1, uint32(1<<32-n)).Draw(t, "first"))
	cmds := make([]Command, n)
	for i := range cmds {
		if i > 0 && rapid.Bool().Draw(t, "same") {
			cmds[i] = cmds[i-1]
		} else {
			cmds[i] = Command{
				Yaw:     geom.Angle(rapid.Uint16().Draw(t, "yaw")),
				Pitch:   geom.Angle(rapid.Uint16().Draw(t, "pitch")),
				MoveYaw: rapid.Uint8().Draw(t, "moveYaw"), MoveMag: rapid.Uint8().Draw(t, "moveMag"),
				Buttons: Buttons(rapid.Uint16().Draw(t, "buttons")),
			}
		}
		cmds[i].Tick, cmds[i].View = first+tick.Tick(i), tick.View{}
		if cmds[i].Buttons&Fire != 0 {
			from := tick.Tick(rapid.Uint32().Draw(t, "from"))
			cmds[i].View = tick.View{From: from, To: from + tick.Tick(rapid.Uint8().Draw(t, "span")),
				Frac: rapid.Uint8().Draw(t, "frac")}
		}
	}
	return cmds
}

func TestWindowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cmds := drawWindow(t)
		tail := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "tail")
		src := append(AppendCommands([]byte("before"), cmds), tail...)
		var got [MaxWindow]Command
		n, rest, err := ParseCommands(src[len("before"):], &got)
		if err != nil || n != len(cmds) || !bytes.Equal(rest, tail) || string(src[:6]) != "before" {
			t.Fatalf("%d commands, rest %x, %v; want %d, %x", n, rest, err, len(cmds), tail)
		}
		for i, c := range cmds {
			if got[n-1-i] != c {
				t.Fatalf("command %d: %+v, want %+v", i, got[n-1-i], c)
			}
		}
	})
}

func TestWindowBounds(t *testing.T) {
	window := func(n int, newest tick.Tick) []byte {
		cmds := make([]Command, n)
		for i := range cmds {
			cmds[i].Tick = newest - tick.Tick(n-1-i)
		}
		return AppendCommands(nil, cmds)
	}
	for i, c := range []struct {
		name string
		src  []byte
		want error
		n    int
	}{
		0:  {"nothing", nil, ErrWindowShort, 0},
		1:  {"four bytes", []byte{1, 1, 0, 0}, ErrWindowShort, 0},
		2:  {"the head alone", []byte{1, 1, 0, 0, 0}, ErrWindowShort, 0},
		3:  {"no command", []byte{0, 1, 0, 0, 0, 0}, ErrWindowSize, 0},
		4:  {"33 commands", append([]byte{33, 255, 0, 0, 0}, make([]byte, 2000)...), ErrWindowSize, 0},
		5:  {"255 commands", append([]byte{255, 255, 255, 0, 0}, make([]byte, 2000)...), ErrWindowSize, 0},
		6:  {"tick 0", []byte{1, 0, 0, 0, 0, 1}, ErrWindowTick, 0},
		7:  {"two up to tick 1", []byte{2, 1, 0, 0, 0, 3}, ErrWindowTick, 0},
		8:  {"one of tick 1", window(1, 1), nil, 1},
		9:  {"two up to tick 2", window(2, 2), nil, 2},
		10: {"32 up to tick 32", window(32, 32), nil, 32},
		11: {"32 up to tick 31", append([]byte{32, 31}, window(32, 99)[2:]...), ErrWindowTick, 0},
		12: {"one of the last tick", window(1, 1<<32-1), nil, 1},
		13: {"32 up to the last tick", window(32, 1<<32-1), nil, 32},
		14: {"a view that is not there", []byte{1, 9, 0, 0, 0, 1 | 1<<1, 0, 0}, ErrWindowShort, 0},
		15: {"values cut off", []byte{1, 9, 0, 0, 0, 0b11110}, ErrWindowShort, 0},
		16: {"the second command cut off", append([]byte{32}, window(1, 99)[1:]...), ErrWindowShort, 0},
	} {
		var got [MaxWindow]Command
		n, _, err := ParseCommands(c.src, &got)
		if n != c.n || err != c.want {
			t.Errorf("%d %s: %d commands, %v; want %d, %v", i, c.name, n, err, c.n, c.want)
		}
	}
}

// Every prefix of a good window is refused: what is cut off is never taken as zero.
func TestWindowCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := AppendCommands(nil, drawWindow(t))
		more := append(src, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "behind")...)
		var fast, slow [MaxWindow]Command
		n, rest, err := ParseCommands(more, &fast)
		if m, left, why := slowParse(more, &slow); n != m || err != why || !bytes.Equal(rest, left) ||
			fast != slow {
			t.Fatalf("%d commands, %v, %d bytes left; bit by bit %d, %v, %d", n, err, len(rest), m, why,
				len(left))
		}
		var got [MaxWindow]Command
		for n := range len(src) {
			if _, _, err := ParseCommands(src[:n], &got); err != ErrWindowShort {
				t.Fatalf("%d of %d bytes: %v", n, len(src), err)
			}
		}
	})
}

func TestWindowSizes(t *testing.T) {
	run := func(n int, f func(i int, c *Command)) int {
		cmds := make([]Command, n)
		for i := range cmds {
			cmds[i] = Command{Tick: tick.Tick(1000 + i), Yaw: 12345, Pitch: 200, MoveMag: 255}
			f(i, &cmds[i])
		}
		return len(AppendCommands(nil, cmds))
	}
	for i, c := range []struct {
		name  string
		bytes int
		got   int
	}{
		0: {"12 standing still, looking nowhere", 8, run(12, func(_ int, c *Command) {
			c.Yaw, c.Pitch,
				c.MoveMag = 0, 0, 0
		})},
		1: {"12 walking straight on", 15, run(12, func(int, *Command) {})},
		2: {"12 walking, turning every tick", 42,
			run(12, func(i int, c *Command) { c.Yaw += geom.Angle(i) })},
		3: {"12 walking, shooting all the time", 89, run(12, func(i int, c *Command) {
			c.Buttons,
				c.View = Fire, tick.View{From: 990, To: 993}
		})},
		4: {"32 commands that change in every field", 477, run(32, func(i int, c *Command) {
			*c = Command{c.Tick, tick.View{From: 990, To: 993}, geom.Angle(i + 1), geom.Angle(i + 1),
				uint8(i), uint8(i + 1), Fire | Buttons(i+1)<<8}
		})},
	} {
		t.Logf("%s: %d bytes", c.name, c.got)
		if c.got != c.bytes {
			t.Errorf("%d %s: %d bytes, want %d", i, c.name, c.got, c.bytes)
		}
	}
}

func TestClean(t *testing.T) {
	for i, c := range []struct{ in, want Command }{
		{Command{Buttons: allKeys}, Command{Buttons: allKeys}},
		{Command{Buttons: 0xffff, Pitch: 0x4000}, Command{Buttons: allKeys, Pitch: 0x4000}},
		{Command{Pitch: 0x4001}, Command{Pitch: 0x4000}},
		{Command{Pitch: 0x7fff}, Command{Pitch: 0x4000}},
		{Command{Pitch: 0x8000}, Command{Pitch: 0xc000}},
		{Command{Pitch: 0xbfff}, Command{Pitch: 0xc000}},
		{Command{Pitch: 0xc000, Yaw: 0xffff}, Command{Pitch: 0xc000, Yaw: 0xffff}},
	} {
		got, changed := c.in.Sanitize()
		if got != c.want || changed != (c.in != c.want) {
			t.Errorf("%d: %+v, changed %v; want %+v", i, got, changed, c.want)
		}
		if again, changed := got.Sanitize(); again != got || changed {
			t.Errorf("%d: cleaned twice: %+v", i, again)
		}
	}
}

func TestWindowAllocatesNothing(t *testing.T) {
	cmds := make([]Command, MaxWindow)
	for i := range cmds {
		cmds[i] = Command{Tick: tick.Tick(i + 1), Yaw: geom.Angle(i), Buttons: Fire}
	}
	buf := make([]byte, 0, 1200)
	var got [MaxWindow]Command
	if n := alloctest.In(100, func() {
		buf = AppendCommands(buf[:0], cmds)
		if _, _, err := ParseCommands(buf, &got); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// slowParse is the honest twin: one number after the other, and each is asked for whether it is
// there.
func slowParse(src []byte, dst *[MaxWindow]Command) (n int, rest []byte, err error) {
	var r bitio.Reader
	r.Reset(src)
	n = int(r.Bits(8))
	newest := tick.Tick(r.Bits(32))
	switch {
	case r.Err() != nil:
		return 0, nil, ErrWindowShort
	case n < 1 || n > MaxWindow:
		return 0, nil, ErrWindowSize
	case newest < tick.Tick(n):
		return 0, nil, ErrWindowTick
	}
	other := func(base uint16) uint16 {
		if r.Bits(1) == 0 {
			return base
		}
		return uint16(r.Bits(16))
	}
	var c Command
	for i := range n {
		c.Tick, c.View = newest-tick.Tick(i), tick.View{}
		if r.Bits(1) == 0 {
			c.Yaw = geom.Angle(other(uint16(c.Yaw)))
			c.Pitch = geom.Angle(other(uint16(c.Pitch)))
			wish := other(uint16(c.MoveYaw) | uint16(c.MoveMag)<<8)
			c.MoveYaw, c.MoveMag = uint8(wish), uint8(wish>>8)
			c.Buttons = Buttons(other(uint16(c.Buttons)))
		}
		if r.Bits(1) != 0 {
			c.View.From = tick.Tick(r.Bits(32))
			c.View.To = c.View.From + tick.Tick(r.Bits(8))
			c.View.Frac = uint8(r.Bits(8))
		}
		dst[i] = c
	}
	r.Align()
	if r.Err() != nil {
		return 0, nil, ErrWindowShort
	}
	return n, r.Rest(), nil
}

// Name parses is whole: consecutive ticks, views that span at most 255 ticks, nothing invented
// beyond the bytes; and written again it means the same, in no more bytes.
func FuzzParseCommands(f *testing.F) {
	f.Add(AppendCommands(nil, []Command{{Tick: 1}}))
	f.Add(AppendCommands(nil, []Command{{Tick: 7, Buttons: Fire, View: tick.View{From: 3, To: 6, Frac: 9}},
		{Tick: 8, Yaw: 1, MoveMag: 255}}))
	f.Add([]byte{32, 255, 255, 255, 255, 1, 2, 3})
	f.Add(bytes.Repeat([]byte{0xff}, 300))
	f.Fuzz(func(t *testing.T, src []byte) {
		var got, again, slow [MaxWindow]Command
		n, rest, err := ParseCommands(src, &got)
		if m, left, why := slowParse(src, &slow); m != n || !bytes.Equal(left, rest) || why != err ||
			err == nil && slow != got {
			t.Fatalf("%d commands, %v, %d bytes left; bit by bit %d, %v, %d", n, err, len(rest), m, why,
				len(left))
		}
		if err != nil {
			if n != 0 || err != ErrWindowShort && err != ErrWindowSize && err != ErrWindowTick {
				t.Fatalf("%d commands with %v", n, err)
			}
			return
		}
		used := len(src) - len(rest)
		if n < 1 || n > MaxWindow || used < 5 || !bytes.Equal(src[used:], rest) {
			t.Fatalf("%d commands from %d of %d bytes", n, used, len(src))
		}
		oldestFirst := make([]Command, n)
		for i, c := range got[:n] {
			if c.Tick != got[0].Tick-tick.Tick(i) || c.Tick == 0 || c.View.To-c.View.From > tick.MaxViewSpan {
				t.Fatalf("command %d: %+v behind %+v", i, c, got[0])
			}
			oldestFirst[n-1-i] = c
		}
		dst := AppendCommands(nil, oldestFirst)
		m, none, err := ParseCommands(dst, &again)
		if err != nil || m != n || len(none) != 0 || again != got || len(dst) > used {
			t.Fatalf("%+v written again in %d bytes for %d: %+v, %v", got[:n], len(dst), used, again[:m], err)
		}
	})
}
