package netio

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// Eighty clients with sockets of their own, over IPv4 and IPv6, by every back end: each datagram
// arrives once from the address of its client, and its answer reaches that client alone.
func TestRow17UDPTransportEightyClients(t *testing.T) {
	for _, family := range []string{"127.0.0.1:0", "[::1]:0"} {
		if family[0] == '[' {
			ipv6Loopback(t)
		}
		eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
			const clients, each = 80, 20
			c := mustListen(t, listen, family, Config{})
			if c.LocalAddr().Addr().Is4() != (family[0] != '[') {
				t.Fatalf("listening at %v", c.LocalAddr())
			}
			f := mustPool(t, c.LocalAddr(), clients)
			owner := map[netip.AddrPort]int{}
			for i := range clients {
				owner[f.LocalAddr(i)] = i
			}
			var in, out Batch
			var heard, answered [clients]int
			for k := range each {
				for i := range clients {
					if err := f.Send(i, binary.LittleEndian.AppendUint32(nil, uint32(k<<16|i))); err != nil {
						t.Fatal(err)
					}
				}
				receive(t, c, &in, clients, func(d Datagram) {
					v := binary.LittleEndian.Uint32(d.Data)
					i, known := owner[d.Addr]
					if !known || i != int(v&0xffff) || heard[i] != int(v>>16) {
						t.Fatalf("%v sent %d of client %d, of which %d came before", d.Addr, v>>16,
							v&0xffff, heard[i])
					}
					heard[i]++
					out.Add(d.Data, d.Addr)
					if out.Full() {
						if err := c.Send(&out); err != nil {
							t.Fatal(err)
						}
						out.Reset()
					}
				})
				if err := c.Send(&out); err != nil {
					t.Fatal(err)
				}
				out.Reset()
				poll(t, f, clients, func(i int, data []byte) {
					if v := binary.LittleEndian.Uint32(data); int(v&0xffff) != i ||
						int(v>>16) != answered[i] {
						t.Fatalf("client %d got answer %d of client %d, after %d", i, v>>16, v&0xffff,
							answered[i])
					}
					answered[i]++
				})
			}
			for i := range clients {
				if heard[i] != each || answered[i] != each {
					t.Errorf("client %d: %d of %d heard, %d answered", i, heard[i], each, answered[i])
				}
			}
		})
	}
}
