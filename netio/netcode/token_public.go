package netcode

import (
	"encoding/binary"
	"net/netip"
)

// PublicToken is what a client gets: the servers to dial, the keys of one session, and a private
// token it cannot read.
//
//	13    version
//	8     protocol id
//	8     create     Unix seconds
//	8     expire     Unix seconds; 2^64-1: never
//	24    nonce      of the private token
//	1024  private    sealed
//	4     timeout    seconds, signed
//	4     n          1 to 32
//	7/19  addresses  n times, see appendServers
//	32    client's key
//	32    server's key
//	      zeros to 2048
type PublicToken struct {
	ProtocolID     uint64
	Create, Expire uint64
	Nonce          [nonceSize]byte
	Private        [sealedPrivateSize]byte
	TimeoutSeconds int32
	NumServers     int
	Servers        [MaxServers]netip.AddrPort // to dial, in this order
	ClientToServer Key
	ServerToClient Key
}

// Append writes the TokenSize bytes. NumServers must be 1 to MaxServers and the addresses valid.
func (t *PublicToken) Append(dst []byte) []byte {
	end := len(dst) + TokenSize
	dst = append(dst, version...)
	dst = binary.LittleEndian.AppendUint64(dst, t.ProtocolID)
	dst = binary.LittleEndian.AppendUint64(dst, t.Create)
	dst = binary.LittleEndian.AppendUint64(dst, t.Expire)
	dst = append(dst, t.Nonce[:]...)
	dst = append(dst, t.Private[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.TimeoutSeconds))
	dst = appendServers(dst, t.Servers[:t.NumServers])
	dst = append(dst, t.ClientToServer[:]...)
	dst = append(dst, t.ServerToClient[:]...)
	return append(dst, zeros[:end-len(dst)]...)
}

// Parse reads TokenSize bytes and ignores the zeros. A token that expires before its creation is
// malformed. After an error t is undefined.
func (t *PublicToken) Parse(src []byte) (err error) {
	if len(src) != TokenSize || string(src[:13]) != version {
		return ErrToken
	}
	t.ProtocolID = binary.LittleEndian.Uint64(src[13:])
	t.Create = binary.LittleEndian.Uint64(src[21:])
	t.Expire = binary.LittleEndian.Uint64(src[29:])
	src = src[37:]
	src = src[copy(t.Nonce[:], src):]
	src = src[copy(t.Private[:], src):]
	t.TimeoutSeconds = int32(binary.LittleEndian.Uint32(src))
	if t.NumServers, src, err = parseServers(src[4:], &t.Servers); err != nil {
		return err
	}
	src = src[copy(t.ClientToServer[:], src):]
	copy(t.ServerToClient[:], src)
	if t.Create > t.Expire {
		return ErrToken
	}
	return nil
}
