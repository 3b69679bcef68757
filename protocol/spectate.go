package protocol

import "github.com/tickrate/tickrate/netio/packet"

// Tags of the events about looking on, and about the server's time.
const (
	MessageViewpoint byte = 0xc8 // server to client, who looks on: through whose eyes
	MessageSpectate  byte = 0xc9 // client to server: through whose eyes it wants to look
	MessageTimescale byte = 0xca // server to client: how fast the server's time runs
)

// SpectateMode is how somebody looks on, and what one asks for.
type SpectateMode uint8

// The kinds. The first two are also what a Target says.
const (
	SpectateFree   SpectateMode = iota // through nobody's eyes: where the server lets one see all
	SpectatePlayer                     // through a player's
	SpectateNext                       // those of the next player, by slot
	SpectatePrevious
	numWatch
)

// SpectateSize is the length of a Spectate and of a Target.
const SpectateSize = 1 + 1 + 4

// Spectate is an event about who is looked at: of a client what it wants, of the server what is so from now on.
//
//	1  tag     0xc9 what a client asks for, 0xc8 what the server says
//	1  kind    0 free, 1 a player, and only asked for: 2 the next, 3 the one before
//	4  net id  of the player; 0 but for kind 1. A server's 0 and kind 0: there is nobody to be looked at
type Spectate struct {
	Mode   SpectateMode
	Player uint32
}

// Append writes w with a tag, MessageViewpoint or MessageSpectate, at the end of dst: SpectateSize bytes.
func (w *Spectate) Append(dst []byte, tag byte) []byte {
	return le.AppendUint32(append(dst, tag, byte(w.Mode)), w.Player)
}

// ParseSpectate reads an event that begins with a tag. The error is a packet.Drop.
func ParseSpectate(src []byte, tag byte) (w Spectate, err error) {
	if len(src) != SpectateSize || src[0] != tag {
		return w, packet.DropMessage
	}
	w = Spectate{SpectateMode(src[1]), le.Uint32(src[2:])}
	if w.Mode >= numWatch || tag == MessageViewpoint && w.Mode > SpectatePlayer || (w.Mode == SpectatePlayer) != (w.Player != 0) {
		return Spectate{}, packet.DropMessage
	}
	return w, nil
}

// TimescaleSize is the length of a Tempo, and FullTimescale the speed of a server that keeps up.
const (
	TimescaleSize = 1 + 2
	FullTimescale = 1000
	MinTimescale  = FullTimescale / 4
)

// AppendTimescale writes an event that says how fast the server's time runs at the end of dst: TimescaleSize bytes.
//
//	1  tag    0xca
//	2  tempo  seconds of the match in 1000 s of life, 250 to 1000
func AppendTimescale(dst []byte, tempo uint16) []byte {
	return le.AppendUint16(append(dst, MessageTimescale), tempo)
}

// ParseTimescale reads a Tempo. The error is a packet.Drop.
func ParseTimescale(src []byte) (tempo uint16, err error) {
	if len(src) != TimescaleSize || src[0] != MessageTimescale || le.Uint16(src[1:]) < MinTimescale || le.Uint16(src[1:]) > FullTimescale {
		return 0, packet.DropMessage
	}
	return le.Uint16(src[1:]), nil
}

// spectatorMark is what the user data of a token begins with whose player only looks on.
const spectatorMark = "spectate"

// IsSpectator reports whether a token's user data says that its player only looks on. Who signs tokens decides it.
func IsSpectator(user []byte) bool {
	return len(user) >= len(spectatorMark) && string(user[:len(spectatorMark)]) == spectatorMark
}

// MarkSpectator makes user data, of 8 bytes or more, say so.
func MarkSpectator(user []byte) { copy(user, spectatorMark) }
