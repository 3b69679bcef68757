package rowtrace

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Config says what to record.
type Config struct {
	Name     string        // of the trace
	Players  int           // 1 to 256
	Duration time.Duration // of play, counted from when everybody has joined
	// Snapshots a second, a divisor of the lobby's rate; 0 means 20.
	Hz    int
	Seed  uint64                  // of the match, its arena and the links
	Brain func(n int) swarm.Brain // of player n; nil means Idle
}

// Idle is a brain that never does anything.
type Idle struct{}

// Decide asks for nothing.
func (Idle) Decide(*swarm.Observation) client.Intent { return client.Intent{} }

// joining is how long everybody may take to join.
const joining = 10 * time.Second

// link is the players': a fair one.
var link = impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond}

// Fields are the fields of a public row, as a trace names them.
func Fields() []itr.Field {
	var out []itr.Field
	for _, f := range netstate.Public.Fields {
		x := itr.Field{Name: f.Name}
		if f.Wrap != 0 {
			x.Kind, x.Mod = itr.Angle, f.Wrap
		}
		out = append(out, x)
	}
	// A codec recognises a vector by these names.
	out[netstate.PlayerStateX].Name = "pos.x"
	out[netstate.PlayerStateY].Name = "pos.y"
	out[netstate.PlayerStateZ].Name = "pos.z"
	out[netstate.PlayerStateState].Kind = itr.Flag
	return out
}

// Record plays and records. cancelled is asked once a tick, and its error ends the recording; nil
// means never. A configuration out of range is an error before the match starts; so is a player
// that has not joined in time or leaves.
func Record(cfg Config, cancelled func() error) (*itr.Trace, error) {
	if cfg.Hz == 0 {
		cfg.Hz = 20
	}
	if cfg.Brain == nil {
		cfg.Brain = func(int) swarm.Brain { return Idle{} }
	}
	if cfg.Players < 1 || cfg.Players > 256 || cfg.Duration <= 0 {
		return nil, fmt.Errorf("rowtrace: %d players for %v: expected 1 to 256, and more than 0",
			cfg.Players, cfg.Duration)
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: cfg.Players, Seed: cfg.Seed, Link: link, Decode: client.DecodeOwn, Brain: cfg.Brain,
		Lobby: server.Config{
			Arena:     arena.Generate(cfg.Players, cfg.Seed),
			ArenaName: fmt.Sprintf("gen:%d:%d", cfg.Players, cfg.Seed),
			Players:   cfg.Players, Rules: sim.Rules{Seed: cfg.Seed},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rowtrace: %w", err)
	}
	rate := int(b.Lobby.Match().Rules().Rate)
	if cfg.Hz < 1 || rate%cfg.Hz != 0 {
		return nil, fmt.Errorf("rowtrace: %d snapshots a second: expected a divisor of %d", cfg.Hz, rate)
	}
	out := &itr.Trace{Name: cfg.Name, TickRate: rate, TicksPerSnapshot: rate / cfg.Hz,
		Entities: cfg.Players, Fields: Fields()}
	count := max(1, int(cfg.Duration.Seconds()*float64(cfg.Hz)+0.5))
	wait := int(joining.Seconds() * float64(rate))
	for ticks := 0; len(out.Snapshots) < count; ticks++ {
		if cancelled != nil {
			if err := cancelled(); err != nil {
				return nil, err
			}
		}
		if err := b.Step(); err != nil {
			return nil, fmt.Errorf("rowtrace: %w", err)
		}
		frame := b.Lobby.Frame(b.Lobby.Match().Tick())
		if ticks%out.TicksPerSnapshot != 0 || frame == nil {
			continue
		}
		if rows := take(frame, cfg.Players); rows != nil {
			out.Snapshots = append(out.Snapshots, rows)
		} else if ticks > wait {
			return nil, fmt.Errorf("rowtrace: after %v somebody is missing, expected all %d players to stay",
				b.Now(), cfg.Players)
		} else {
			out.Snapshots = nil // it begins when all are there
		}
	}
	return out, nil
}

// take copies the rows of a frame by slot, one after the other. It is nil if a player is missing.
func take(frame *snapshot.Frame, players int) []int32 {
	n := len(netstate.Public.Fields)
	rows := make([]int32, players*n)
	for slot := range players {
		if frame.Row(slot, rows[slot*n:][:n]) == 0 {
			return nil
		}
	}
	return rows
}
