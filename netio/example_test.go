package netio_test

import (
	"fmt"
	"net/netip"

	"github.com/tickrate/tickrate/netio"
)

// A server answers everything that has arrived, as one tick of a lobby does.
func Example() {
	network := netio.NewMemory() // or netio.ListenGnet(":7777", netio.Config{})
	server, _ := network.Listen(netip.MustParseAddrPort("10.0.0.1:7777"), netio.Config{})
	client, _ := network.Listen(netip.MustParseAddrPort("10.0.0.2:0"), netio.Config{})

	var in, out netio.Batch
	out.Add([]byte("hello"), server.LocalAddr())
	_ = client.Send(&out)

	for n, _ := server.Receive(&in); n > 0; n, _ = server.Receive(&in) {
		out.Reset()
		for i := range n {
			d := in.At(i)
			reply := append(out.Next(), "welcome, "...)
			reply = append(reply, d.Data...)
			out.Commit(len(reply), d.Addr)
		}
		_ = server.Send(&out)
	}

	n, _ := client.Receive(&in)
	fmt.Printf("%d: %s\n", n, in.At(0).Data)
	// Output: 1: welcome, hello
}
