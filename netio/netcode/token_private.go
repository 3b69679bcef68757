package netcode

import (
	"crypto/cipher"
	"encoding/binary"
	"net/netip"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	privateSize       = 1008                  // opened
	sealedPrivateSize = privateSize + tagSize // sealed
	nonceSize         = chacha20poly1305.NonceSizeX
)

// PrivateToken is what a backend tells a server about a client. The client cannot read it.
//
//	8     client id
//	4     timeout    seconds, signed; negative: never
//	4     n          1 to 32
//	7/19  addresses  n times, see appendServers
//	32    client's key
//	32    server's key
//	256   user data
//	      zeros to 1008
type PrivateToken struct {
	ClientID       uint64
	TimeoutSeconds int32 // of silence; negative never ends a session
	NumServers     int
	Servers        [MaxServers]netip.AddrPort // as the servers know themselves
	ClientToServer Key
	ServerToClient Key
	UserData       [UserDataSize]byte
}

// Append writes the 1008 bytes of an opened token. NumServers must be 1 to MaxServers and the
// addresses valid.
func (t *PrivateToken) Append(dst []byte) []byte {
	end := len(dst) + privateSize
	dst = binary.LittleEndian.AppendUint64(dst, t.ClientID)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.TimeoutSeconds))
	dst = appendServers(dst, t.Servers[:t.NumServers])
	dst = append(dst, t.ClientToServer[:]...)
	dst = append(dst, t.ServerToClient[:]...)
	dst = append(dst, t.UserData[:]...)
	return append(dst, zeros[:end-len(dst)]...)
}

// Parse reads the 1008 bytes of an opened token and ignores the zeros. After an error t is
// undefined.
func (t *PrivateToken) Parse(src []byte) (err error) {
	if len(src) != privateSize {
		return ErrToken
	}
	t.ClientID = binary.LittleEndian.Uint64(src)
	t.TimeoutSeconds = int32(binary.LittleEndian.Uint32(src[8:]))
	if t.NumServers, src, err = parseServers(src[12:], &t.Servers); err != nil {
		return err
	}
	src = src[copy(t.ClientToServer[:], src):]
	src = src[copy(t.ServerToClient[:], src):]
	copy(t.UserData[:], src) // 336 bytes and 32 addresses of 19 always fit
	return nil
}

// privateData appends the associated data of a sealed token: version, protocol id and expire
// time.
func privateData(dst []byte, protocolID, expire uint64) []byte {
	dst = append(dst, version...)
	dst = binary.LittleEndian.AppendUint64(dst, protocolID)
	return binary.LittleEndian.AppendUint64(dst, expire)
}

// privateAEAD returns the cipher for private tokens.
func privateAEAD(key *Key) cipher.AEAD {
	a, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		panic("netcode: " + err.Error()) // only for a key of another size
	}
	return a
}

// packetAEAD returns the cipher for datagrams of one direction, or for challenges.
func packetAEAD(key *Key) cipher.AEAD {
	a, err := chacha20poly1305.New(key[:])
	if err != nil {
		panic("netcode: " + err.Error())
	}
	return a
}

var zeros [TokenSize]byte
