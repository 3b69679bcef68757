//go:build linux && !portable

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

const (
	duelPlayers  = 10 // slots of a small lobby
	duelRate     = 128
	floodRate    = 120_000 // datagrams a second
	floodSources = 8       // each of a network of its own
	floodWarm    = 200 * time.Millisecond
	floodBeat    = time.Millisecond // between two bursts of junk: the swarm has the same processor
)

// BenchmarkFloodLobbies measures lobbies under a flood, for a second an operation: 200 players of a
// swarm play over real UDP in lobbies of one port, against a server process on a processor of its
// own. Junk arrives from eight other networks (random bytes, bytes that look sealed, and requests
// with forged tokens), or well-formed connection requests from the players' network.
//
//	lost-up/datagram     datagrams from players that no lobby accepted
//	lost-down/snapshot   snapshots due that no player got
//	at-swarm/snapshot    of these, datagrams that arrived at a full socket of the swarm
//	kernel-drops/op      datagrams of all kinds that the server's socket could not hold
//	waited-ns/op         run delay of the server's threads; above 40 ms the run is void
//	late/pass            passes that the swarm was late for; above 0.01 the run is void
func BenchmarkFloodLobbies(b *testing.B) {
	for _, c := range []floodedLobbies{{"none", 20, 10, duelRate}, {"junk", 20, 10, duelRate},
		{"requests", 20, 10, duelRate}, {"junk", 1, 200, 60}} {
		b.Run(fmt.Sprintf("%s/lobbies=%d/players=%d", c.kind, c.lobbies, c.players), func(b *testing.B) {
			needsTwoProcessors(b)
			world := "arena-16"
			if c.players > duelPlayers {
				world = fmt.Sprintf("gen:%d:1", c.players)
			}
			c.run(b, serverApart(b, command(b, serveArgs("--lobbies", fmt.Sprint(c.lobbies), "--players",
				fmt.Sprint(c.players), "--rate", fmt.Sprint(c.hz), "--send-interval", "2", "--map", world)...)))
			b.ReportMetric(0, "ns/op")
		})
	}
}

// floodedLobbies is a flood and the lobbies beside it.
type floodedLobbies struct {
	kind             string // none, junk, requests
	lobbies, players int    // players of each lobby
	hz               tick.Rate
}

// lobbyFigures are figures of all lobbies of a server.
type lobbyFigures struct {
	accepted    uint64 // datagrams
	kernelDrops uint64
	cpu, wall   float64 // seconds
}

// figuresOfLobbies reads the reports of a server's lobbies and of its port.
func figuresOfLobbies(b *testing.B, r ready) (f lobbyFigures) {
	b.Helper()
	time.Sleep(200 * time.Millisecond) // what waits in a buffer is no loss, and figures are published
	var all httpapi.HostReport
	r.request(b, http.MethodGet, "/stats?lobby=all", "", &all)
	for i := range all.Lobbies {
		l := &all.Lobbies[i]
		f.accepted += l.Counts[metrics.Accepted.String()]
		f.cpu, f.wall = max(f.cpu, l.CPUMillis), max(f.wall, l.ElapsedMillis)
	}
	var port metrics.Report
	r.request(b, http.MethodGet, "/stats?lobby=port", "", &port)
	f.accepted += port.Counts[metrics.Accepted.String()]
	if port.Socket == nil {
		b.Fatal("/stats?lobby=port: expected figures of the socket, got none")
	}
	f.kernelDrops = port.Socket.KernelDrops
	return f
}

