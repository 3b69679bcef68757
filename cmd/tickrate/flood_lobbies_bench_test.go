//go:build linux && !portable

package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/server/metrics"
)

const (
	duelPlayers = 10 // slots of each lobby
	duelRate    = 128
)

// BenchmarkFloodLobbies measures lobbies of ten at 128 Hz on one port, 20 full ones or 100 with two
// players each, on one worker or two under the flood of
// BenchmarkFloodLobby, and under one of well-formed connection requests from the players' network:
// the loss of all lobbies together, in datagrams of 10,000 from players that no lobby accepted and
// of 10,000 snapshots due that no player got. down-lost-server leaves out those that arrived at a full
// socket of the swarm. A run with waited-ms above a hundred or late-% above 1 is void.
func BenchmarkFloodLobbies(b *testing.B) {
	for _, c := range []floodedLobbies{
		{"gnet", "junk", 0, 20, 10, 1}, {"gnet", "junk", 120_000, 20, 10, 1},
		{"gnet", "requests", 120_000, 20, 10, 1}, {"mmsg", "junk", 120_000, 20, 10, 1},
		{"mmsg", "requests", 120_000, 20, 10, 1}, {"mmsg", "junk", 120_000, 20, 10, 2},
		{"mmsg", "junk", 0, 100, 2, 1}, {"mmsg", "junk", 120_000, 100, 2, 1},
	} {
		name := fmt.Sprintf("%dk-%s/%s/lobbies=%d/workers=%d", c.rate/1000, c.kind, c.socket, c.lobbies,
			c.workers)
		b.Run(name, func(b *testing.B) {
			needsTwoProcessors(b)
			r := serverApart(b, command(b, serveArgs("--lobbies", fmt.Sprint(c.lobbies),
				"--players", fmt.Sprint(duelPlayers), "--rate", fmt.Sprint(duelRate),
				"--snapshot-rate", fmt.Sprint(duelRate/2), "--map", "arena-16", "--socket", c.socket,
				"--lobby-workers", fmt.Sprint(c.workers))...))
			c.run(b, r)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// floodedLobbies is a flood and the lobbies beside it.
type floodedLobbies struct {
	socket, kind     string
	rate             int // datagrams a second
	lobbies, players int // players of each lobby
	workers          int // all on one processor
}

// lobbyFigures are figures of all lobbies of a server.
type lobbyFigures struct {
	accepted    uint64 // datagrams
	kernelDrops uint64
	cpu, wall   float64 // seconds
}

// figuresOfLobbies reads the reports of a server's lobbies and of its port.
func figuresOfLobbies(b *testing.B, r ready, lobbies int) (f lobbyFigures) {
	b.Helper()
	time.Sleep(200 * time.Millisecond) // what waits in a buffer is no loss, and figures are published
	for i := range lobbies + 1 {
		name := fmt.Sprint(i)
		if i == lobbies {
			name = "port"
		}
		var rep metrics.Report
		r.request(b, http.MethodGet, "/stats?lobby="+name, "", &rep)
		f.accepted += rep.Counts[metrics.Accepted.String()]
		f.cpu, f.wall = max(f.cpu, rep.CPUMillis), max(f.wall, rep.ElapsedMillis)
		if rep.Socket != nil { // that of the port
			f.kernelDrops = rep.Socket.KernelDrops
		}
	}
	return f
}

// run plays in all lobbies beside the flood and reports the metrics.
func (c *floodedLobbies) run(b *testing.B, r ready) {
	k, err := tokensOverHTTP(b.Context(), r.HTTP, "")
	if err != nil {
		b.Fatal(err)
	}
	players := c.lobbies * c.players
	s := openSwarm(b, swarm.Config{Server: k.at, Players: players, Full: 1, Rate: duelRate,
		Token: k.Token})
	connectSwarm(b, s, players)
	before, waited := figuresOfLobbies(b, r, c.lobbies), waits(r.PID)
	s.Reset()
	stop := func() int { return 0 }
	switch {
	case c.rate == 0:
	case c.kind == "junk":
		stop = junk(b, k.at, c.rate)
	default:
		token, err := k.Token(0)
		if err != nil {
			b.Fatal(err)
		}
		stop = floodRequests(b, token, floodSources, c.rate)
	}
	playFor(b, s, floodWarm) // after a pause, commands come late by their nature
	sends := s.Figures.Sends
	s.Reset()
	from, overflow := seenBy(s, players), s.KernelDrops()
	playFor(b, s, floodTime)
	to := seenBy(s, players)
	overflow = s.KernelDrops() - overflow
	sent := stop()
	waited = waits(r.PID) - waited
	sends += s.Figures.Sends
	after := figuresOfLobbies(b, r, c.lobbies)

	of := func(lost int64, of uint64) float64 { return 10_000 * float64(max(lost, 0)) / float64(max(of, 1)) }
	due := (to.newest - from.newest) / 2 // every other tick
	b.ReportMetric(of(int64(sends)-int64(after.accepted-before.accepted), sends), "up-lost/10k")
	lost := int64(due) - int64(to.snapshots-from.snapshots)
	b.ReportMetric(of(lost, due), "down-lost/10k")
	b.ReportMetric(of(lost-int64(overflow), due), "down-lost-server/10k")
	b.ReportMetric(float64(sends)/(floodWarm+floodTime).Seconds(), "up/s")
	b.ReportMetric(float64(sent)/(floodWarm+floodTime).Seconds(), "flood/s")
	b.ReportMetric(float64(after.kernelDrops-before.kernelDrops), "kernel-drops")
	b.ReportMetric(100*(after.cpu-before.cpu)/(after.wall-before.wall), "core-%")
	b.ReportMetric(waited.Seconds()*1000, "waited-ms")
	b.ReportMetric(latePercent(s), "late-%")
}
