//go:build linux && !portable

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server/httpapi"
)

const workerLobbies = 20 // of a worker

// BenchmarkWorkers measures what a second worker on a second processor is worth. With one worker, the
// server and its swarm have one processor and 20 lobbies of ten players at 128 Hz; with two they have
// two processors and 40 lobbies, so that each worker has the same part of a swarm beside it. A second
// worker doubles the games if a lobby's tick costs as much CPU time in both. An operation is a second.
func BenchmarkWorkers(b *testing.B) {
	needsTwoProcessors(b)
	for workers := 1; workers <= 2; workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { playOnWorkers(b, workers) })
	}
}

// playOnWorkers plays a server with its workers and a swarm, on as many processors, and reports the CPU
// time of the server in a tick of a lobby.
func playOnWorkers(b *testing.B, workers int) {
	lobbies := workers * workerLobbies
	server := command(b, serveArgs("--lobbies", fmt.Sprint(lobbies),
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
	time.Sleep(1500 * time.Millisecond) // lobbies move between workers until these are even
	r.request(b, http.MethodPost, "/stats/reset?lobby=all", "", nil)
	b.ResetTimer()
	time.Sleep(time.Duration(b.N) * time.Second)
	b.StopTimer()
	r.request(b, http.MethodGet, "/stats?lobby=all", "", &rep)
	all := &rep.Lobbies[0] // its CPU time is that of the process
	b.ReportMetric(1e9*all.CPUMillis/all.ElapsedMillis/float64(duelRate*lobbies), "cpu-ns/tick")
	b.ReportMetric(0, "ns/op")
}
