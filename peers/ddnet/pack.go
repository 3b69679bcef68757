package ddnet

// AppendInt appends a number: six bits and the sign in the first byte, seven in each that follows,
// the highest bit set where one follows.
func AppendInt(dst []byte, v int32) []byte {
	sign := byte(0)
	u := uint32(v)
	if v < 0 {
		sign, u = 0x40, ^u
	}
	b := byte(u&0x3f) | sign
	for u >>= 6; u != 0; u >>= 7 {
		dst = append(dst, b|0x80)
		b = byte(u & 0x7f)
	}
	return append(dst, b)
}

func appendText(dst []byte, s string) []byte { return append(append(dst, s...), 0) }

// unpacker reads a message. After its end it reads zeros and has failed.
type unpacker struct {
	data   []byte
	failed bool
}

func (u *unpacker) int() int32 {
	v, sign := uint32(0), uint32(0)
	for i := range 5 {
		if len(u.data) == 0 {
			u.failed = true
			return 0
		}
		b := u.data[0]
		u.data = u.data[1:]
		if i == 0 {
			v = uint32(b & 0x3f)
			sign = -uint32(b >> 6 & 1)
		} else {
			v |= uint32(b&0x7f) << (7*i - 1)
		}
		if b&0x80 == 0 {
			break
		}
	}
	return int32(v ^ sign)
}

func (u *unpacker) raw(n int32) []byte {
	if n < 0 || int(n) > len(u.data) {
		u.failed = true
		return nil
	}
	b := u.data[:n]
	u.data = u.data[n:]
	return b
}
