package host

import (
	"bytes"
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// A token names a lobby of an echo, or gets the fullest one with room. A session without a lobby
// ends at once, and one that leaves makes room.
func TestEchoLobbies(t *testing.T) {
	const none = math.MaxUint32
	l := newEchoLobbies(3, 6)
	token := func(lobby uint32) []byte {
		user := make([]byte, netcode.UserDataSize)
		if lobby != none {
			protocol.LobbyRef{Lobby: lobby}.Mark(user)
		}
		return user
	}
	for i, c := range []struct {
		client int
		lobby  uint32 // none: any
		want   int    // -1: refused
	}{
		{0, 1, 1}, {1, none, 1}, {2, none, 0}, {3, 1, -1}, {3, 3, -1}, {3, none - 1, -1}, {3, 2, 2},
		{0, 2, 2}, // a takeover with a token for another lobby
		{4, 1, 1}, {5, none, 0}, {0, 2, 2}, {5, 2, -1}, {5, 0, 0},
	} {
		if got := l.enter(c.client, token(c.lobby)); got != (c.want >= 0) || l.of[c.client] != c.want {
			t.Errorf("%d: client %d in lobby %d: %v %+v", i, c.client, c.want, got, l)
		}
	}
	l.leave(0)
	l.leave(0)
	if l.refused != 4 || l.clients[0] != 2 || l.clients[1] != 2 || l.clients[2] != 1 {
		t.Errorf("%+v", l)
	}
}

// The client of a lobby that does not exist learns so at once, by disconnects.
func TestEchoRefusesLobby(t *testing.T) {
	w := newEchoWorld(t, 2)
	w.user = func(user []byte) { protocol.LobbyRef{Lobby: 7}.Mark(user) }
	c := w.join(1)
	for range 10 {
		w.step()
	}
	if s := c.netcode.State(); s != netcode.Disconnected || w.echo.Server().Connected() != 0 ||
		w.echo.lobbies.refused != 1 {
		t.Errorf("%v, %d connected, %d refused", s, w.echo.Server().Connected(), w.echo.lobbies.refused)
	}
}

// lossyWorld is a network in memory between an echo and many clients of one host. It loses
// datagrams at random.
type lossyWorld struct {
	rng     *mathrand.Rand
	loss    float64
	up      []netio.Datagram // to the echo
	clients []*netcode.Client
	in      int // connected clients
	now     time.Duration
	out     netcode.Outbox
}

// client returns the address of client i.
func (w *lossyWorld) client(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), uint16(10_000+i))
}

// send takes what client i sends.
func (w *lossyWorld) send(i int) {
	for k := range w.out.Len() {
		if _, d := w.out.At(k); w.rng.Float64() >= w.loss {
			w.up = append(w.up, netio.Datagram{Addr: w.client(i), Data: bytes.Clone(d)})
		}
	}
	w.out.Reset()
}

func (w *lossyWorld) Receive(b *netio.Batch) (int, error) {
	b.Reset()
	for len(w.up) > 0 && b.Add(w.up[0].Data, w.up[0].Addr) {
		w.up = w.up[1:]
	}
	return b.Len(), nil
}

func (w *lossyWorld) Send(b *netio.Batch) error {
	for k := range b.Len() {
		if w.rng.Float64() < w.loss {
			continue
		}
		d := b.At(k)
		i := int(d.Addr.Port()) - 10_000
		c := w.clients[i]
		was := c.State()
		_, _ = c.Receive(w.now, w.LocalAddr(), d.Data, &w.out)
		if was != netcode.Connected && c.State() == netcode.Connected {
			w.in++
		}
		w.send(i)
	}
	return nil
}

func (w *lossyWorld) LocalAddr() netip.AddrPort { return netip.MustParseAddrPort("10.0.0.1:7913") }
func (w *lossyWorld) Stats() netio.Stats        { return netio.Stats{} }
func (w *lossyWorld) Close() error              { return nil }

// Four thousand clients of one host connect to eight lobbies of an echo within five seconds, through
// a link that loses 30 % each way: without and with time to spare in the loop.
func TestEchoCrowdThroughLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of work")
	}
	const clients, lobbies = 4000, 8
	for _, spare := range []float64{0, 0.4} {
		w := &lossyWorld{rng: mathrand.New(mathrand.NewPCG(1, 2)), loss: 0.3}
		echo, err := NewEcho(netcode.ServerConfig{PrivateKey: labKey, ProtocolID: 5,
			Addresses: []netip.AddrPort{w.LocalAddr()}, Entropy: [32]byte{1}, Clients: clients,
			AllowTokenReuse: true}, lobbies)
		if err != nil {
			t.Fatal(err)
		}
		echo.Server().SetSpare(spare)
		for i := range clients {
			key := labKey
			m := netcode.Mint{ProtocolID: 5, ClientID: uint64(i), Create: echoUnix, Expire: echoUnix + 45,
				TimeoutSeconds: 10, Servers: []netip.AddrPort{w.LocalAddr()}}
			protocol.LobbyRef{Lobby: uint32(i % lobbies)}.Mark(m.UserData[:])
			token, err := m.Append(nil, &key, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			w.clients = append(w.clients, netcode.NewClient(token, netcode.ClientConfig{}))
		}
		for ; w.in < clients && w.now < 10*time.Second; w.now += 2 * time.Millisecond {
			for i, c := range w.clients {
				c.Update(w.now, &w.out)
				w.send(i)
			}
			if _, err := echo.Tick(w.now, echoUnix+int64(w.now/time.Second), w); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d clients in after %v with %v of a processor to spare", w.in, w.now, spare)
		if w.in < clients || w.now > 5*time.Second {
			t.Errorf("%d of %d are in after %v: %+v", w.in, clients, w.now, *echo.Server().Counters())
		}
		for lobby, n := range echo.lobbies.clients {
			if n != clients/lobbies {
				t.Errorf("%d clients in lobby %d", n, lobby)
			}
		}
	}
}
