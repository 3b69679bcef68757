package protocol

import "testing"

// A host reads its own of several lobbies, else the first; any other lobby after a host of 0 is none.
func TestLobbiesOfAToken(t *testing.T) {
	eight := make([]LobbyRef, MaxLobbyRefs)
	for i := range eight {
		eight[i] = LobbyRef{Host: uint32(i + 1), Lobby: uint32(10 * i)}
	}
	for i, c := range []struct {
		named []LobbyRef
		host  uint32
		want  LobbyRef
	}{
		0: {[]LobbyRef{{Lobby: 3}}, 7, LobbyRef{Lobby: 3}},
		1: {[]LobbyRef{{Host: 7, Lobby: 3}}, 7, LobbyRef{7, 3}},
		2: {[]LobbyRef{{Host: 8, Lobby: 3}}, 7, LobbyRef{8, 3}},
		3: {[]LobbyRef{{8, 3}, {7, 0}}, 7, LobbyRef{7, 0}},
		4: {[]LobbyRef{{8, 3}, {7, 4}, {9, 5}}, 9, LobbyRef{9, 5}},
		5: {[]LobbyRef{{8, 3}, {7, 4}}, 1, LobbyRef{8, 3}},
		6: {[]LobbyRef{{8, 3}, {7, 4}}, 0, LobbyRef{8, 3}}, // a host that does not know its number
		7: {eight, 8, LobbyRef{8, 70}},
		8: {append(eight[:8:8], LobbyRef{9, 80}), 9, LobbyRef{1, 0}},
		9: {[]LobbyRef{{8, 3}, {0, 4}, {7, 5}}, 7, LobbyRef{8, 3}},
	} {
		user := make([]byte, 256)
		MarkLobbies(user, c.named)
		if got, ok := LobbyOf(user, c.host); got != c.want || !ok {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
	user := make([]byte, 256)
	if _, ok := LobbyOf(user, 7); ok {
		t.Error("a lobby without a mark")
	}
	LobbyRef{7, 3}.Mark(user[:LobbyRefSize])
	for n := range len(user) {
		if got, ok := LobbyOf(user[:n], 7); ok != (n >= LobbyRefSize) || ok && got != (LobbyRef{7, 3}) {
			t.Errorf("%d bytes: %+v, %v", n, got, ok)
		}
	}
}
