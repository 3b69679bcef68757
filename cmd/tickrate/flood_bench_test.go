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
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

const (
	floodSources = 8 // each of a network of its own
	floodWarm    = 500 * time.Millisecond
	floodTime    = 2 * time.Second
	floodBeat    = time.Millisecond // between two bursts of junk: the swarm has the same processor
)

// BenchmarkFloodLobby measures a whole lobby under a flood: 200 players of a swarm play over real
// UDP against a server process on a processor of its own, while junk arrives at its port from
// eight other networks: random bytes, bytes that look sealed, and requests with forged tokens. The
// naive server is the same lobby behind package net: one goroutine reads one datagram a call into
// a channel, with the default socket buffer. Units: up-lost-% is the share of datagrams from
// players that the server did not accept, down-lost-% of snapshots due to players, inputs-lost-%
// of ticks without a command that the swarm sent in time. junk/s was sent and seen/s reached the
// lobby; the kernel dropped the rest. waited-ms is the run delay of the server threads, of 2500
// ms. late-% is the share of its schedule that the swarm missed: above 1 the run is void.
func BenchmarkFloodLobby(b *testing.B) {
	for _, c := range []struct {
		server string
		junk   int // a second
	}{{"gnet", 0}, {"gnet", 120_000}, {"naive", 0}, {"naive", 120_000}} {
		b.Run(fmt.Sprintf("%dk/%s", c.junk/1000, c.server), func(b *testing.B) {
			needsTwoProcessors(b)
			cmd := command(b, serveArgs("--players", fmt.Sprint(floodPlayers),
				"--map", fmt.Sprintf("gen:%d:1", floodPlayers), "--socket", c.server)...)
			if c.server == "naive" {
				cmd.Env = append(cmd.Env, asNaive+"=1")
			}
			floodLobby(b, serverApart(b, cmd), c.junk)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// floodLobby plays beside junk and reports the metrics.
func floodLobby(b *testing.B, r ready, rate int) {
	k, err := tokensOverHTTP(b.Context(), r.HTTP, "")
	if err != nil {
		b.Fatal(err)
	}
	s := openSwarm(b, swarm.Config{Server: k.at, Players: floodPlayers, Full: 1, Token: k.Token})
	stats := func() (rep metrics.Report) {
		time.Sleep(100 * time.Millisecond) // what waits in a buffer is no loss
		statsOf(b, r, &rep)
		return rep
	}
	connectSwarm(b, s, floodPlayers)
	r.request(b, http.MethodPost, "/stats/reset", "", nil)
	before, began := stats(), waits(r.PID)
	s.Reset()
	stop := func() int { return 0 }
	if rate > 0 {
		stop = junk(b, k.at, rate)
	}
	playFor(b, s, floodWarm) // after a pause, commands come late by their nature
	sends := s.Figures.Sends
	s.Reset()
	from := seenBy(s, floodPlayers)
	playFor(b, s, floodTime)
	to := seenBy(s, floodPlayers)
	flooded := floodWarm + floodTime
	sent, waited := stop(), waits(r.PID)
	sends += s.Figures.Sends
	after := stats()

	accepted := after.Counts[metrics.Accepted.String()] - before.Counts[metrics.Accepted.String()]
	received := after.Counts[metrics.Received.String()] - before.Counts[metrics.Received.String()]
	percent := func(n int64, of uint64) float64 { return 100 * float64(max(n, 0)) / float64(max(of, 1)) }
	b.ReportMetric(percent(int64(sends)-int64(accepted), sends), "up-lost-%")
	due := (to.newest - from.newest) / uint64(after.Interval)
	b.ReportMetric(percent(int64(due)-int64(to.snapshots-from.snapshots), due), "down-lost-%")
	lost := uint64(0)
	for i, missing := range to.starved {
		missing -= from.starved[i]
		lost += missing - min(missing, s.Figures.LateOf[swarm.NewLobbySlot(0, s.Client(i).ID().Index())])
	}
	b.ReportMetric(percent(int64(lost), s.Figures.Ticks), "inputs-lost-%")
	b.ReportMetric(float64(sent)/flooded.Seconds(), "junk/s")
	b.ReportMetric(float64(received-accepted)/flooded.Seconds(), "seen/s")
	b.ReportMetric(float64(after.Socket.KernelDrops-before.Socket.KernelDrops), "kernel-drops")
	b.ReportMetric(after.TickWall.P99, "tick-p99-ms")
	b.ReportMetric(100*(after.CPUMillis-before.CPUMillis)/(after.ElapsedMillis-before.ElapsedMillis), "core-%")
	b.ReportMetric((waited-began).Seconds()*1000, "waited-ms")
	b.ReportMetric(latePercent(s), "late-%")
}

// floodSeen are the counters of the players, and the ticks of their newest snapshots.
type floodSeen struct {
	snapshots, newest uint64
	starved           []uint64 // by player
}

func seenBy(s *swarm.Swarm, players int) (f floodSeen) {
	for i := range players {
		c := s.Client(i)
		st := c.Stats()
		f.snapshots += st.Snapshots
		f.newest += uint64(c.Newest())
		f.starved = append(f.starved, st.InputsMissing)
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
