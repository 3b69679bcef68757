package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Job is what an agent needs to play its part of a step.
type Job struct {
	Build    string `json:"build"`        // fingerprint of the coordinator
	Scenario []byte `json:"scenario"`     // TOML, with the size of the step
	Sum      string `json:"scenario_sum"` // SHA-256 of it, hexadecimal

	Players int   `json:"players"` // of all agents, without spectators
	Clients int   `json:"clients"` // of all agents; those from Players on are spectators
	Share   Share `json:"share"`

	Servers []Server `json:"servers"` // lobby n is on server n modulo their count
	Lobbies int      `json:"lobbies"` // on all servers
}

// newJob describes a step without the share.
func newJob(build string, sc scenario.Scenario, servers []Server) (*Job, error) {
	text, err := sc.Text()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	j := &Job{Build: build, Scenario: text, Sum: hex.EncodeToString(sum[:]), Players: sc.Total(),
		Clients: sc.Total() + sc.Spectators(), Lobbies: sc.Lobby.Lobbies, Servers: servers}
	return j, nil
}

// Server is a server under test.
type Server struct {
	At    netip.AddrPort // that clients dial: its own, or of a proxy before it
	Token netip.AddrPort // in tokens: its own
	Key   netcode.Key    // private, of its tokens
}

// order is a job that was checked.
type order struct {
	Job
	scenario scenario.Scenario
}

// read checks a job. Errors wrap ErrJob and name what was expected.
func (j *Job) read(build string) (*order, error) {
	sum := sha256.Sum256(j.Scenario)
	switch {
	case j.Build != build:
		return nil, fmt.Errorf("%w: of build %q, expected %q", ErrJob, j.Build, build)
	case j.Sum != hex.EncodeToString(sum[:]):
		return nil, fmt.Errorf("%w: its scenario does not have the hash %q", ErrJob, cut(j.Sum))
	case len(j.Servers) < 1 || len(j.Servers) > scenario.MaxLobbies:
		return nil, fmt.Errorf("%w: %d servers: expected 1 to %d", ErrJob, len(j.Servers), scenario.MaxLobbies)
	}
	sc, err := scenario.Parse("of the coordinator", j.Scenario)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJob, err)
	}
	o := &order{Job: *j, scenario: sc}
	switch s := j.Share; {
	case j.Players != sc.Total() || j.Clients != sc.Total()+sc.Spectators() || j.Lobbies != sc.Lobby.Lobbies:
		return nil, fmt.Errorf("%w: its size is not that of its scenario", ErrJob)
	case j.Lobbies%len(j.Servers) != 0:
		return nil, fmt.Errorf("%w: %d lobbies on %d servers", ErrJob, j.Lobbies, len(j.Servers))
	case len(sc.Play.Traces) > 0:
		return nil, fmt.Errorf("%w: recordings to follow are files of another machine", ErrJob)
	case s.First < 0 || s.Count < 1 || s.First > j.Clients || s.Count > j.Clients-s.First:
		return nil, fmt.Errorf("%w: share of %d players from %d of %d", ErrJob, s.Count, s.First, j.Clients)
	}
	for i, at := range j.Servers {
		if !at.At.IsValid() || at.At.Port() == 0 || !at.Token.IsValid() || at.Token.Port() == 0 {
			return nil, fmt.Errorf("%w: server %d: expected its address with a port", ErrJob, i)
		}
	}
	return o, nil
}
