//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// figures are what one turn measured. A turn is void if its clients did not keep their schedule or
// were lost: the server had less to do than the table says.
type figures struct {
	Cores       float64 `json:"cores"`        // of the server
	Waited      float64 `json:"waited"`       // its threads' waiting for a processor, in cores
	Snapshots   float64 `json:"snapshots"`    // a second, received by all clients
	Arrived     float64 `json:"arrived"`      // share of the snapshots that were due
	Players     float64 `json:"players"`      // other players in a snapshot
	PlayerBytes float64 `json:"player_bytes"` // UDP payload of a snapshot over that number
	RSS         float64 `json:"rss_mb"`       // of the server
	Deltas      float64 `json:"deltas"`       // share of snapshots that were deltas; ours always are
	Void        string  `json:"void,omitempty"`
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
	return p.measurePeer(ctx, s, n, server, port)
}

// measurePeer is measure with clients of this process.
func (p *plan) measurePeer(ctx context.Context, s side, n int, server *process, port int) (f figures, err error) {
	clients := make([]crowd.Client, n)
	for i := range clients {
		clients[i] = s.client(i)
	}
	c, err := crowd.Start(netip.MustParseAddrPort(loopback(port)), clients)
	if err != nil {
		return f, err
	}
	defer c.Stop()
	err = wait(ctx, server, func() (bool, error) {
		sum, playing := c.Stats()
		return playing == n, fmt.Errorf("%d of %d clients play (%v)", playing, n, sum.LastError)
	})
	if err != nil {
		return f, err
	}
	if !sleep(ctx, p.warmup) {
		return f, ctx.Err()
	}
	before, _ := c.Stats()
	if f, err = p.cpuAndMemory(ctx, server); err != nil {
		return f, err
	}
	after, playing := c.Stats()
	f.fromCrowd(after.Sub(before), playing, p.window, s, n)
	return f, nil
}

// fromCrowd reads what the clients received in the window, and how many of them play at its end.
func (f *figures) fromCrowd(got crowd.Stats, playing int, window time.Duration, s side, n int) {
	if f.Void = got.Void(); f.Void == "" && playing < n {
		f.Void = fmt.Sprintf("%d of %d clients were lost (%v)", n-playing, n, got.LastError)
	}
	if got.Snapshots == 0 || got.Players == 0 {
		return
	}
	f.Snapshots = float64(got.Snapshots) / window.Seconds()
	f.Arrived = f.Snapshots / float64(n*s.snapshots)
	f.Players = float64(got.Players) / float64(got.Snapshots)
	f.PlayerBytes = float64(got.Bytes) / float64(got.Players)
	f.Deltas = float64(got.Deltas) / float64(got.Snapshots)
}

// wait polls until done says so. Its error says why it did not after joinTime.
func wait(ctx context.Context, server *process, done func() (bool, error)) error {
	for deadline := time.Now().Add(joinTime); ; {
		ok, why := done()
		if ok {
			return nil
		}
		if time.Now().After(deadline) || server.ended() {
			return fmt.Errorf("%w; the server said: %s", why, server.said())
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
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
