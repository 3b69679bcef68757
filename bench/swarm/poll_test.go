package swarm

import (
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio"
)

// talker is a lobby of one client that gets a datagram with each call of say.
func talker(t *testing.T) (f *netio.ClientPool, say func()) {
	at, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { at.Close() })
	if f, err = netio.OpenClientPool(at.LocalAddr().(*net.UDPAddr).AddrPort(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, func() {
		if _, err := at.WriteToUDPAddrPort([]byte("again"), f.LocalAddr(0)); err != nil {
			t.Error(err)
		}
	}
}

// A lobby that always has more datagrams does not keep the others from being received.
func TestEveryLobbyIsHeard(t *testing.T) {
	const lobbies = 3
	s := &Swarm{driver: driver{pacer: clock.New()}}
	defer runtime.UnlockOSThread()
	var heard [lobbies]int
	for l := range lobbies {
		f, say := talker(t)
		say()
		s.sockets.pools = append(s.sockets.pools, f)
		s.sockets.handlers = append(s.sockets.handlers, func(int, []byte) {
			if heard[l]++; l == 0 {
				say()
			}
		})
	}
	for n := 0; heard[1] == 0 || heard[2] == 0; n++ {
		if n == 1000 {
			t.Fatalf("heard %v", heard)
		}
		s.poll(s.driver.pacer.Now() + 20*time.Microsecond)
	}
	if heard[1] != 1 || heard[2] != 1 {
		t.Errorf("heard %v", heard)
	}
}
