// The side of serve that joins a fleet: what the host is goes out over NATS, and lobbies that
// directors ask for are made.

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/fleet/handoff"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
)

// fleetSettings are the settings of a host in a fleet.
type fleetSettings struct {
	url, keyFile, name string // of NATS, "" for no fleet; of the fleet's key; of this host
	key                announce.Key
	agones             bool // or the environment variable of Agones
}

// register adds the flags of these settings to fl.
func (s *fleetSettings) register(fl *pflag.FlagSet) {
	fl.StringVar(&s.url, "fleet", "", "`URL` of the NATS server over which this host announces its lobbies to "+
		"tickrate fleet director; needs --lobbies and --fleet-key; default none")
	fl.StringVar(&s.keyFile, "fleet-key", "", "`file` with the key of the fleet's messages, 64 hexadecimal "+
		"digits, the same at all hosts and directors; default none")
	fl.BoolVar(&s.agones, "agones", false, "tell the SDK server of Agones what this server does, and make "+
		"lobbies for allocations; needs --lobbies; also where "+agones.PortVariable+" is set. SIGTERM then "+
		"lets rounds go on for 10m unless --drain-for says otherwise")
	fl.StringVar(&s.name, "fleet-name", "", "`name` of this host in the fleet: letters, digits, - and _; "+
		"default the machine's and the process's")
}

// check reads the key of the fleet.
func (s *fleetSettings) check(m *matchSettings, echo bool) (err error) {
	switch {
	case s.url == "":
		return nil
	case echo || m.lobbies.Most == 0:
		return usage.Errorf("--fleet: expected --lobbies N:MOST, and no --echo")
	case s.keyFile == "":
		return usage.Errorf("--fleet: expected --fleet-key; openssl rand -hex 32 makes a key")
	case s.name == "":
		s.name = "host-" + fmt.Sprint(os.Getpid())
		if machine, err := os.Hostname(); err == nil && announce.ValidName(machine+"-"+fmt.Sprint(os.Getpid())) {
			s.name = machine + "-" + fmt.Sprint(os.Getpid())
		}
	case !announce.ValidName(s.name):
		return usage.Errorf("--fleet-name %.80q: expected 1 to 64 letters, digits, - and _", s.name)
	}
	s.key, err = announce.ReadKey(s.keyFile)
	return usage.Error(err)
}

// join announces a host until stop is called.
func (s *fleetSettings) join(ctx context.Context, r runningHost, log *slog.Logger) (stop func(), err error) {
	h, ok := r.(*host.Host)
	if s.url == "" || !ok {
		return func() {}, nil
	}
	warnOfMode(s.keyFile, "fleet key", warningWriter{log})
	b, err := bus.Open(bus.Config{Name: s.name, URL: s.url, Token: s.key.BusToken()})
	if err != nil {
		return nil, err
	}
	a, err := announce.NewAnnouncer(b.Conn, announce.HostConfig{Name: s.name, Key: s.key, Log: log,
		Figure: func() announce.Host { return figuresOf(h.Load()) },
		Make: func(ctx context.Context, mapName, mode string, players int) (uint32, error) {
			return h.CreateLobby(ctx, httpapi.LobbySpec{Map: mapName, Mode: mode, Players: players})
		}})
	if err != nil {
		b.Close()
		return nil, err
	}
	m, err := handoff.NewMover(ctx, handoff.Config{Bus: b, Name: s.name, Key: s.key, Host: h, Log: log})
	if err != nil {
		b.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 3)
	go func() { done <- a.Run(ctx) }()
	go func() { done <- m.Run(ctx) }()
	go func() { m.Drain(ctx, func() []uint32 { return busyLobbies(h) }); done <- nil }()
	return func() {
		cancel()
		for range cap(done) {
			if err := <-done; err != nil {
				log.Error("fleet: left with an error", "err", err)
			}
		}
		b.Close()
	}, nil
}

// busyLobbies lists the lobbies of a host that have players.
func busyLobbies(h *host.Host) (ids []uint32) {
	for _, l := range h.Load().Lobbies {
		if l.Players > 0 {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// figuresOf is what a host announces.
func figuresOf(l host.Load) announce.Host {
	h := announce.Host{Instance: l.Instance, MostRooms: l.Most, MostSlots: l.Slots, Workers: l.Workers,
		Busy: l.Busy, Arrivals: &l.Arrivals, Draining: l.Draining, TickUS: float64(l.Tick.Microseconds()), Rooms: make([]announce.Room, len(l.Lobbies))}
	for _, at := range l.Addresses {
		h.Addresses = append(h.Addresses, at.String())
	}
	for i, x := range l.Lobbies {
		h.Rooms[i] = announce.Room(x)
	}
	return h
}
