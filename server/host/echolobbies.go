package host

import "github.com/tickrate/tickrate/protocol"

// echoLobbies divides the slots of an Echo among lobbies of the same size. A lobby here is no more
// than its room: a token names one, or gets the fullest one with room.
type echoLobbies struct {
	players int   // of a lobby
	clients []int // of each lobby, now
	of      []int // lobby by client; -1: none
	refused int   // sessions ended at once: no such lobby, or no room
}

func newEchoLobbies(lobbies, slots int) echoLobbies {
	l := echoLobbies{players: slots / lobbies, clients: make([]int, lobbies), of: make([]int, slots)}
	for i := range l.of {
		l.of[i] = -1
	}
	return l
}

// enter gives a client room in the lobby that its token names, after it has left its former one. It
// reports false if there is none.
func (l *echoLobbies) enter(client int, user []byte) bool {
	l.leave(client)
	lobby := l.fullest()
	if ref, named := protocol.LobbyOf(user, 0); named {
		lobby = -1
		if int(ref.Lobby) < len(l.clients) && l.clients[ref.Lobby] < l.players {
			lobby = int(ref.Lobby)
		}
	}
	if lobby < 0 {
		l.refused++
		return false
	}
	l.of[client] = lobby
	l.clients[lobby]++
	return true
}

func (l *echoLobbies) leave(client int) {
	if lobby := l.of[client]; lobby >= 0 {
		l.clients[lobby]--
		l.of[client] = -1
	}
}

// fullest is the lobby with the most clients of those with room; -1 if there is none.
func (l *echoLobbies) fullest() (best int) {
	best = -1
	for i, n := range l.clients {
		if n < l.players && (best < 0 || n > l.clients[best]) {
			best = i
		}
	}
	return best
}
