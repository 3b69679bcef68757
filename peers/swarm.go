//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// measureOurs is measure with the swarm's blind bots, which say themselves what arrived.
func (p *plan) measureOurs(ctx context.Context, s side, n int, server *process, port int) (f figures, err error) {
	if err := wait(ctx, server, hasPlayers(port, 0, nil)); err != nil {
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
	defer swarm.stop()
	if err := wait(ctx, server, hasPlayers(port, n, swarm)); err != nil {
		return f, err
	}
	if !sleep(ctx, p.warmup) {
		return f, ctx.Err()
	}
	if f, err = p.cpuAndMemory(ctx, server); err != nil {
		return f, err
	}
	early := swarm.ended()
	all, why := hasPlayers(port, n, nil)()
	select {
	case <-swarm.done:
	case <-ctx.Done():
		return f, ctx.Err()
	case <-time.After(joinTime):
		return f, fmt.Errorf("the swarm did not end; it said: %s", swarm.said())
	}
	if swarm.err != nil {
		f.Void = fmt.Sprintf("the swarm: %v: %s", swarm.err, swarm.said())
	} else if early {
		f.Void = "the swarm ended before the window did"
	} else if !all {
		f.Void = fmt.Sprintf("clients were lost: %v", why)
	}
	return f, f.fromSwarm(out.Bytes(), s, n)
}

// hasPlayers reports whether our server has that many players, or the swarm has ended before; nil:
// there is none.
func hasPlayers(port, want int, swarm *process) func() (bool, error) {
	return func() (bool, error) {
		if swarm != nil && swarm.ended() {
			return true, nil
		}
		resp, err := http.Get("http://" + loopback(port) + "/stats")
		if err != nil {
			return false, err
		}
		defer func() { _ = resp.Body.Close() }()
		var stats struct {
			Players int `json:"players"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
			return false, err
		}
		return stats.Players == want, fmt.Errorf("%d players, expected %d", stats.Players, want)
	}
}

// fromSwarm reads what the swarm says of the snapshots of its players. A turn that is void already
// may lack it.
func (f *figures) fromSwarm(text []byte, s side, n int) error {
	var got struct {
		Players int     `json:"players"`
		Void    string  `json:"void"`
		Kbps    float64 `json:"kbps_down_per_client"`
		Graphs  []struct {
			ElapsedMS float64 `json:"elapsed_ms"`
			Snapshots float64 `json:"snapshots"`
		} `json:"netgraphs"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		if f.Void != "" {
			return nil
		}
		return fmt.Errorf("figures of the swarm: %w", err)
	}
	if got.Void != "" {
		f.Void = got.Void
	} else if got.Players != n && f.Void == "" {
		f.Void = fmt.Sprintf("the swarm had %d players, expected %d", got.Players, n)
	}
	rate := 0.0 // snapshots a second to one player; the swarm tells of its first players alone
	for _, g := range got.Graphs {
		if g.ElapsedMS > 0 {
			rate += g.Snapshots / g.ElapsedMS * 1000 / float64(len(got.Graphs))
		}
	}
	if rate == 0 {
		if f.Void == "" {
			f.Void = "the swarm's players received no snapshots"
		}
		return nil
	}
	f.Snapshots = rate * float64(n)
	f.Arrived = rate / float64(s.snapshots)
	f.Players, f.Deltas = float64(n-1), 1
	f.PlayerBytes = got.Kbps * 1000 / 8 / rate / f.Players
	return nil
}
