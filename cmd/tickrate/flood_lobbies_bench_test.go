//go:build linux && !portable

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/clock"
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
// of 10,000 snapshots due that no player got. A run with waited-ms above a hundred or late-% above
// 1 is void.
func BenchmarkFloodLobbies(b *testing.B) {
	for _, c := range []floodedLobbies{
		{"gnet", "junk", 0, 20, 10, 1}, {"gnet", "junk", 120_000, 20, 10, 1},
		{"gnet", "requests", 120_000, 20, 10, 1}, {"mmsg", "junk", 120_000, 20, 10, 1},
		{"mmsg", "requests", 120_000, 20, 10, 1}, {"mmsg", "junk", 120_000, 20, 10, 2},
		{"mmsg", "junk", 0, 100, 2, 1}, {"mmsg", "junk", 120_000, 100, 2, 1},
	} {
		name := fmt.Sprintf("%dk-%s/%s/lobbies=%d/workers=%d", c.rate/1000, c.kind, c.socket, c.lobbies, c.workers)
		b.Run(name, func(b *testing.B) {
			all := clock.CPUs()
			if len(all) < 2 {
				b.Skip("one processor: the generator would measure itself")
			}
			if err := clock.SetProcessAffinity(all[1:]); err != nil {
				b.Skip(err)
			}
			defer func() { _ = clock.SetProcessAffinity(all) }() // as it was
			cmd := command(b, "serve", "--ready", "--lobbies", fmt.Sprint(c.lobbies),
				"--players", fmt.Sprint(duelPlayers), "--rate", fmt.Sprint(duelRate), "--snapshot-rate",
				fmt.Sprint(duelRate/2), "--map", "arena-16", "--listen", "127.0.0.1:0",
				"--http", "127.0.0.1:0", "--socket", c.socket, "--lobby-workers", fmt.Sprint(c.workers))
			var r ready
			if err := clock.WithAffinity(all[:1], func() error {
				cmd, r = readyServer(b, cmd)
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait() // killed
			}()
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
		resp, err := http.Get("http://" + r.HTTP + "/stats?lobby=" + name)
		if err != nil {
			b.Fatal(err)
		}
		var rep metrics.Report
		err = json.NewDecoder(resp.Body).Decode(&rep)
		resp.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		f.accepted += rep.Counts[metrics.Accepted.String()]
		f.cpu, f.wall = max(f.cpu, rep.CPUSeconds), max(f.wall, rep.Seconds)
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
	s, err := swarm.Open(swarm.Config{Server: k.at, Players: players, Full: 1, Rate: duelRate,
		Token: k.Token})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	play := func(d time.Duration) {
		if err := s.Run(b.Context(), d, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := runner.Connect(b.Context(), s, players, 0); err != nil {
		b.Fatal(err)
	}
	play(time.Second)
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
	play(floodWarm) // after a pause, commands come late by their nature
	sends := s.Figures.Sends
	s.Reset()
	from := seenBy(s, players)
	play(floodTime)
	to := seenBy(s, players)
	sent := stop()
	waited = waits(r.PID) - waited
	sends += s.Figures.Sends
	after := figuresOfLobbies(b, r, c.lobbies)

	of := func(lost int64, of uint64) float64 { return 10_000 * float64(max(lost, 0)) / float64(max(of, 1)) }
	due := (to.newest - from.newest) / 2 // every other tick
	b.ReportMetric(of(int64(sends)-int64(after.accepted-before.accepted), sends), "up-lost/10k")
	b.ReportMetric(of(int64(due)-int64(to.snapshots-from.snapshots), due), "down-lost/10k")
	b.ReportMetric(float64(sends)/(floodWarm+floodTime).Seconds(), "up/s")
	b.ReportMetric(float64(sent)/(floodWarm+floodTime).Seconds(), "flood/s")
	b.ReportMetric(float64(after.kernelDrops-before.kernelDrops), "kernel-drops")
	b.ReportMetric(100*(after.cpu-before.cpu)/(after.wall-before.wall), "core-%")
	b.ReportMetric(waited.Seconds()*1000, "waited-ms")
	b.ReportMetric(100*float64(s.Figures.LateTurns)/float64(max(s.Figures.Turns, 1)), "late-%")
}
