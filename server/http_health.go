package server

import (
	"net/http"
	"time"

	"github.com/tickrate/tickrate/server/overload"
)

// lobbyState is what a lobby is to who asks from outside.
type lobbyState int32

const (
	stateStarting lobbyState = iota // no tick was played yet
	stateOpen                       // it takes players
	stateFull                       // it has no place free
	stateShedding                   // it lets nobody new in, as ticks take too long
	stateStuck                      // no tick has begun for a while
	stateEnded                      // it was stopped, or ended by a fault
	numStates
)

// String names the state in one word.
func (s lobbyState) String() string {
	return [...]string{"starting", "open", "full", "shedding", "stuck", "ended"}[s]
}

// stuckAfter is how long no tick may begin before the lobby counts as stuck: a hundred ticks at the lowest rate there is, or a machine that
// was put to sleep.
const stuckAfter = 5 * time.Second

// state is that of the lobby now. It reads what the tick has published.
func (h *Host) state() lobbyState {
	begun := time.Duration(h.began.Load())
	census := h.lobby.Summary().Census
	select {
	case <-h.terminal.ended:
		return stateEnded
	default:
	}
	switch {
	case begun == 0:
		return stateStarting
	case h.clock()-begun > stuckAfter:
		return stateStuck
	case overload.Level(h.shed.Load()) >= overload.NoNewPlayers:
		return stateShedding
	case !census.AcceptsNewcomer:
		return stateFull
	}
	return stateOpen
}

// serveHealth answers whether the process lives: 200 and ok unless ticks have stopped, which only a restart mends.
func (h *Host) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if s := h.state(); s == stateStuck || s == stateEnded {
		http.Error(w, s.String(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n")) // the reader has gone: nothing to do
}

// Readiness is what GET /healthz/ready answers: 200 if some lobby takes players, else 503.
type Readiness struct {
	Ready   bool         `json:"ready"`
	Lobbies []LobbyState `json:"lobbies"`
}

// LobbyState is the state of one lobby: starting, open, full, shedding, stuck or ended. Players are of the last full second.
type LobbyState struct {
	Lobby   string `json:"lobby"`
	State   string `json:"state"`
	Players int    `json:"players"`
	Room    int    `json:"room"`

	Spectators int `json:"spectators"`
}

func (h *Host) serveReady(w http.ResponseWriter, _ *http.Request) {
	s := h.state()
	census := h.lobby.Summary().Census
	r := Readiness{Ready: s == stateOpen, Lobbies: []LobbyState{{lobbyName, s.String(), census.Players, census.PlayerSlots, census.Spectators}}}
	if !r.Ready {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	writeJSON(w, r)
}
