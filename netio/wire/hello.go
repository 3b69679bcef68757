package wire

import "encoding/binary"

var le = binary.LittleEndian

// Magic opens every Hello, behind its kind.
const Magic = "TKR1"

// HelloSize is the length of a Hello in every version of the protocol, so that its answer (at most ChallengeSize) is
// always less than a third of it: nobody can use us to flood a stranger.
const HelloSize = 128

// Hello asks to come in.
//
//	 1  kind    1
//	 4  magic   "TKR1"
//	 1  version the layout up to nonce never changes
//	 8  nonce   names this attempt; every answer repeats it
//	 8  schema  hash of all schemas
//	 8  model   hash of the compression model
//	32  arena   hash of the arena the client has; zero: any
//	66  zeros
type Hello struct {
	Version uint8
	Nonce   uint64
	Schema  uint64
	Model   uint64
	Arena   [32]byte
}

// Append writes h at the end of dst: HelloSize bytes.
func (h *Hello) Append(dst []byte) []byte {
	n := len(dst)
	dst = append(dst, byte(KindHello))
	dst = append(dst, Magic...)
	dst = append(dst, h.Version)
	dst = le.AppendUint64(dst, h.Nonce)
	dst = le.AppendUint64(dst, h.Schema)
	dst = le.AppendUint64(dst, h.Model)
	dst = append(dst, h.Arena[:]...)
	var zeros [HelloSize]byte
	return append(dst, zeros[:HelloSize-(len(dst)-n)]...)
}

// ParseHello reads a Hello. The error is a Drop; with DropVersion the Version and Nonce are set all the same, so that
// the sender can be told.
func ParseHello(src []byte) (h Hello, err error) {
	if len(src) != HelloSize {
		return h, DropSize
	}
	if Kind(src[0]) != KindHello {
		return h, DropKind
	}
	if string(src[1:5]) != Magic {
		return h, DropMagic
	}
	h.Version = src[5]
	h.Nonce = le.Uint64(src[6:])
	if h.Version != Version {
		return h, DropVersion
	}
	h.Schema = le.Uint64(src[14:])
	h.Model = le.Uint64(src[22:])
	h.Arena = [32]byte(src[30:62])
	for _, b := range src[62:] {
		if b != 0 {
			return h, DropPadding
		}
	}
	return h, nil
}