// run plays in all lobbies beside the flood and reports the metrics.
func (c *floodedLobbies) run(b *testing.B, r ready) {
	k, err := tokensOverHTTP(b.Context(), r.HTTP, "")
	if err != nil {
		b.Fatal(err)
	}
	players := c.lobbies * c.players
	s := openSwarm(b, swarm.Config{Server: k.at, Players: players, Full: 1, Rate: c.hz, Token: k.Token})
	connectSwarm(b, s, players)
	before, waited := figuresOfLobbies(b, r), waits(r.PID)
	s.Reset()
	stop := func() int { return 0 }
	switch c.kind {
	case "junk":
		stop = junk(b, k.at, floodRate)
	case "requests":
		token, err := k.Token(0)
		if err != nil {
			b.Fatal(err)
		}
		stop = floodRequests(b, token, floodSources, floodRate)
	}
	playFor(b, s, floodWarm) // after a pause, commands come late by their nature
	sends := s.Figures.Sends
	s.Reset()
	from, overflow := seenBy(s, players), s.KernelDrops()
	b.ResetTimer()
	playFor(b, s, time.Duration(b.N)*time.Second)
	b.StopTimer()
	to := seenBy(s, players)
	overflow = s.KernelDrops() - overflow
	sent := stop()
	waited = waits(r.PID) - waited
	sends += s.Figures.Sends
	after := figuresOfLobbies(b, r)

	of := func(lost int64, of uint64) float64 { return float64(max(lost, 0)) / float64(max(of, 1)) }
	due := (to.newest - from.newest) / 2 // every other tick
	seconds := float64(b.N) + floodWarm.Seconds()
	b.ReportMetric(of(int64(sends)-int64(after.accepted-before.accepted), sends), "lost-up/datagram")
	b.ReportMetric(of(int64(due)-int64(to.snapshots-from.snapshots), due), "lost-down/snapshot")
	b.ReportMetric(of(int64(overflow), due), "at-swarm/snapshot")
	b.ReportMetric(float64(sends)/seconds, "datagrams/s")
	b.ReportMetric(float64(sent)/seconds, "flood-datagrams/s")
	b.ReportMetric(float64(after.kernelDrops-before.kernelDrops)/float64(b.N), "kernel-drops/op")
	b.ReportMetric((after.cpu-before.cpu)/(after.wall-before.wall), "cores")
	b.ReportMetric(float64(waited)/float64(b.N), "waited-ns/op")
	b.ReportMetric(latePart(s), "late/pass")
}

// floodSeen sums the counters of the players, and the ticks of their newest snapshots.
type floodSeen struct{ snapshots, newest uint64 }

func seenBy(s *swarm.Swarm, players int) (f floodSeen) {
	for i := range players {
		c := s.Client(i)
		f.snapshots += c.Stats().Snapshots
		f.newest += uint64(c.Newest())
	}
	return f
}

// junk sends rate datagrams a second until it is stopped; stop returns the number sent. It skips
// what it is too slow for.
func junk(b *testing.B, at netip.AddrPort, rate int) (stop func() (sent int)) {
	var sources [floodSources]netio.Conn
	var batches [floodSources]netio.Batch
	r := rand.New(rand.NewPCG(7, 7))
	for i := range sources {
		var err error
		if sources[i], err = netio.ListenMmsg(fmt.Sprintf("127.0.%d.1:0", i+1), netio.Config{}); err != nil {
			b.Skip(err) // not every system has all of 127/8
		}
		for n := 0; !batches[i].Full(); n++ {
			batches[i].Add(junkOf(r, n), at)
		}
	}
	var over atomic.Bool
	done := make(chan int)
	go func() {
		runtime.LockOSThread() // and ends with its thread
		sent, start, forgiven := 0, time.Now(), time.Duration(0)
		for turn := 0; !over.Load(); {
			now := time.Since(start)
			late := now - forgiven - time.Duration(sent)*time.Second/time.Duration(rate)
			if most := 5 * floodBeat; late > most {
				forgiven += late - most
				late = most
			}
			for owed := int(late * time.Duration(rate) /
				time.Second); owed >= netio.BatchSize; owed -= netio.BatchSize {
				if sources[turn%floodSources].Send(&batches[turn%floodSources]) != nil {
					break
				}
				sent += netio.BatchSize
				turn++
			}
			time.Sleep(floodBeat)
		}
		for _, s := range sources {
			_ = s.Close()
		}
		done <- sent
	}()
	return func() int { over.Store(true); return <-done }
}

// junkOf returns a random junk datagram: of ten, one is a request with a forged token, three look
// sealed, and the others are random bytes of mostly short lengths.
func junkOf(r *rand.Rand, n int) []byte {
	random := func(d []byte) []byte {
		for i := range d {
			d[i] = byte(r.Uint32())
		}
		return d
	}
	switch n % 10 {
	case 0:
		d := append([]byte{0}, "NETCODE 1.02\x00"...)
		d = binary.LittleEndian.AppendUint64(d, protocol.ProtocolID)
		d = binary.LittleEndian.AppendUint64(d, uint64(time.Now().Unix()+30))
		return append(d, random(make([]byte, 24+1024))...)
	case 1, 2, 3:
		d := random(make([]byte, 100))
		d[0] = byte(1+r.IntN(8))<<4 | byte(netcode.KindPayload)
		return d
	case 4:
		return random(make([]byte, 1+r.IntN(netio.MaxDatagram)))
	}
	return random(make([]byte, 64))
}
