//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// figures are what one turn measured.
type figures struct {
	Cores       float64 `json:"cores"`        // of the server
	Waited      float64 `json:"waited"`       // its threads' waiting for a processor, in cores
	Snapshots   float64 `json:"snapshots"`    // a second, received by all clients
	Arrived     float64 `json:"arrived"`      // share of the snapshots that were due
	Players     float64 `json:"players"`      // other players in a snapshot
	PlayerBytes float64 `json:"player_bytes"` // UDP payload of a snapshot over that number
	RSS         float64 `json:"rss_mb"`       // of the server
	Deltas      float64 `json:"deltas"`       // share of snapshots that were deltas; ours always are
}

// joinTime is the longest time until all players have snapshots.
const joinTime = 45 * time.Second

// measure plays one turn of a side with n players.
func (p *plan) measure(ctx context.Context, s side, n int) (f figures, err error) {
	port, err := freePort()
	if err != nil {
		return f, err
	}
	server, err := launch(s.command(p, port, n), p.servers, nil)
	if err != nil {
		return f, err
	}
	defer server.stop()
	if s.client == nil {
		return p.measureOurs(ctx, s, n, server, port)
	}
	clients := make([]crowd.Client, n)
	for i := range clients {
		clients[i] = s.client(i)
	}
	c, err := crowd.Start(netip.MustParseAddrPort(loopback(port)), clients)
	if err != nil {
		return f, err
	}
	defer c.Stop()
	for deadline := time.Now().Add(joinTime); ; {
		sum, playing := c.Stats()
		if playing == n {
			break
		}
		if time.Now().After(deadline) {
			return f, fmt.Errorf("%d have joined after %v (%v); the server said: %s", playing, joinTime, sum.LastError, server.said())
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return f, ctx.Err()
		}
	}
	if !sleep(ctx, p.warmup) {
		return f, ctx.Err()
	}
	before, _ := c.Stats()
	if f, err = p.cpuAndMemory(ctx, server); err != nil {
		return f, err
	}
	after, _ := c.Stats()
	got := after.Sub(before)
	if got.Errors > 0 {
		return f, fmt.Errorf("%d messages could not be read, the last: %v", got.Errors, after.LastError)
	}
	if got.Snapshots == 0 || got.Players == 0 {
		return f, fmt.Errorf("no snapshot with players arrived")
	}
	f.Snapshots = float64(got.Snapshots) / p.window.Seconds()
	f.Arrived = f.Snapshots / float64(n*s.snapshots)
	f.Players = float64(got.Players) / float64(got.Snapshots)
	f.PlayerBytes = float64(got.Bytes) / float64(got.Players)
	f.Deltas = float64(got.Deltas) / float64(got.Snapshots)
	return f, nil
}

// cpuAndMemory measures the server over the window.
func (p *plan) cpuAndMemory(ctx context.Context, server *process) (f figures, err error) {
	start := time.Now()
	before, waited, err := server.cpu()
	if err != nil {
		return f, err
	}
	if !sleep(ctx, p.window) {
		return f, ctx.Err()
	}
	after, waiting, err := server.cpu()
	if err != nil {
		return f, err
	}
	took := time.Since(start).Seconds()
	f.Cores, f.Waited = (after-before).Seconds()/took, (waiting-waited).Seconds()/took
	rss, err := server.rss()
	f.RSS = float64(rss) / 1e6
	return f, err
}

// measureOurs is measure with the swarm's blind bots, which say themselves what arrived.
func (p *plan) measureOurs(ctx context.Context, s side, n int, server *process, port int) (f figures, err error) {
	players := func() int {
		resp, err := http.Get("http://" + loopback(port) + "/stats")
		if err != nil {
			return -1
		}
		defer func() { _ = resp.Body.Close() }()
		var stats struct {
			Players int `json:"players"`
		}
		if json.NewDecoder(resp.Body).Decode(&stats) != nil {
			return -1
		}
		return stats.Players
	}
	wait := func(want int) error {
		for deadline := time.Now().Add(joinTime); players() != want; {
			if time.Now().After(deadline) {
				return fmt.Errorf("%d have joined after %v; the server said: %s", players(), joinTime, server.said())
			}
			if !sleep(ctx, 50*time.Millisecond) {
				return ctx.Err()
			}
		}
		return nil
	}
	if err := wait(0); err != nil {
		return f, err
	}
	var out bytes.Buffer
	swarm, err := launch([]string{
		p.binary, "swarm", "--http", loopback(port), "--players", strconv.Itoa(n), "--full", "1", "--decode", "acks",
		"--warmup", p.warmup.String(), "--duration", (p.window + time.Second).String(), "--json",
	}, nil, &out)
	if err != nil {
		return f, err
	}
	ended := false
	defer func() {
		if !ended {
			swarm.stop()
		}
	}()
	if err := wait(n); err != nil {
		return f, err
	}
	if !sleep(ctx, p.warmup) {
		return f, ctx.Err()
	}
	if f, err = p.cpuAndMemory(ctx, server); err != nil {
		return f, err
	}
	select {
	case <-swarm.done: // it says with its exit code that it was late; the table says so itself
		swarm.done <- nil
	case <-ctx.Done():
		return f, ctx.Err()
	case <-time.After(joinTime):
		return f, fmt.Errorf("the swarm did not end")
	}
	ended = true
	swarm.stop()
	return f, f.fromSwarm(out.Bytes(), s, n)
}

// fromSwarm reads what the swarm says of the snapshots of its players.
func (f *figures) fromSwarm(text []byte, s side, n int) error {
	var got struct {
		Kbps   float64 `json:"kbps_down_per_client"`
		Graphs []struct {
			ElapsedMS float64 `json:"elapsed_ms"`
			Snapshots float64 `json:"snapshots"`
		} `json:"netgraphs"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("figures of the swarm: %w", err)
	}
	if len(got.Graphs) == 0 {
		return fmt.Errorf("figures of the swarm: no player's snapshots are among them")
	}
	for _, g := range got.Graphs { // the swarm tells of its first players alone
		f.Snapshots += g.Snapshots / g.ElapsedMS * 1000 * float64(n) / float64(len(got.Graphs))
	}
	f.Arrived = f.Snapshots / float64(n*s.snapshots)
	f.Players, f.Deltas = float64(n-1), 1
	f.PlayerBytes = got.Kbps * 1000 / 8 / (f.Snapshots / float64(n)) / f.Players
	return nil
}
