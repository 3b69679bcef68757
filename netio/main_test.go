package netio

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// gnet's worker pool starts with its package and never ends; any other goroutine that is left is a
// leak.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// backEnds are the sockets that every test of Conn runs against.
var backEnds = []struct {
	name   string
	listen func(addr string, cfg Config) (Conn, error)
}{
	{"gnet", ListenGnet},
	{"gnet, unmoderated", func(addr string, cfg Config) (Conn,
		error) {
		cfg.Moderation = -1
		return ListenGnet(addr, cfg)
	}},
	{"mmsg", ListenMmsg},
	{"net", ListenNet},
}

func eachBackEnd(t *testing.T, f func(t *testing.T, listen func(addr string, cfg Config) (Conn, error))) {
	for _, b := range backEnds {
		t.Run(b.name, func(t *testing.T) { f(t, b.listen) })
	}
}

func mustListen(t testing.TB, listen func(string, Config) (Conn, error), addr string, cfg Config) Conn {
	t.Helper()
	c, err := listen(addr, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func mustPool(t testing.TB, remote netip.AddrPort, n int) *ClientPool {
	t.Helper()
	f, err := OpenClientPool(remote, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// receiveTimeout bounds every wait for a datagram on loopback.
const receiveTimeout = 20 * time.Second

// receive collects until want datagrams have arrived, and a moment longer to catch a surplus.
func receive(t testing.TB, c Conn, b *Batch, want int, f func(Datagram)) (got int) {
	t.Helper()
	for end := time.Now().Add(receiveTimeout); time.Now().Before(end); {
		n, err := c.Receive(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			f(b.At(i))
		}
		if got += n; n == 0 {
			if got >= want {
				end = time.Now().Add(min(2*time.Millisecond, time.Until(end)))
				want = 1 << 30
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	return got
}

// settle waits until the socket has received everything that was sent.
func settle(t testing.TB, c Conn, in uint64) Stats {
	t.Helper()
	for end := time.Now().Add(receiveTimeout); c.Stats().DatagramsIn < in && time.Now().Before(end); {
		time.Sleep(200 * time.Microsecond)
	}
	return c.Stats()
}

func ipv6Loopback(t testing.TB) {
	t.Helper()
	c, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on this machine's loopback: %v", err)
	}
	c.Close()
}
