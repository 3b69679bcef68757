package session_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
)

// A client gets in and sends an event, with both ends in one function and the network a variable.
func Example() {
	now, from := time.Duration(0), netip.MustParseAddrPort("192.0.2.1:40000")
	door := session.NewDoor([32]byte{1, 2, 3})
	dialer, _ := session.NewDialer(session.DialConfig{Nonce: 7, Name: "Ada"})

	var server, client *session.Peer
	for dialer.State() != session.Connected {
		now += 10 * time.Millisecond
		reply, join, _ := door.Handle(now, from, dialer.Update(now, nil), nil)
		if join != nil {
			accept := wire.Accept{Nonce: join.Nonce, Token: join.Token, TickRate: 60, SendInterval: 3}
			server = session.NewPeer(now, session.Config{Token: join.Token, Server: true})
			reply = accept.Append(reply)
		}
		if len(reply) > 0 {
			_ = dialer.Receive(now, reply)
		}
	}
	client = session.NewPeer(now, session.Config{Token: dialer.Accept().Token})

	_ = client.Queue([]byte("hello"))
	datagram, seq := client.Append(now, nil)
	datagram = client.AppendEvents(datagram, 500)
	client.Sent(seq, 1)

	payload, err := server.Receive(now, datagram)
	for err == nil && len(payload) > 0 {
		switch wire.SectionOf(payload) {
		case wire.SectionEvents:
			payload, err = server.ParseEvents(payload)
			for event, ok := server.NextEvent(); ok; event, ok = server.NextEvent() {
				fmt.Printf("%s\n", event)
			}
		default:
			err = wire.DropSection
		}
	}
	datagram, _ = server.Append(now, nil)
	_, _ = client.Receive(now, datagram)
	fmt.Println(client.Delivered(), err)
	// Output:
	// hello
	// [1] <nil>
}
