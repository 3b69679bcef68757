package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/internal/perfevent"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

// servers are the server processes of a step, and the impaired links before them: one process with
// all lobbies, or one for each lobby.
type servers struct {
	all     []*process       // lobby n is on process n modulo their count
	at      []netip.AddrPort // the addresses that clients dial, by process
	lobbies int              // in all processes together
	ctx     context.Context
	cancel  context.CancelFunc
	links   []chan error // of the proxies, until they end
}

// start starts the processes for the lobbies of a scenario.
func (r *Runner) start(ctx context.Context, sc scenario.Scenario) (s *servers, err error) {
	s = &servers{lobbies: sc.Lobby.Lobbies}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	link, err := impair.ParseProfile(sc.Network.Link)
	if err != nil {
		return nil, err
	}
	processes := sc.Lobby.Lobbies
	if sc.SharedProcess() {
		processes = 1
	}
	for i := range processes {
		p, err := r.serve(sc, r.cfg.Captures.flags(i)...)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, p)
		at := p.udp
		if link != (impair.Profile{}) {
			if at, err = s.impair(p.udp, link, sc, r.host()); err != nil {
				return nil, err
			}
		}
		s.at = append(s.at, at)
	}
	return s, nil
}

// impair puts a bad network before a server, until the servers stop.
func (s *servers) impair(to netip.AddrPort, link impair.Profile, sc scenario.Scenario,
	host netip.Addr) (netip.AddrPort, error) {
	p, err := impair.NewProxy(impair.ProxyConfig{To: to.String(), Listen: netip.AddrPortFrom(host, 0).String(), Up: link, Down: link,
		Seed:    sc.Play.Seed + uint64(len(s.at)),
		Clients: sc.Total() + sc.Spectators() + 8})
	if err != nil {
		return netip.AddrPort{}, err
	}
	done := make(chan error, 1)
	s.links = append(s.links, done)
	go func() { done <- p.Run(s.ctx) }()
	return p.Addr(), nil
}

// tokens makes connect tokens: the first clients play and the others spectate. Client n goes to the
// lobby of number n modulo their count.
func (s *servers) tokens(players int) func(n int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		lobby := n % s.lobbies
		p := s.all[lobby%len(s.all)]
		var id [8]byte
		_, _ = rand.Read(id[:]) // does not fail: it stops the program
		now := uint64(time.Now().Unix())
		m := netcode.Mint{ProtocolID: protocol.ProtocolID,
			TimeoutSeconds: httpapi.TimeoutSeconds(httpapi.DefaultSessionTimeout),
			Servers:        []netip.AddrPort{p.udp},
			ClientID:       binary.LittleEndian.Uint64(id[:]), Create: now,
			Expire: now + uint64(httpapi.DefaultTokenLifetime/time.Second)}
		if n >= players {
			protocol.MarkSpectator(m.UserData[:])
		}
		if len(s.all) < s.lobbies {
			protocol.LobbyRef{Lobby: uint32(lobby)}.Mark(m.UserData[:])
		}
		return m.Append(nil, &p.key, rand.Reader)
	}
}

// stop ends the servers, then the links. A second stop does nothing.
func (s *servers) stop() {
	for _, p := range s.all {
		p.stop()
	}
	s.cancel()
	for _, done := range s.links {
		<-done // the proxy's error at its end is of no interest
	}
	s.all, s.links = nil, nil
}

// reset begins new figures on all servers, on goroutines of its own.
func (s *servers) reset(ctx context.Context) <-chan error {
	var each []<-chan error
	for _, p := range s.all {
		each = append(each, p.reset(ctx))
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for _, one := range each {
			err = errors.Join(err, <-one)
		}
		done <- err
	}()
	return done
}

// stats asks every server for its figures, on goroutines of its own: the swarm must not wait.
func (s *servers) stats(ctx context.Context) <-chan hostAnswers {
	done := make(chan hostAnswers, 1)
	go func() {
		var a hostAnswers
		for _, p := range s.all {
			raw, err := p.stats(ctx)
			a.raw, a.err = append(a.raw, raw), errors.Join(a.err, err)
			a.resident = append(a.resident, ResidentBytes(p.cmd.Process.Pid))
			a.events = append(a.events, p.counted())
		}
		done <- a
	}()
	return done
}

// hostAnswers are the answers of all servers, which are decoded when the swarm has stopped.
type hostAnswers struct {
	raw      [][]byte
	resident []uint64            // bytes of each process
	events   []*perfevent.Counts // of each process; nil: not counted
	err      error
}

// decode reads the answers.
func (a *hostAnswers) decode() (all []hostFigures, err error) {
	if a.err != nil {
		return nil, a.err
	}
	for i, raw := range a.raw {
		h := hostFigures{resident: a.resident[i], events: a.events[i]}
		if err := json.Unmarshal(raw, &h.HostReport); err != nil {
			return nil, fmt.Errorf("the server's figures: %w", err)
		}
		if len(h.Lobbies) == 0 {
			return nil, errors.New("the server's figures: expected those of its lobbies, got none")
		}
		all = append(all, h)
	}
	return all, nil
}
