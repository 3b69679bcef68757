package protocol

// lobbyMark comes before a LobbyRef in the user data of a token.
const lobbyMark = "lobby-id"

// LobbyRef names a lobby in the user data of a connect token:
//
//	8  role   "spectate" for a spectator, anything else for a player
//	8  mark   "lobby-id"
//	4  host   the process that has the lobby; 0: any
//	4  lobby
//
// A token without the mark leaves the choice to the host.
type LobbyRef struct{ Host, Lobby uint32 }

// LobbyRefSize is the length of user data with a role and a LobbyRef.
const LobbyRefSize = 8 + len(lobbyMark) + 4 + 4

// Mark writes the name of the lobby into user data of LobbyRefSize bytes or more.
func (r LobbyRef) Mark(user []byte) {
	copy(user[8:], lobbyMark)
	le.PutUint32(user[16:], r.Host)
	le.PutUint32(user[20:], r.Lobby)
}

// LobbyOf returns the lobby that user data names; ok is false if it names none.
func LobbyOf(user []byte) (r LobbyRef, ok bool) {
	if len(user) < LobbyRefSize || string(user[8:16]) != lobbyMark {
		return r, false
	}
	return LobbyRef{Host: le.Uint32(user[16:]), Lobby: le.Uint32(user[20:])}, true
}
