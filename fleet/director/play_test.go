package director

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim/arena"
)

// waitLimit bounds every wait for others: a busy machine may stall for seconds.
const waitLimit = 20 * time.Second

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}

// realHost starts a host with one lobby of four and room for another, and announces it. It ends with
// the test.
func realHost(t *testing.T, b *bus.Bus, name, listen string) *host.Host {
	t.Helper()
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 4,
			Netcode: netcode.ServerConfig{PrivateKey: netcode.Key{1, 2}}},
		Lobbies: host.LobbiesConfig{Ahead: 1, Most: 2},
		UDP:     host.UDPConfig{Listen: listen}, HTTP: host.HTTPConfig{Listen: "127.0.0.1:0"},
		Maps: func(server.MapSpec) (server.LoadedMap, error) {
			return server.LoadedMap{Arena: ground, Name: "arena-16"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := announce.NewAnnouncer(b.Conn, announce.HostConfig{Name: name, Key: fleetKey, Log: slog.New(slog.DiscardHandler),
		Figure: func() announce.Host { return figures(h.Load()) },
		Make: func(ctx context.Context, mapName, mode string, players int) (uint32, error) {
			return h.CreateLobby(ctx, httpapi.LobbySpec{Map: mapName, Mode: mode, Players: players})
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- h.Run(ctx) }()
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

func figures(l host.Load) announce.Host {
	h := announce.Host{Instance: l.Instance, MostRooms: l.Most, MostSlots: l.Slots, Workers: l.Workers,
		Busy: l.Busy, TickUS: float64(l.Tick.Microseconds())}
	for _, at := range l.Addresses {
		h.Addresses = append(h.Addresses, at.String())
	}
	for _, x := range l.Lobbies {
		h.Rooms = append(h.Rooms, announce.Room(x))
	}
	return h
}

// play joins with a token, over a socket of its own, and stays until stop is closed.
func play(t *testing.T, token []byte, joined chan<- client.Choice, stop <-chan struct{}) {
	t.Helper()
	c, err := client.New(client.Config{Token: token, Fetch: true, Decode: client.DecodeOwn})
	if err != nil {
		t.Error(err)
		return
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Error(err)
		return
	}
	defer socket.Close()
	datagram, begun := make([]byte, 2048), time.Now()
	for state, told := client.Connecting, false; state <= client.Joined; state, _ = c.State() {
		select {
		case <-stop:
			c.Leave(time.Since(begun))
		default:
		}
		_ = socket.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
		if n, err := socket.Read(datagram); err == nil {
			_ = c.Receive(time.Since(begun), datagram[:n])
		}
		for range c.Advance(time.Since(begun)) {
			c.Command(client.Intent{})
		}
		for out, i := c.Outgoing(time.Since(begun)), 0; i < out.Len(); i++ {
			to, data := out.At(i)
			_, _ = socket.WriteToUDPAddrPort(data, to)
		}
		if state == client.Joined && !told {
			told = true
			joined <- c.Choice()
		}
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// A director hears two real hosts, reserves a place on both, and the player of its token joins one of
// them and is counted there. When lobbies have no place left, both hosts make another.
func TestRow80PlayerJoinsARealHost(t *testing.T) {
	b := testBus(t)
	d := testDirector(t, b, nil)
	defer d.Close()
	if probe, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}); err != nil {
		t.Skipf("this system has no second address of its own: %v", err)
	} else {
		_ = probe.Close()
	}
	hosts := map[string]*host.Host{}
	hosts["one"] = realHost(t, b, "one", "127.0.0.1:0")
	hosts["two"] = realHost(t, b, "two", "127.0.0.2:0")
	eventually(t, "both hosts have place", func() bool { return d.Stats().Rooms == 2 && d.Stats().Available == 2 })
	lobby := hosts["one"].Load().Lobbies[0]

	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	a, err := d.Match(ctx, Ask{"r", 1, lobby.Map, lobby.Mode, 2})
	if err != nil || len(a.Hosts) != 2 || len(a.Servers) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	joined, stop, left := make(chan client.Choice, 1), make(chan struct{}), make(chan struct{})
	go func() { play(t, a.Tokens[0].Token, joined, stop); close(left) }()
	var choice client.Choice
	select {
	case choice = <-joined:
	case <-left:
		t.Fatal("the player did not join")
	case <-ctx.Done():
		t.Fatal("the player did not join in time")
	}
	defer func() { close(stop); <-left }()
	answered := 0
	for _, p := range choice.Pings {
		answered += p.Answered
	}
	if len(choice.Pings) != 2 || answered == 0 {
		t.Errorf("%+v", choice)
	}
	chosen := a.Hosts[0].Host
	if a.Hosts[1].Servers[0] == choice.Server.String() {
		chosen = a.Hosts[1].Host
	}
	eventually(t, "the host counts the player", func() bool {
		return hosts[chosen].Addr() == choice.Server && hosts[chosen].Load().Lobbies[0].Players == 1
	})
	eventually(t, "the director hears of the player", func() bool { return d.players(chosen) == 1 })
	if n := d.Stats().Players; n != 2 { // the player that has joined, and the place kept on the other host
		t.Errorf("%d players and places, want 2", n)
	}

	a, err = d.Match(ctx, Ask{"s", 4, lobby.Map, lobby.Mode, 2})
	if err != nil || len(a.Hosts) != 2 || a.Hosts[0].Lobby != "1" || a.Hosts[1].Lobby != "1" {
		t.Fatalf("%+v, %v", a.Hosts, err)
	}
	for name, h := range hosts {
		if n := len(h.Load().Lobbies); n != 2 {
			t.Errorf("host %s has %d lobbies, want 2", name, n)
		}
	}
}

// players is how many players a host has announced.
func (d *Director) players(host string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.index.hosts[host]; h != nil {
		for _, r := range h.rooms {
			n += r.Players
		}
	}
	return n
}
