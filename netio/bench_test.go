//go:build linux && !portable

package netio

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// prefill is the number of datagrams in the socket when a round of BenchmarkReceive begins.
const prefill = 2048

// cpuNow returns the processor time of this thread, which the caller has locked.
func cpuNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// tally sums processor time and allocations over the rounds of a benchmark.
type tally struct {
	datagrams, ns, mallocs int64
}

func (t *tally) report(b *testing.B) {
	b.ReportMetric(float64(t.ns)/float64(t.datagrams), "cpu-ns/datagram")
	b.ReportMetric(float64(t.mallocs)/float64(t.datagrams), "allocs/datagram")
	b.ReportMetric(0, "ns/op") // wall time of both ends together says nothing
}

// gated holds a gnet loop at its first datagram until the socket is full, and stops the clock when
// it is empty.
type gated struct {
	gnet.EventHandler
	want    int
	got     int
	full    chan bool // the socket is prefilled
	held    chan bool // the loop is waiting for that
	empty   chan tally
	counted func() int // datagrams that have reached the owner, by then
	start   int64
	before  uint64
}

func newGated(h gnet.EventHandler, counted func() int) *gated {
	return &gated{EventHandler: h, full: make(chan bool), held: make(chan bool), empty: make(chan tally),
		counted: counted}
}

func (g *gated) OnTraffic(c gnet.Conn) gnet.Action {
	if g.got == 0 {
		runtime.LockOSThread()
		g.held <- true
		<-g.full
		g.before, g.start = mallocs(), cpuNow()
	}
	action := g.EventHandler.OnTraffic(c)
	if g.got += g.counted(); g.got >= g.want {
		ns := cpuNow() - g.start
		t := tally{int64(g.got), ns, int64(mallocs() - g.before)}
		g.got = 0
		runtime.UnlockOSThread()
		g.empty <- t
	}
	return action
}

// rounds prefills the loop's socket until b.N datagrams have passed.
func (g *gated) rounds(b *testing.B, to netip.AddrPort) {
	from := newSenders(b, to, 64)
	var sum tally
	for sum.datagrams < int64(b.N) {
		g.want = prefill + BatchSize
		from.send(b, BatchSize)
		<-g.held
		from.send(b, prefill)
		g.full <- true
		t := <-g.empty
		sum.datagrams += t.datagrams
		sum.ns += t.ns
		sum.mallocs += t.mallocs
	}
	sum.report(b)
}

// plain is a plain gnet server: one datagram a callback.
type plain struct {
	gnet.BuiltinEventEngine
	bytes int
	n     int
}

func (p *plain) OnTraffic(c gnet.Conn) gnet.Action {
	data, _ := c.Next(-1)
	p.bytes += len(data)
	if u, ok := c.RemoteAddr().(*net.UDPAddr); !ok || u.Port == 0 {
		panic("no peer")
	}
	p.n++
	return gnet.None
}

// BenchmarkReceive receives 64-byte datagrams that wait in the socket, by each way from the socket
// to the owner, and reports the processor time of the receiving thread. About nine tenths of it
// are in the kernel.
func BenchmarkReceive(b *testing.B) {
	b.Run("gnet-plain", func(b *testing.B) {
		p := &plain{}
		var g *gated
		c, err := listenGnet("127.0.0.1:0", Config{}, func(h gnet.EventHandler) gnet.EventHandler {
			boot := h.(*drainer)
			g = newGated(bootOnly{p, boot}, func() int { return 1 })
			return g
		})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		g.rounds(b, c.LocalAddr())
	})
	b.Run("gnet-drain", func(b *testing.B) {
		var c *gnetConn
		var batch Batch
		var g *gated
		take := func() (n int) {
			for k, _ := c.Receive(&batch); k > 0; k, _ = c.Receive(&batch) {
				n += k
			}
			return n
		}
		c, err := listenGnet("127.0.0.1:0", Config{Moderation: -1},
			func(h gnet.EventHandler) gnet.EventHandler {
				g = newGated(h, take)
				return g
			})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		g.rounds(b, c.LocalAddr())
	})
	b.Run("mmsg", func(b *testing.B) {
		c := mustListen(b, ListenMmsg, "127.0.0.1:0", Config{})
		var batch Batch
		prefilled(b, c.LocalAddr(), func() int { n, _ := c.Receive(&batch); return n })
	})
	b.Run("net", func(b *testing.B) {
		c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		_ = c.SetReadBuffer(DefaultSocketBuffer)
		buf := make([]byte, 2048)
		prefilled(b, c.LocalAddr().(*net.UDPAddr).AddrPort(), func() int {
			if _, _, err := c.ReadFromUDPAddrPort(buf); err != nil {
				b.Fatal(err)
			}
			return 1
		})
	})
}

// bootOnly passes the start to the drainer, which ListenGnet waits for, and the traffic to the
// other handler.
type bootOnly struct {
	*plain
	boot *drainer
}

func (h bootOnly) OnBoot(e gnet.Engine) gnet.Action { return h.boot.OnBoot(e) }

// prefilled measures a receiver that is called on this thread.
func prefilled(b *testing.B, to netip.AddrPort, receive func() int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := newSenders(b, to, 64)
	var sum tally
	for sum.datagrams < int64(b.N) {
		from.send(b, prefill)
		before, start := mallocs(), cpuNow()
		for got := 0; got < prefill; {
			got += receive()
		}
		sum.ns += cpuNow() - start
		sum.mallocs += int64(mallocs() - before)
		sum.datagrams += prefill
	}
	sum.report(b)
}

