//go:build linux && !portable

package netio

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	floodPlayers = 200
	floodRate    = 60                    // of players' datagrams and of the server's ticks, a second
	floodDebt    = 50 * time.Millisecond // how far the generator may fall behind and catch up
	playerBytes  = 100
	junkBytes    = 64
	// first byte of a player's datagram, as a netcode payload's with a sequence of one byte
	playerMark = 0x15
)

// BenchmarkFlood: 200 players send 60 numbered datagrams a second each, beside a flood of random
// junk from eight other sockets. A tick polls 60 times a second and computes for 4 ms, on the one
// core of the server. The server named net handles one datagram after another with package net and
// as large a socket buffer, and ticks beside that. Each datagram costs all servers the same, one
// hash. lost/datagram is the share of datagrams from players, for all reasons. junk-datagrams/s is
// what the generator sent, from the other core. An operation is a second.
func BenchmarkFlood(b *testing.B) {
	plausible := func(d []byte) bool { return d[0]&15 <= 6 && d[0]>>4 <= 8 && len(d) >= 18 }
	for _, c := range []struct {
		name  string
		junk  int
		start func(b *testing.B, seen *floodSeen) (at netip.AddrPort, stop func() Stats)
	}{
		{"120k/gnet", 120_000, floodOwn(ListenGnet, Config{Filter: plausible})},
		{"120k/net", 120_000, floodNet},
	} {
		b.Run(c.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // one is the generator's
			restore := onto(b, 0)
			defer restore()
			var seen floodSeen
			at, stop := c.start(b, &seen)
			b.ResetTimer()
			cpu, own, began := processCPU(), cpuNow(), time.Now()
			sent, junk := flood(b, at, c.junk, time.Duration(b.N)*time.Second)
			wall := time.Since(began)
			b.StopTimer()
			cpu = processCPU() - cpu - (cpuNow() - own)
			time.Sleep(200 * time.Millisecond) // what waits in a buffer is no loss
			s := stop()
			b.ReportMetric(float64(sent-seen.players)/float64(sent), "lost/datagram")
			b.ReportMetric(float64(junk)/wall.Seconds(), "junk-datagrams/s")
			b.ReportMetric(float64(sent)/wall.Seconds(), "datagrams/s")
			b.ReportMetric(float64(s.KernelDrops)/float64(b.N), "kernel-drops/op")
			b.ReportMetric(float64(cpu)/float64(wall), "cores")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// floodSeen is the work of a server for a datagram: it authenticates it and finds its sender by
// number.
type floodSeen struct {
	next    [floodPlayers]uint32
	players int
	hash    byte
}

func (f *floodSeen) datagram(b *testing.B, d []byte) {
	sum := sha256.Sum256(d)
	f.hash ^= sum[0]
	if len(d) != playerBytes || d[0] != playerMark {
		return
	}
	who, k := binary.LittleEndian.Uint32(d[1:]), binary.LittleEndian.Uint32(d[5:])
	if k < f.next[who] {
		b.Errorf("player %d: datagram %d after %d", who, k, f.next[who])
	}
	f.next[who] = k + 1
	f.players++
}

// floodTick computes for 4 ms, as the rest of a tick does.
func floodTick() {
	for end := cpuNow() + int64(4*time.Millisecond); cpuNow() < end; {
	}
}

func floodOwn(listen func(string, Config) (Conn, error), cfg Config) func(*testing.B,
	*floodSeen) (netip.AddrPort, func() Stats) {
	return func(b *testing.B, seen *floodSeen) (netip.AddrPort, func() Stats) {
		c := mustListen(b, listen, "127.0.0.1:0", cfg)
		stop := ticking(func() {
			var in Batch
			for n, _ := c.Receive(&in); n > 0; n, _ = c.Receive(&in) {
				for i := range n {
					seen.datagram(b, in.At(i).Data)
				}
			}
		})
		return c.LocalAddr(), func() Stats {
			stop()
			c.Close()
			return c.Stats()
		}
	}
}

func floodNet(b *testing.B, seen *floodSeen) (netip.AddrPort, func() Stats) {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		b.Fatal(err)
	}
	_ = c.SetReadBuffer(DefaultSocketBuffer)
	done := make(chan bool)
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, _, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			seen.datagram(b, buf[:n])
		}
	}()
	stop := ticking(func() {})
	return c.LocalAddr().(*net.UDPAddr).AddrPort(), func() Stats {
		stop()
		c.Close()
		<-done
		return Stats{}
	}
}

// ticking calls receive at the start of every tick, on a thread of its own.
func ticking(receive func()) (stop func()) {
	var over atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start := time.Now()
		for k := time.Duration(1); !over.Load(); k++ {
			receive()
			floodTick()
			nap(time.Until(start.Add(k * time.Second / floodRate)))
		}
	}()
	return func() { over.Store(true); <-done }
}

// flood sends both kinds for a time, evenly, from this thread, and returns how many datagrams
// of each went out. A generator that falls behind catches up by at most floodDebt; beyond that
// the flood is the thinner, see "junk-datagrams/s".
func flood(b *testing.B, at netip.AddrPort, junkRate int, long time.Duration) (sent, junk int) {
	var players [floodPlayers]int
	for i := range players {
		fd, family, err := openUDP(at.Addr())
		if err != nil {
			b.Fatal(err)
		}
		defer unix.Close(fd)
		if errno := bindOrConnect(unix.SYS_CONNECT, fd, at, family); errno != 0 {
			b.Fatal(errno)
		}
		players[i] = fd
	}
	var others [8]Conn
	for i := range others {
		others[i] = mustListen(b, ListenMmsg, "127.0.0.1:0", Config{})
	}
	const burst = 40
	var batch Batch
	r := rand.New(rand.NewPCG(7, 7))
	for range burst {
		d := make([]byte, junkBytes)
		for k := range d {
			d[k] = byte(r.Uint32())
		}
		batch.Add(d, at)
	}
	data := make([]byte, playerBytes)
	data[0] = playerMark
	start := time.Now()
	forgiven := time.Duration(0) // of the flood's schedule: what it was too slow for
	for {
		now := time.Since(start)
		if now >= long {
			return sent, junk
		}
		for due := int(now * floodPlayers * floodRate / time.Second); sent < due; sent++ {
			who := sent % floodPlayers
			binary.LittleEndian.PutUint32(data[1:], uint32(who))
			binary.LittleEndian.PutUint32(data[5:], uint32(sent/floodPlayers))
			if _, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(players[who]),
				uintptr(unsafe.Pointer(&data[0])), playerBytes); errno != 0 {
				b.Fatal(errno)
			}
		}
		gap := time.Second * burst / time.Duration(junkRate)
		late := now - forgiven - time.Duration(junk/burst)*gap
		if late > floodDebt {
			forgiven += late - floodDebt
		}
		if late >= gap {
			if err := others[junk/burst%len(others)].Send(&batch); err != nil {
				b.Fatal(err)
			}
			junk += burst
		}
	}
}
