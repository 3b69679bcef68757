package protocol

import (
	"fmt"
	"github.com/tickrate/tickrate/netio/packet"
)

// Sizes of a Ready: without a name, and with the longest name.
const (
	ReadySize = 1 + 1 + 8 + 8
	MaxReady  = ReadySize + MaxName
)

// Ready is the first message from a client: it has what the Welcome named, and snapshots may
// begin.
//
//	1  tag      0xf2
//	1  version
//	8  schema   hash of all schemas of the client
//	8  model    hash of the client's compression model
//	n  name     that the player wants, to the end of the message: 0 to 64 bytes of any kind
type Ready struct {
	Version uint8
	Schema  uint64
	Model   uint64
	Name    string // as the client sent it; the server makes it printable
}

// Append writes r at the end of dst: ReadySize bytes and the name, of at most MaxName bytes.
func (r *Ready) Append(dst []byte) []byte {
	if len(r.Name) > MaxName {
		panic(fmt.Sprintf("protocol: ready with a name of %d bytes, want at most %d", len(r.Name), MaxName))
	}
	dst = append(dst, MessageReady, r.Version)
	dst = le.AppendUint64(dst, r.Schema)
	dst = le.AppendUint64(dst, r.Model)
	return append(dst, r.Name...)
}

// ParseReady reads a Ready of any version. The error is a packet.Drop.
func ParseReady(src []byte) (r Ready, err error) {
	if len(src) < ReadySize || len(src) > MaxReady || src[0] != MessageReady {
		return r, packet.DropMessage
	}
	return Ready{src[1], le.Uint64(src[2:]), le.Uint64(src[10:]), string(src[ReadySize:])}, nil
}
