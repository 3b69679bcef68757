package host

import (
	"crypto/rand"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// farFrom passes datagrams to a host with 150 ms each way, and returns where.
func farFrom(t *testing.T, h *Host) netip.AddrPort {
	t.Helper()
	slow := impair.Profile{Delay: 150 * time.Millisecond}
	p, err := impair.NewProxy(impair.ProxyConfig{To: h.Addr().String(), Up: slow, Down: slow})
	if err != nil {
		t.Fatal(err)
	}
	stop := runningOf(t, p.Run)
	t.Cleanup(stop)
	return p.Addr()
}

// playUntil runs a client over a socket of its own until a condition holds.
func playUntil(t *testing.T, c *client.Client, what string, holds func() bool) {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	datagram, begun := make([]byte, 2048), time.Now()
	for !holds() {
		if state, _ := c.State(); state > client.Joined || time.Since(begun) > waitLimit {
			t.Fatalf("not %s: %v, %v, %+v", what, state, c.Err(), c.Choice())
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
	}
}

// A token names a lobby on each of two hosts and an address where nobody is. The player joins the
// lobby of the nearer host, and says so.
func TestRow80ClientJoinsTheNearerOfTwoHosts(t *testing.T) {
	cfg, _ := lobbiesConfig("mmsg", 2, 2)
	far, stopFar := running(t, cfg)
	defer stopFar()
	near, stopNear := running(t, cfg)
	defer stopNear()
	nobody, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()

	now := uint64(time.Now().Unix())
	m := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: 7, Create: now, Expire: now + 45,
		TimeoutSeconds: 10, Internal: []netip.AddrPort{far.Addr(), near.Addr()},
		Servers: []netip.AddrPort{nobody.LocalAddr().(*net.UDPAddr).AddrPort(), farFrom(t, far), near.Addr()}}
	protocol.MarkLobbies(m.UserData[:], []protocol.LobbyRef{{Host: far.Load().Instance, Lobby: 0},
		{Host: near.Load().Instance, Lobby: 1}})
	token, err := m.Append(nil, &labKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Token: token, Fetch: true, Decode: client.DecodeOwn})
	if err != nil {
		t.Fatal(err)
	}
	joined := func() bool { state, _ := c.State(); return state == client.Joined }
	playUntil(t, c, "joined", joined)

	choice := c.Choice()
	if len(choice.Pings) != 3 {
		t.Fatalf("%+v", choice)
	}
	chosen, other, want, lobby := near, far, near.Addr(), 1
	if far1, near1 := choice.Pings[1], choice.Pings[2]; far1.Answered > 0 &&
		(near1.Answered == 0 || far1.Best < near1.Best) {
		// The machine has stalled: the near host has answered like one that is farther.
		if near1.Answered > 0 && near1.Best < 300*time.Millisecond {
			t.Fatalf("the far host answers in %v, the near one in %v", far1.Best, near1.Best)
		}
		chosen, other, want, lobby = far, near, m.Servers[1], 0
	}
	if choice.Server != want || choice.Took == 0 {
		t.Fatalf("the choice is %+v, want %v", choice, want)
	}
	for i, p := range choice.Pings {
		if p.Address != m.Servers[i] || (p.Answered > 0) != (p.Best > 0) || i == 0 && p.Answered > 0 ||
			i == 1 && p.Answered > 0 && p.Best < 300*time.Millisecond || i == 2 && p.Answered == 0 && chosen == near {
			t.Errorf("address %d: %+v", i, p)
		}
	}
	eventually(t, "the nearer host has the player in its lobby", func() bool {
		return chosen.Load().Lobbies[lobby].Players == 1 && chosen.Load().Lobbies[1-lobby].Players == 0
	})
	if l := other.Load(); l.Lobbies[0].Players+l.Lobbies[1].Players != 0 {
		t.Error("the other host has a player, too")
	}
}
