package protocol

import (
	"fmt"
	"github.com/tickrate/tickrate/netio/packet"
)

// Tags of the messages that begin a session. Messages of the game have other tags.
const (
	MessageWelcome byte = 0xf1 // server to client
	MessageReady   byte = 0xf2 // client to server
	// server to client after a Ready that does not match: 1 to 255 bytes of its schemas
	MessageSchemas byte = 0xf3
	MessageFetch   byte = 0xf4 // client to server before its Ready: it lacks content
)

// MaxPlayers is the most players of a lobby. It bounds the memory of a client.
const MaxPlayers = 4096

// Sizes of a Welcome: without names and content, and with the longest of all.
const (
	MinWelcome = 1 + 1 + 8 + 8 + 4 + 1 + 1 + 4 + 2 + 32 + 1
	MaxWelcome = MinWelcome + MaxArenaName + 32 + 1 + MaxModeName
)

// Welcome is the first message from a server: the player of the client, and what it must have to
// play.
//
//	 1  tag        0xf1
//	 1  version    the layout up to here never changes
//	 8  schema     hash of all schemas
//	 8  model      hash of the compression model
//	 4  net id     of the client's player entity; its index is the client's slot
//	 1  tick rate  simulation steps a second, never 0
//	 1  interval   ticks from one snapshot to the next, never 0
//	 4  tick       of the server when it wrote this
//	 2  players    slots of the lobby, 1 to 4096
//	32  arena hash
//	 1  length of the arena's name, 0 to 64
//	 n  arena name printable UTF-8
//	    and if the game has a content pack:
//	32  content    hash of the parts of the pack that both ends need
//	 1  length of the mode's name, 1 to 64
//	 n  mode       printable UTF-8
type Welcome struct {
	Version      uint8
	Schema       uint64
	Model        uint64
	NetID        uint32
	TickRate     uint8
	SendInterval uint8
	Tick         uint32
	MaxPlayers   uint16
	ArenaHash    [32]byte
	ArenaName    string
	Content      [32]byte // 0: no pack
	Mode         string   // "": no pack
}

// Append writes w at the end of dst. It panics unless the names pass ValidText.
func (w *Welcome) Append(dst []byte) []byte {
	if !ValidText([]byte(w.ArenaName), MaxArenaName) || !ValidText([]byte(w.Mode), MaxModeName) {
		panic(fmt.Sprintf("protocol: welcome of map %q and mode %q, want printable text of at most %d and %d bytes",
			w.ArenaName, w.Mode, MaxArenaName, MaxModeName))
	}
	dst = append(dst, MessageWelcome, w.Version)
	dst = le.AppendUint64(dst, w.Schema)
	dst = le.AppendUint64(dst, w.Model)
	dst = le.AppendUint32(dst, w.NetID)
	dst = append(dst, w.TickRate, w.SendInterval)
	dst = le.AppendUint32(dst, w.Tick)
	dst = le.AppendUint16(dst, w.MaxPlayers)
	dst = append(dst, w.ArenaHash[:]...)
	dst = append(dst, byte(len(w.ArenaName)))
	dst = append(dst, w.ArenaName...)
	if w.Mode == "" {
		return dst
	}
	dst = append(dst, w.Content[:]...)
	dst = append(dst, byte(len(w.Mode)))
	return append(dst, w.Mode...)
}

// ParseWelcome reads a Welcome. The error is a packet.Drop: packet.DropVersion for another
// version, and then only Version is set.
func ParseWelcome(src []byte) (w Welcome, err error) {
	if len(src) < 2 || src[0] != MessageWelcome {
		return w, packet.DropMessage
	}
	if w.Version = src[1]; w.Version != Version {
		return w, packet.DropVersion
	}
	if len(src) < MinWelcome || len(src) < MinWelcome+int(src[MinWelcome-1]) {
		return w, packet.DropMessage
	}
	w.Schema = le.Uint64(src[2:])
	w.Model = le.Uint64(src[10:])
	w.NetID = le.Uint32(src[18:])
	w.TickRate, w.SendInterval = src[22], src[23]
	w.Tick = le.Uint32(src[24:])
	w.MaxPlayers = le.Uint16(src[28:])
	w.ArenaHash = [32]byte(src[30:62])
	name, rest := src[MinWelcome:], src[MinWelcome+int(src[MinWelcome-1]):]
	name = name[:len(name)-len(rest)]
	if err = w.parseContent(rest); err != nil {
		return w, err
	}
	if w.TickRate == 0 || w.SendInterval == 0 || w.MaxPlayers == 0 || w.MaxPlayers > MaxPlayers ||
		!ValidText(name, MaxArenaName) {
		return w, packet.DropMessage
	}
	w.ArenaName = string(name)
	return w, nil
}

// parseContent reads what follows the arena's name: nothing, or the pack's hash and the mode.
func (w *Welcome) parseContent(src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if len(src) < 32+1+1 || len(src) != 32+1+int(src[32]) || !ValidText(src[33:], MaxModeName) {
		return packet.DropMessage
	}
	w.Content, w.Mode = [32]byte(src), string(src[33:])
	return nil
}
