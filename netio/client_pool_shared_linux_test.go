//go:build !portable

package netio

import "testing"

// Clients of several shared sockets are told apart, and all sockets are polled.
func TestPoolOfSeveralSharedSockets(t *testing.T) {
	const clients, each = 10, 3
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), 0)
	if f.shared == nil {
		t.Skip("no room for shared sockets")
	}
	f.shared.sharers = 3
	var sent ClientBatch
	for i := range clients {
		if _, err := f.Add(); err != nil {
			t.Fatal(err)
		}
		for range each {
			sent.Add(i, []byte{byte(i)})
		}
	}
	if _, err := f.SendBatch(&sent); err != nil || len(f.shared.fds) != 4 {
		t.Fatalf("%d sockets: %v", len(f.shared.fds), err)
	}
	var in Batch
	receive(t, c, &in, clients*each, func(d Datagram) {
		if d.Addr != f.LocalAddr(int(d.Data[0])) {
			t.Errorf("%v sent as client %d", d.Addr, d.Data[0])
		}
		var answer Batch
		answer.Add(d.Data, d.Addr)
		if err := c.Send(&answer); err != nil {
			t.Fatal(err)
		}
	})
	var got [clients]int
	poll(t, f, clients*each, func(i int, data []byte) {
		if int(data[0]) != i {
			t.Errorf("client %d got an answer to %d", i, data[0])
		}
		got[i]++
	})
	for i, n := range got {
		if n != each {
			t.Errorf("client %d got %d", i, n)
		}
	}
}
