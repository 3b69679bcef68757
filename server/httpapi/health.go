package httpapi

import (
	"time"

	"github.com/tickrate/tickrate/server/overload"
)

// lobbyState is the condition of a lobby for load balancers and operators.
type lobbyState int32

const (
	stateStarting lobbyState = iota // no tick was played yet
	stateOpen                       // players may join
	stateFull                       // no slot is free
	stateShedding                   // overloaded: new players are rejected
	stateStuck                      // no tick has begun for stuckAfter
	stateEnded                      // stopped, or ended by a fault
	numStates
)

// String names the state in one word.
func (s lobbyState) String() string {
	return [...]string{"starting", "open", "full", "shedding", "stuck", "ended"}[s]
}

// stuckAfter is how long no tick may begin before a lobby counts as stuck: a hundred ticks at the
// lowest rate.
const stuckAfter = 5 * time.Second

// state returns the state of the lobby now, from what the tick has published.
func (s *Source) state() lobbyState {
	began := s.Schedule.Began()
	census := s.Lobby.Summary().Census
	select {
	case <-s.Ended:
		return stateEnded
	default:
	}
	switch {
	case began == 0:
		return stateStarting
	case s.Clock()-began > stuckAfter:
		return stateStuck
	case s.Schedule.Level() >= overload.NoNewPlayers:
		return stateShedding
	case !census.AcceptsNewcomer:
		return stateFull
	}
	return stateOpen
}

// Readiness is the answer of GET /healthz/ready: 200 if players may join some lobby, else 503.
type Readiness struct {
	Version  int          `json:"version"`
	Ready    bool         `json:"ready"`
	Draining bool         `json:"draining"` // the server ends once its matches do
	Lobbies  []LobbyState `json:"lobbies"`
}

// LobbyState is the state of one lobby: starting, open, full, shedding, stuck or ended. Counts are
// of the last full second.
type LobbyState struct {
	Lobby       string `json:"lobby"`
	State       string `json:"state"`
	Players     int    `json:"players"`      // with a session, without spectators
	PlayerSlots int    `json:"player_slots"` // of the match
	Spectators  int    `json:"spectators"`
}

// stateOf is the answer about one lobby.
func (s *Source) stateOf() LobbyState {
	census := s.Lobby.Summary().Census
	return LobbyState{
		Lobby: s.Name, State: s.state().String(), Players: census.Players,
		PlayerSlots: census.PlayerSlots, Spectators: census.Spectators,
	}
}
