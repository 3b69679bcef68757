package netcode

import "encoding/binary"

const (
	challengeSize       = 284
	sealedChallengeSize = challengeSize + tagSize
)

// challenge is state that a server sends to itself by way of the client, so that it need not keep
// it.
//
//	8    client id
//	256  user data
//	     zeros to 284
type challenge struct {
	clientID uint64
	userData [UserDataSize]byte
}

func (c *challenge) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, c.clientID)
	dst = append(dst, c.userData[:]...)
	return append(dst, zeros[:challengeSize-8-UserDataSize]...)
}

func (c *challenge) parse(src []byte) error {
	if len(src) != challengeSize {
		return ErrToken
	}
	c.clientID = binary.LittleEndian.Uint64(src)
	copy(c.userData[:], src[8:])
	return nil
}
