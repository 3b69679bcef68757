//go:build linux && !portable

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server/httpapi"
)

const (
	workerLobbies = 20 // of a worker
	workerRounds  = 5  // with one worker and with two in turn
	workerTime    = 5 * time.Second
)

// BenchmarkWorkers measures what a second worker on a second processor is worth. With one worker, the
// server and its swarm have one processor and 20 lobbies of ten players at 128 Hz; with two they have
// two processors and 40 lobbies, so that each worker has the same part of a swarm beside it. times-one
// is how much more a CPU second of both workers together plays than one worker alone: 2 if a tick costs
// as much CPU time in both. The medians of five rounds in turn count.
func BenchmarkWorkers(b *testing.B) {
	needsTwoProcessors(b)
	for _, socket := range []string{"gnet", "mmsg"} {
		b.Run(socket, func(b *testing.B) {
			var micros [3][]float64 // of a tick and game, by workers
			for range workerRounds {
				for workers := 1; workers <= 2; workers++ {
					micros[workers] = append(micros[workers], workersRound(b, socket, workers))
				}
			}
			for workers, name := range []string{"", "one-us/tick", "two-us/tick"} {
				if slices.Sort(micros[workers]); name != "" {
					b.ReportMetric(micros[workers][workerRounds/2], name)
				}
			}
			b.ReportMetric(2*micros[1][workerRounds/2]/micros[2][workerRounds/2], "times-one")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// workersRound plays a server with its workers and a swarm, on as many processors. It returns the CPU
// time of the server in a tick of a lobby, in µs.
func workersRound(b *testing.B, socket string, workers int) (micros float64) {
	b.Helper()
	lobbies := workers * workerLobbies
	server := command(b, serveArgs("--socket", socket, "--lobbies", fmt.Sprint(lobbies),
		"--lobby-workers", fmt.Sprint(workers), "--map", "gen:10:1", "--players", fmt.Sprint(duelPlayers),
		"--rate", fmt.Sprint(duelRate), "--send-interval", "2", "--journal", "none")...)
	var r ready
	var players = command(b, "swarm")
	if err := clock.WithAffinity(clock.CPUs()[:workers], func() error {
		server, r = readyServer(b, server)
		players.Args = append(players.Args, "--http", r.HTTP, "--players", fmt.Sprint(lobbies*duelPlayers),
			"--rate", fmt.Sprint(duelRate), "--decode", "own", "--full", "1", "--duration", "1m")
		return players.Start()
	}); err != nil {
		b.Fatal(err)
	}
	defer func() {
		for _, p := range []*exec.Cmd{server, players} {
			_ = p.Process.Kill()
			_ = p.Wait() // killed
		}
	}()
	var rep httpapi.HostReport
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		joined := 0
		r.request(b, http.MethodGet, "/stats?lobby=all", "", &rep)
		for i := range rep.Lobbies {
			joined += rep.Lobbies[i].Players
		}
		if joined == lobbies*duelPlayers {
			break
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d of %d players have joined", joined, lobbies*duelPlayers)
		}
	}
	time.Sleep(3 * time.Second) // lobbies move between workers until these are even
	r.request(b, http.MethodPost, "/stats/reset?lobby=all", "", nil)
	time.Sleep(workerTime)
	r.request(b, http.MethodGet, "/stats?lobby=all", "", &rep)
	all := &rep.Lobbies[0] // its CPU time is that of the process
	return 1e6 * all.CPUMillis / all.ElapsedMillis / float64(duelRate*lobbies)
}
