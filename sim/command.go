package sim

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ability"
)

// Buttons are the keys held during a command, with the values of package ability.
type Buttons uint16

// The keys.
const (
	Jump    = Buttons(ability.Jump)
	Sprint  = Buttons(ability.SprintKey)
	Fire    = Buttons(ability.Primary)
	Throw   = Buttons(ability.Secondary)
	Reload  = Buttons(ability.ReloadKey)
	Melee   = Buttons(ability.MeleeKey)
	Victory = Buttons(ability.EmoteVictory)
	Defeat  = Buttons(ability.EmoteDefeat)
	Dance   = Buttons(ability.EmoteDance)
	Rocket  = Buttons(ability.RocketKey)

	allKeys = Jump | Sprint | Fire | Throw | Reload | Melee | Victory | Defeat | Dance | Rocket
	// substituteKeys bridge a missing command: no player fires without its own command.
	substituteKeys = Jump | Sprint
)

// keyNames are the names of keys, those of movement and weapons first.
var keyNames = []struct {
	key  Buttons
	name string
}{
	{Jump, "jump"}, {Sprint, "sprint"}, {Fire, "fire"}, {Throw, "throw"}, {Reload, "reload"},
	{Melee, "melee"}, {Rocket, "rocket"}, {Victory, "victory"}, {Defeat, "defeat"}, {Dance, "dance"},
}

// Names lists the keys that are held; never nil.
func (b Buttons) Names() []string {
	names := []string{}
	for _, k := range keyNames {
		if b&k.key != 0 {
			names = append(names, k.name)
		}
	}
	return names
}

// Substitute is the command for tick t of a player whose own is missing: its last one, with
// movement keys only.
func (c Command) Substitute(t tick.Tick) Command {
	c.Tick, c.View = t, tick.View{}
	c.Buttons &= substituteKeys
	return c
}

// Command is a player's input for one tick: intentions, never positions.
type Command struct {
	Tick tick.Tick // the tick it is for
	// the view of the player, if the tick starts an action that is judged by it; see NeedsView
	View       tick.View
	Yaw, Pitch geom.Angle // view direction; pitch in [-90, 90] degrees, upwards positive
	MoveYaw    uint8      // direction of movement relative to Yaw, 1/256 turn
	MoveMag    uint8      // speed, 255 = full
	Buttons    Buttons
}

// Sanitize returns c with unknown keys cleared and pitch limited to straight up or down; changed
// tells whether anything was.
func (c Command) Sanitize() (clean Command, changed bool) {
	clean = c
	changed = clean.sanitize()
	return clean, changed
}

// sanitize is Sanitize in place. Almost all commands are left untouched.
func (c *Command) sanitize() (changed bool) {
	if c.Buttons&^allKeys != 0 {
		c.Buttons, changed = c.Buttons&allKeys, true
	}
	const up = 0x4000
	if p := c.Pitch.Signed(); p > up {
		c.Pitch, changed = up, true
	} else if p < -up {
		down := -up
		c.Pitch, changed = geom.Angle(down&0xffff), true
	}
	return changed
}

// MaxWindow is the most commands in one datagram: over a quarter of a second at 60 Hz.
const MaxWindow = 32

// Errors of ParseCommands.
var (
	ErrWindowShort = errors.New("command window ends early")
	ErrWindowSize  = errors.New("command window holds no command or more than 32")
	ErrWindowTick  = errors.New("command window reaches below tick 1")
)

// AppendCommands appends a sliding window of commands. cmds are of consecutive ticks, oldest
// first, 1 to MaxWindow of them; each is coded against the next newer one, so that a key held for
// the whole window costs a bit a tick.
//
//	8   count
//	32  tick of the newest
//	then from the newest to the oldest, the first against all zero:
//	1   same inputs as the one before in this list; otherwise
//	    1 + 16 yaw · 1 + 16 pitch · 1 + 16 moveYaw, moveMag · 1 + 16 buttons    (1: value follows)
//	1   a view follows: 32 view.From · 8 view.To-view.From · 8 view.Frac
//	padded to a byte
func AppendCommands(dst []byte, cmds []Command) []byte {
	n := len(cmds)
	dst = slices.Grow(dst, 5+n*maxCommandBytes+8)
	buf, pos := dst[:cap(dst)], len(dst)
	buf[pos] = byte(n)
	binary.LittleEndian.PutUint32(buf[pos+1:], uint32(cmds[n-1].Tick))
	out := bitWriter{buf: buf, pos: pos + 5}
	var yaw, pitch, wish, buttons uint16 // of the newer one
	for i := n - 1; i >= 0; i-- {
		c := &cmds[i]
		walk := uint16(c.MoveYaw) | uint16(c.MoveMag)<<8
		if uint16(c.Yaw) == yaw && uint16(c.Pitch) == pitch && walk == wish && uint16(c.Buttons) == buttons {
			out.put(1, 1)
		} else {
			out.put(0, 1)
			out.changed(uint16(c.Yaw), yaw)
			out.changed(uint16(c.Pitch), pitch)
			out.flush()
			out.changed(walk, wish)
			out.changed(uint16(c.Buttons), buttons)
			yaw, pitch, wish, buttons = uint16(c.Yaw), uint16(c.Pitch), walk, uint16(c.Buttons)
		}
		if c.View == (tick.View{}) {
			out.put(0, 1)
		} else {
			out.put(1, 1)
			out.flush()
			out.put(uint64(c.View.From)|uint64(uint8(c.View.To-c.View.From))<<32|uint64(c.View.Frac)<<40,
				32+8+8)
		}
		out.flush()
	}
	return buf[:out.pos+int(out.n+7)/8]
}

