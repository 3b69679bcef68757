package simbench

import (
	"fmt"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/metrics"
)

// portLobbies are the lobbies of a process on one port, as a worker of serve --lobbies has them: those
// of a phase read the socket once, and their datagrams leave together.
type portLobbies struct {
	port    *server.Port
	stats   metrics.Stats
	timer   metrics.TickTimer
	lobbies []*server.Lobby
	phases  [][]server.Due
	next    int // phase to play
}

// newPortMatch sets up the lobbies of a scenario on one port, and their clients.
func newPortMatch(s scenario.Scenario, o Options) (*Match, *portLobbies, error) {
	cfg, err := simConfig(s, o)
	if err != nil {
		return nil, nil, err
	}
	l := &portLobbies{}
	phases := host.Phases(s.Lobby.Lobbies)
	cfg.Serve, cfg.Lobbies, cfg.Phases = l.serve, s.Lobby.Lobbies, slices.Max(phases)+1
	cfg.ChangeToken = func(n int, t *netcode.Mint) {
		protocol.LobbyRef{Lobby: uint32(n % s.Lobby.Lobbies)}.Mark(t.UserData[:])
	}
	own := cfg.ChangeClient
	cfg.ChangeClient = func(n int, c *client.Config) {
		own(n, c)
		c.Rules.Seed += uint64(n % s.Lobby.Lobbies)
	}
	m, err := newMatch(s, cfg)
	if err != nil {
		return nil, nil, err
	}
	return m, l, l.open(cfg.Lobby, m.Netcode(), phases)
}

// open makes the port and its lobbies.
func (l *portLobbies) open(cfg server.Config, sessions netcode.ServerConfig, phases []int) (err error) {
	began := time.Now()
	since := func() time.Duration { return time.Since(began) }
	sessions.Clients = min((cfg.Players+cfg.Spectators)*len(phases), netcode.MaxClients)
	l.stats.Histograms = metrics.NewHistograms(true)
	l.timer = metrics.NewTickTimer(clock.ThreadCPU, nil, func(metrics.Stage) {})
	if l.port, err = server.NewPort(server.PortConfig{Netcode: sessions, Stats: &l.stats,
		Timer: &l.timer, Clock: since}); err != nil {
		return err
	}
	l.phases = make([][]server.Due, slices.Max(phases)+1)
	l.next = min(1, len(l.phases)-1) // a step ends with phase 0
	for i, phase := range phases {
		c := cfg
		c.Port, c.ID, c.Rules.Seed = l.port, uint32(i), cfg.Rules.Seed+uint64(i)
		c.CPU, c.Clock, c.SparseTiming, c.Netcode = clock.ThreadCPU, nil, true, sessions
		one, err := server.NewLobby(c)
		if err != nil {
			return err
		}
		one.Reserve()
		one.PackContent()
		l.port.Add(one)
		l.lobbies = append(l.lobbies, one)
		l.phases[phase] = append(l.phases[phase], server.Due{Lobby: one, Ticks: 1})
	}
	return nil
}

// serve plays the lobbies of the next phase.
func (l *portLobbies) serve(now time.Duration, unix int64, conn netio.Conn) error {
	due := l.phases[l.next]
	l.next = (l.next + 1) % len(l.phases)
	err := l.port.Ticks(now, unix, conn, due)
	if faults := l.port.TakeFaults(); len(faults) > 0 && err == nil {
		err = fmt.Errorf("a lobby panicked: %v\n%s", faults[0].Value, faults[0].Stack)
	}
	return err
}
