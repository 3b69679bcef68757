package quake3

// UserCommand is a player's command for a stretch of time.
type UserCommand struct {
	Time               int32     // of the server, milliseconds
	Angles             [3]uint16 // pitch, yaw, roll; 65536 to the turn
	Buttons            uint16
	Weapon             uint8
	Forward, Right, Up int8
}

// writeCommand writes a command as a delta; values are covered by the key.
func writeCommand(w *Writer, key int32, from, to UserCommand) {
	if d := to.Time - from.Time; d >= 0 && d < 256 {
		w.Bits(1, 1)
		w.Bits(uint32(d), 8)
	} else {
		w.Bits(0, 1)
		w.Long(to.Time)
	}
	same := from
	same.Time = to.Time
	if same == to {
		w.Bits(0, 1)
		return
	}
	w.Bits(1, 1)
	key ^= to.Time
	field := func(from, to uint32, width int) {
		if from == to {
			w.Bits(0, 1)
			return
		}
		w.Bits(1, 1)
		w.Bits((to^uint32(key))&(1<<width-1), width)
	}
	for i := range from.Angles {
		field(uint32(from.Angles[i]), uint32(to.Angles[i]), 16)
	}
	field(uint32(uint8(from.Forward)), uint32(uint8(to.Forward)), 8)
	field(uint32(uint8(from.Right)), uint32(uint8(to.Right)), 8)
	field(uint32(uint8(from.Up)), uint32(uint8(to.Up)), 8)
	field(uint32(from.Buttons), uint32(to.Buttons), 16)
	field(uint32(from.Weapon), uint32(to.Weapon), 8)
}

// hashText is the part of a move's key that comes from the last command of the server that the
// client has.
func hashText(s string, limit int) int32 {
	h := int32(0)
	for i := 0; i < len(s) && i < limit; i++ {
		b := int32(s[i])
		if b > 127 || b == '%' {
			b = '.'
		}
		h += b * int32(119+i)
	}
	return h ^ h>>10 ^ h>>20
}