// BenchmarkTrickle receives 30,000 datagrams a second, one by one as 500 players at 60 Hz send
// them, for an owner that polls 60 times a second: processor time of all receiving threads,
// garbage collection included. A loop that wakes for each datagram costs most here.
func BenchmarkTrickle(b *testing.B) {
	const gap, look = time.Second / 30_000, time.Second / 60
	for _, back := range backEnds {
		b.Run(strings.ReplaceAll(back.name, ", ", "-"), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c := mustListen(b, back.listen, "127.0.0.1:0", Config{})
			f := mustPool(b, c.LocalAddr(), 1)
			data, batch, owner := make([]byte, 64), new(Batch), int64(0)
			before, others := mallocs(), processCPU()-cpuNow()
			start := time.Now()
			for next, n := look, 0; n < b.N || c.Stats().Delivered < uint64(b.N); {
				now := time.Since(start)
				if n < b.N && now >= time.Duration(n)*gap {
					_ = f.Send(0, data)
					n++
				}
				if now >= next {
					next += look
					at := cpuNow()
					for k, _ := c.Receive(batch); k > 0; k, _ = c.Receive(batch) {
					}
					owner += cpuNow() - at
				}
			}
			t := tally{int64(b.N), owner + processCPU() - cpuNow() - others, int64(mallocs() - before)}
			t.report(b)
			b.ReportMetric(float64(c.Stats().Wakeups)/float64(b.N), "wakes/datagram")
		})
	}
}

// processCPU returns the processor time of all threads.
func processCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// BenchmarkSend sends 512 datagrams of 400 bytes, one, two or four to each client; on loopback the
// sender's thread also pays for the delivery. The clients' sockets are emptied between rounds, off
// the clock, since a full one is cheaper to send to. Several datagrams to a client, as in a lobby
// whose snapshot does not fit one, are one GSO send.
func BenchmarkSend(b *testing.B) {
	const clients, bytes = 512, 400
	rounds := func(b *testing.B, f *ClientPool, send func()) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var sum tally
		for sum.datagrams < int64(b.N) {
			before, start := mallocs(), cpuNow()
			send()
			sum.ns += cpuNow() - start
			sum.mallocs += int64(mallocs() - before)
			sum.datagrams += clients
			if got := pollAll(f, func(int, []byte) {}); got != clients {
				b.Fatalf("%d of %d arrived", got, clients)
			}
		}
		sum.report(b)
	}
	batched := func(c Conn, each int) func(b *testing.B) {
		return func(b *testing.B) {
			f := mustPool(b, c.LocalAddr(), clients/each)
			batches := make([]Batch, clients/BatchSize)
			for i := range clients {
				batches[i/BatchSize].Add(make([]byte, bytes), f.LocalAddr(i/each))
			}
			rounds(b, f, func() {
				for i := range batches {
					if err := c.Send(&batches[i]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	for _, each := range []int{1, 2, 4} {
		for _, back := range []struct {
			name   string
			listen func(string, Config) (Conn, error)
		}{{"gnet-sendmmsg", ListenGnet}, {"mmsg-sendmmsg", ListenMmsg}, {"net", ListenNet}} {
			b.Run(fmt.Sprintf("each=%d/%s", each, back.name),
				batched(mustListen(b, back.listen, "127.0.0.1:0", Config{}), each))
		}
	}
}

// BenchmarkPool measures a round trip of each of 2000 clients through an echo by recvmmsg and
// sendmmsg: the processor time of the pool.
func BenchmarkPool(b *testing.B) {
	const clients, bytes = 2000, 100
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := mustListen(b, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(b, c.LocalAddr(), clients)
	data := make([]byte, bytes)
	var in Batch
	var out ClientBatch
	var send, poll tally
	for send.datagrams < int64(b.N) {
		start := cpuNow()
		for i := range clients {
			if out.Add(i, data); out.Full() || i == clients-1 {
				if _, err := f.SendBatch(&out); err != nil {
					b.Fatal(err)
				}
			}
		}
		send.ns += cpuNow() - start
		send.datagrams += clients
		for n, _ := c.Receive(&in); n > 0; n, _ = c.Receive(&in) {
			if err := c.Send(&in); err != nil { // back where it came from
				b.Fatal(err)
			}
		}
		before, start := mallocs(), cpuNow()
		if got := pollAll(f, func(int, []byte) {}); got != clients {
			b.Fatalf("%d of %d arrived", got, clients)
		}
		poll.ns += cpuNow() - start
		poll.mallocs += int64(mallocs() - before)
		poll.datagrams += clients
	}
	poll.report(b)
	b.ReportMetric(float64(send.ns)/float64(send.datagrams), "send-cpu-ns/datagram")
}

// BenchmarkRing measures the hand-over alone: the cost for the owner of taking a datagram from a
// ring.
func BenchmarkRing(b *testing.B) {
	r := newRing(DefaultRingDatagrams)
	var batch Batch
	b.ReportAllocs()
	for n := 0; n < b.N; n += BatchSize {
		run := r.run()
		for i := range run {
			run[i].n = 64
		}
		r.publish(len(run))
		r.take(&batch)
	}
}
