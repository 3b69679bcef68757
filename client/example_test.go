package client_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// A bot runs in circles and shoots, in a lobby of its own, for ten seconds of virtual time.
func Example() {
	network := netio.NewMemory()
	home, _ := network.Listen(netip.MustParseAddrPort("127.0.0.1:7777"), netio.Config{})
	socket, _ := network.Listen(netip.MustParseAddrPort("127.0.0.1:0"), netio.Config{})

	// a real key is random and secret, as is a real Entropy
	key, public := netcode.Key{1, 2, 3}, []netip.AddrPort{home.LocalAddr()}
	ground, _ := arena.Open("arena-16")
	lobby, _ := server.NewLobby(server.Config{
		Arena: ground, ArenaName: "arena-16",
		Netcode: netcode.ServerConfig{PrivateKey: key, Addresses: public,
			Entropy: [32]byte{4, 5, 6}, AllowTokenReuse: true},
	})
	ticket := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: 1, Expire: 45,
		TimeoutSeconds: 10, Servers: public}
	token, _ := ticket.Append(nil, &key, rand.NewChaCha8([32]byte{7, 8, 9})) // likewise: crypto/rand.Reader

	bot, _ := client.New(client.Config{
		Token: token,
		Fetch: true, // a model or a map that is not here the server sends
	})
	intent := client.Intent{MoveMag: 255, Buttons: sim.Sprint | sim.Fire}
	var in, out netio.Batch
	for now := time.Duration(0); now < 10*time.Second; now += time.Second / 60 {
		_ = lobby.Tick(now, 0, home)
		for n, _ := socket.Receive(&in); n > 0; n, _ = socket.Receive(&in) {
			for i := range n {
				_ = bot.Receive(now, in.At(i).Data)
			}
		}
		for range bot.Advance(now) {
			intent.Yaw += 400
			bot.Command(intent)
		}
		say := bot.Outgoing(now)
		for i := range say.Len() {
			to, datagram := say.At(i)
			out.Add(datagram, to)
		}
		_ = socket.Send(&out)
		out.Reset()
	}
	state, _ := bot.State()
	s := bot.Stats()
	fmt.Println(state, "mispredictions:", s.Prediction.Mispredictions, "fired:",
		s.Shots > 50, "snapshots:", s.Snapshots > 190)
	// Output: joined mispredictions: 0 fired: true snapshots: true
}
