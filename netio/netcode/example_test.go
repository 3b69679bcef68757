package netcode_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

func Example() {
	address, player := netip.MustParseAddrPort("192.0.2.1:40000"),
		netip.MustParseAddrPort("198.51.100.7:51234")
	key, protocol, clock := netcode.Key{1, 2, 3}, uint64(0x7469636b), int64(1_800_000_000)

	// The backend.
	mint := netcode.Mint{ProtocolID: protocol, ClientID: 42, Create: uint64(clock),
		Expire:         uint64(clock) + 45,
		TimeoutSeconds: 10, Servers: []netip.AddrPort{address}}
	token, err := mint.Append(nil, &key, rand.Reader)
	if err != nil {
		panic(err)
	}

	// Both ends; out is what each wants to be sent.
	server, err := netcode.NewServer(netcode.ServerConfig{PrivateKey: key, ProtocolID: protocol,
		Addresses: []netip.AddrPort{address}, Entropy: [32]byte{9}, // from crypto/rand, but for an example
		TokenLifetime: 45 * time.Second, StartUnix: clock - 1})
	if err != nil {
		panic(err)
	}
	client := netcode.NewClient(token, netcode.ClientConfig{})
	var up, down netcode.Outbox
	for now := time.Duration(0); client.State() != netcode.Connected; now += 10 * time.Millisecond {
		client.Update(now, &up)
		for i := range up.Len() {
			_, datagram := up.At(i)
			event, err := server.Receive(now, clock, player, datagram, &down)
			fmt.Println("server:", event.Kind, err)
		}
		up.Reset()
		server.Update(now, clock, &down)
		for i := range down.Len() {
			_, datagram := down.At(i)
			client.Receive(now, address, datagram, &up)
			fmt.Println("client:", client.State())
		}
		down.Reset()
	}
	session, _ := server.Session(int(client.Index()))
	fmt.Println("client", session.ClientID, "at", session.Address)
	// Output:
	// server: none <nil>
	// client: sending connection response
	// server: connected <nil>
	// client: connected
	// client 42 at 198.51.100.7:51234
}
