package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// servers are the server processes of a step, one for each lobby, and the impaired links before
// them.
type servers struct {
	all    []*process       // by lobby
	at     []netip.AddrPort // the addresses that clients dial
	ctx    context.Context
	cancel context.CancelFunc
	links  []chan error // of the proxies, until they end
}

// start starts a process for every lobby of a scenario.
func (r *Runner) start(ctx context.Context, sc scenario.Scenario) (s *servers, err error) {
	s = &servers{}
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
	for range sc.Lobby.Lobbies {
		p, err := r.serve(sc)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, p)
		at := p.udp
		if link != (impair.Profile{}) {
			if at, err = s.impair(p.udp, link, sc); err != nil {
				return nil, err
			}
		}
		s.at = append(s.at, at)
	}
	return s, nil
}

// impair puts a bad network before a server, until the servers stop.
func (s *servers) impair(to netip.AddrPort, link impair.Profile,
	sc scenario.Scenario) (netip.AddrPort, error) {
	p, err := impair.NewProxy(impair.ProxyConfig{To: to.String(), Up: link, Down: link,
		Seed:    sc.Play.Seed + uint64(len(s.at)),
		Clients: sc.Lobby.Players + sc.Lobby.Spectators + 8})
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
		p := s.all[n%len(s.all)]
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
		return m.Append(nil, &p.key, rand.Reader)
	}
}

// stop ends the servers, then the links.
func (s *servers) stop() {
	for _, p := range s.all {
		p.stop()
	}
	s.cancel()
	for _, done := range s.links {
		<-done // the proxy's error at its end is of no interest
	}
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

// stats asks every server for its figures.
func (s *servers) stats(ctx context.Context) (all []metrics.Report, err error) {
	for _, p := range s.all {
		rep, err := p.stats(ctx)
		if err != nil {
			return nil, err
		}
		rep.HeapBytes = max(rep.HeapBytes, ResidentBytes(p.cmd.Process.Pid))
		all = append(all, rep)
	}
	return all, nil
}
