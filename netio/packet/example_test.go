package packet_test

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
)

// Two ends of a session exchange a reliable message, with both in one function and the network a
// variable. In a game each packet travels sealed, as the payload of a netcode datagram.
func Example() {
	now := 10 * time.Millisecond
	server, client := packet.NewPeer(0, packet.Config{}), packet.NewPeer(0, packet.Config{})

	_ = client.QueueReliable([]byte("hello"))
	pkt, seq := client.Append(now, nil)
	pkt = client.AppendReliable(pkt, packet.MaxSectionBytes)
	client.SetAckTag(seq, 1)

	rest, err := server.Receive(now, pkt)
	if err == nil {
		rest, err = server.Sections(rest)
	}
	for event, ok := server.NextReliable(); ok; event, ok = server.NextReliable() {
		fmt.Printf("%s, and %d bytes for others: %v\n", event, len(rest), err)
	}

	pkt, _ = server.Append(now, nil) // every packet acknowledges
	_, _ = client.Receive(now, pkt)
	fmt.Println("delivered", client.Delivered(), "unacked", client.ReliablePending())
	// Output:
	// hello, and 0 bytes for others: <nil>
	// delivered [1] unacked 0
}
