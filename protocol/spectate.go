package protocol

import "github.com/tickrate/tickrate/netio/packet"

// Tags of the messages about spectating and the time scale.
const (
	MessageViewpoint byte = 0xc8 // server to spectator: its viewpoint
	MessageSpectate  byte = 0xc9 // spectator to server: the viewpoint it asks for
	MessageTimescale byte = 0xca // server to client: speed of the server's time
)

// SpectateMode is how a client spectates, or what it asks for.
type SpectateMode uint8

// The modes. A server sends the first two only.
const (
	SpectateFree   SpectateMode = iota // free camera, if the server allows it
	SpectatePlayer                     // the eyes of a player
	SpectateNext                       // the next player by slot
	SpectatePrevious
	numSpectateModes
)

// SpectateSize is the length of a Spectate.
const SpectateSize = 1 + 1 + 4

// Spectate is a message about a spectator's viewpoint: from a client what it asks for, from the
// server what holds from now on.
//
//	1  tag     0xc9 from a client, 0xc8 from the server
//	1  mode    0 free, 1 a player; only from a client: 2 the next player, 3 the previous one
//	4  net id  of the player; 0 unless the mode is 1. Mode 0 from a server: no player to watch
type Spectate struct {
	Mode   SpectateMode
	Player uint32
}

// Append writes w with a tag, MessageViewpoint or MessageSpectate, at the end of dst:
// SpectateSize bytes.
func (w *Spectate) Append(dst []byte, tag byte) []byte {
	return le.AppendUint32(append(dst, tag, byte(w.Mode)), w.Player)
}

// ParseSpectate reads a message that begins with the tag. The error is a packet.Drop.
func ParseSpectate(src []byte, tag byte) (w Spectate, err error) {
	if len(src) != SpectateSize || src[0] != tag {
		return w, packet.DropMessage
	}
	w = Spectate{SpectateMode(src[1]), le.Uint32(src[2:])}
	if w.Mode >= numSpectateModes || tag == MessageViewpoint && w.Mode > SpectatePlayer ||
		(w.Mode == SpectatePlayer) != (w.Player != 0) {
		return Spectate{}, packet.DropMessage
	}
	return w, nil
}

// TimescaleSize is the length of a time scale; FullTimescale is the speed of a server that keeps
// up.
const (
	TimescaleSize = 1 + 2
	FullTimescale = 1000
	MinTimescale  = FullTimescale / 4
)

// AppendTimescale writes a message with the speed of the server's time at the end of dst:
// TimescaleSize bytes.
//
//	1  tag        0xca
//	2  timescale  seconds of the match in 1000 s, 250 to 1000
func AppendTimescale(dst []byte, timescale uint16) []byte {
	return le.AppendUint16(append(dst, MessageTimescale), timescale)
}

// ParseTimescale reads a time scale. The error is a packet.Drop.
func ParseTimescale(src []byte) (timescale uint16, err error) {
	if len(src) != TimescaleSize || src[0] != MessageTimescale || le.Uint16(src[1:]) < MinTimescale ||
		le.Uint16(src[1:]) > FullTimescale {
		return 0, packet.DropMessage
	}
	return le.Uint16(src[1:]), nil
}

// spectatorMark begins the user data of a spectator's token.
const spectatorMark = "spectate"

// IsSpectator reports whether a token with this user data is for a spectator. The issuer of
// tokens decides that.
func IsSpectator(user []byte) bool {
	return len(user) >= len(spectatorMark) && string(user[:len(spectatorMark)]) == spectatorMark
}

// MarkSpectator marks user data of 8 bytes or more as a spectator's.
func MarkSpectator(user []byte) { copy(user, spectatorMark) }
