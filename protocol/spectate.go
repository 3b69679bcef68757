package protocol

import "github.com/tickrate/tickrate/netio/packet"

// Tags of the events about looking on, and about the server's time.
const (
	TagTarget byte = 0xc8 // server to client, who looks on: through whose eyes
	TagWatch  byte = 0xc9 // client to server: through whose eyes it wants to look
	TagTempo  byte = 0xca // server to client: how fast the server's time runs
)

// WatchKind is how somebody looks on, and what one asks for.
type WatchKind uint8

// The kinds. The first two are also what a Target says.
const (
	WatchFree   WatchKind = iota // through nobody's eyes: where the server lets one see all
	WatchPlayer                  // through a player's
	WatchNext                    // those of the next player, by slot
	WatchPrevious
	numWatch
)

// WatchSize is the length of a Watch and of a Target.
const WatchSize = 1 + 1 + 4

// Watch is an event about who is looked at: of a client what it wants, of the server what is so from now on.
//
//	1  tag     0xc9 what a client asks for, 0xc8 what the server says
//	1  kind    0 free, 1 a player, and only asked for: 2 the next, 3 the one before
//	4  net id  of the player; 0 but for kind 1. A server's 0 and kind 0: there is nobody to be looked at
type Watch struct {
	Kind   WatchKind
	Player uint32
}

// Append writes w with a tag, TagTarget or TagWatch, at the end of dst: WatchSize bytes.
func (w *Watch) Append(dst []byte, tag byte) []byte {
	return le.AppendUint32(append(dst, tag, byte(w.Kind)), w.Player)
}

// ParseWatch reads an event that begins with a tag. The error is a packet.Drop.
func ParseWatch(src []byte, tag byte) (w Watch, err error) {
	if len(src) != WatchSize || src[0] != tag {
		return w, packet.DropEvents
	}
	w = Watch{WatchKind(src[1]), le.Uint32(src[2:])}
	if w.Kind >= numWatch || tag == TagTarget && w.Kind > WatchPlayer || (w.Kind == WatchPlayer) != (w.Player != 0) {
		return Watch{}, packet.DropEvents
	}
	return w, nil
}

// TempoSize is the length of a Tempo, and FullTempo the speed of a server that keeps up.
const (
	TempoSize = 1 + 2
	FullTempo = 1000
	MinTempo  = FullTempo / 4
)

// AppendTempo writes an event that says how fast the server's time runs at the end of dst: TempoSize bytes.
//
//	1  tag    0xca
//	2  tempo  seconds of the match in 1000 s of life, 250 to 1000
func AppendTempo(dst []byte, tempo uint16) []byte {
	return le.AppendUint16(append(dst, TagTempo), tempo)
}

// ParseTempo reads a Tempo. The error is a packet.Drop.
func ParseTempo(src []byte) (tempo uint16, err error) {
	if len(src) != TempoSize || src[0] != TagTempo || le.Uint16(src[1:]) < MinTempo || le.Uint16(src[1:]) > FullTempo {
		return 0, packet.DropEvents
	}
	return le.Uint16(src[1:]), nil
}

// spectate is what the user data of a token begins with whose player only looks on.
const spectate = "spectate"

// Spectates reports whether a token's user data says that its player only looks on. Who signs tokens decides it.
func Spectates(user []byte) bool {
	return len(user) >= len(spectate) && string(user[:len(spectate)]) == spectate
}

// MarkSpectator makes user data, of 8 bytes or more, say so.
func MarkSpectator(user []byte) { copy(user, spectate) }
