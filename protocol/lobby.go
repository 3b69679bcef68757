package protocol

// lobbyMark comes before the LobbyRefs in the user data of a token.
const lobbyMark = "lobby-id"

// LobbyRef names a lobby in the user data of a connect token:
//
//	8  role   "spectate" for a spectator, anything else for a player
//	8  mark   "lobby-id"
//	4  host   the process that has the lobby; 0: any
//	4  lobby
//
// A token for several hosts goes on with a host and a lobby for each further one, up to MaxLobbyRefs
// in all or to a host of 0. A token without the mark leaves the choice to the host.
type LobbyRef struct{ Host, Lobby uint32 }

// MaxLobbyRefs is how many hosts a token may name a lobby of.
const MaxLobbyRefs = 8

const (
	lobbyRefs    = 8 + len(lobbyMark) // where the first is
	lobbyRefSize = 4 + 4
)

// LobbyRefSize is the length of user data with a role and one LobbyRef.
const LobbyRefSize = lobbyRefs + lobbyRefSize

// Mark writes the name of the lobby into user data of LobbyRefSize bytes or more.
func (r LobbyRef) Mark(user []byte) { MarkLobbies(user, []LobbyRef{r}) }

// MarkLobbies writes the names of lobbies, one for each host of a token, into user data of
// netcode.UserDataSize bytes. There are 1 to MaxLobbyRefs; of several, none has host 0.
func MarkLobbies(user []byte, refs []LobbyRef) {
	copy(user[8:], lobbyMark)
	for i, r := range refs[:min(len(refs), MaxLobbyRefs)] {
		at := user[lobbyRefs+i*lobbyRefSize:]
		le.PutUint32(at, r.Host)
		le.PutUint32(at[4:], r.Lobby)
	}
}

// LobbyOf returns the lobby that user data names for a host: of several the host's own, without one
// the first. A host of 0 stands for any. ok is false if the user data names no lobby.
func LobbyOf(user []byte, host uint32) (r LobbyRef, ok bool) {
	if len(user) < LobbyRefSize || string(user[8:lobbyRefs]) != lobbyMark {
		return r, false
	}
	for i := range MaxLobbyRefs {
		at := lobbyRefs + i*lobbyRefSize
		if len(user) < at+lobbyRefSize {
			break
		}
		one := LobbyRef{Host: le.Uint32(user[at:]), Lobby: le.Uint32(user[at+4:])}
		if i > 0 && one.Host == 0 {
			break
		}
		if i == 0 || one.Host == host {
			r = one
		}
		if one.Host == host {
			break
		}
	}
	return r, true
}
