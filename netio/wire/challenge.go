package wire

// ChallengeSize is the length of a Challenge.
const ChallengeSize = 1 + 8 + 16

// Cookie proves that whoever returns it heard it: only the server can make one, for one address and nonce.
type Cookie [16]byte

// Challenge answers a Hello.
//
//	 1  kind   2
//	 8  nonce  of the Hello
//	16  cookie to be returned
type Challenge struct {
	Nonce  uint64
	Cookie Cookie
}

// Append writes c at the end of dst: ChallengeSize bytes.
func (c *Challenge) Append(dst []byte) []byte {
	dst = append(dst, byte(KindChallenge))
	dst = le.AppendUint64(dst, c.Nonce)
	return append(dst, c.Cookie[:]...)
}

// ParseChallenge reads a Challenge. The error is a Drop.
func ParseChallenge(src []byte) (c Challenge, err error) {
	if len(src) != ChallengeSize {
		return c, DropSize
	}
	if Kind(src[0]) != KindChallenge {
		return c, DropKind
	}
	c.Nonce = le.Uint64(src[1:])
	c.Cookie = Cookie(src[9:25])
	return c, nil
}