// maxCommandBytes is the size of the longest command, rounded up.
const maxCommandBytes = (1+4*(1+16)+1+32+8+8)/8 + 1

// bitWriter packs bits as bitio.Writer does, into a buffer that is known to be long enough.
type bitWriter struct {
	buf []byte
	pos int    // whole bytes written
	acc uint64 // bits not yet written; fewer than 8 after flush
	n   uint   // bits in acc
}

// put adds n bits; the others of v must be 0. Between two flushes there is room for 56.
func (p *bitWriter) put(v uint64, n uint) {
	p.acc |= v << (p.n & 63)
	p.n += n
}

// changed adds a value if it differs from base.
func (p *bitWriter) changed(v, base uint16) {
	if v == base {
		p.n++
		return
	}
	p.put(1|uint64(v)<<1, 17)
}

// flush writes the pending bits, including those of an incomplete byte.
func (p *bitWriter) flush() {
	binary.LittleEndian.PutUint64(p.buf[p.pos:], p.acc)
	p.pos += int(p.n >> 3)
	p.acc >>= p.n & 56
	p.n &= 7
}

// ParseCommands reads what AppendCommands wrote into dst, newest first. It returns their number
// and the rest of src. On an error dst is invalid.
func ParseCommands(src []byte, dst *[MaxWindow]Command) (n int, rest []byte, err error) {
	const head = 8 + 32
	if len(src)*8 < head {
		return 0, nil, ErrWindowShort
	}
	n = int(src[0])
	newest := tick.Tick(binary.LittleEndian.Uint32(src[1:]))
	switch {
	case n < 1 || n > MaxWindow:
		return 0, nil, ErrWindowSize
	case newest < tick.Tick(n):
		return 0, nil, ErrWindowTick
	}
	// Bits are taken from eight bytes at a time; their number is checked once all
	// are taken: zeros stand for what lies past the end.
	off := head
	var yaw, pitch, wish, buttons uint16
	for i := range n {
		w := bitio.Peek(src, off)
		if w&1 != 0 {
			w >>= 1
			off++
		} else {
			at := uint(1)
			at += readIfChanged(w>>at, &yaw)
			at += readIfChanged(w>>at, &pitch)
			off += int(at)
			w, at = bitio.Peek(src, off), 0
			at += readIfChanged(w, &wish)
			at += readIfChanged(w>>at, &buttons)
			off += int(at)
			w >>= at
		}
		off++
		// field by field: a literal would be built aside and copied, before it has left the
		// processor's buffer
		c := &dst[i]
		c.Tick, c.Yaw, c.Pitch = newest-tick.Tick(i), geom.Angle(yaw), geom.Angle(pitch)
		c.MoveYaw, c.MoveMag, c.Buttons = uint8(wish), uint8(wish>>8), Buttons(buttons)
		if w&1 != 0 {
			w = bitio.Peek(src, off)
			off += 32 + 8 + 8
			c.View.From = tick.Tick(w)
			c.View.To = c.View.From + tick.Tick(uint8(w>>32))
			c.View.Frac = uint8(w >> 40)
		} else {
			c.View.From, c.View.To, c.View.Frac = 0, 0, 0
		}
	}
	if off > len(src)*8 {
		return 0, nil, ErrWindowShort
	}
	return n, src[(off+7)>>3:], nil
}

// readIfChanged takes a value from the bits of w if it differs from the last, and returns how many
// bits it took.
func readIfChanged(w uint64, v *uint16) uint {
	if w&1 == 0 {
		return 1
	}
	*v = uint16(w >> 1)
	return 1 + 16
}
