package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, socket, http, arena, model string
	players, rate, interval, kbps      int
	seed                               uint64
	ready                              bool
}

// ready is the line that serve --ready prints for programs that start it.
type ready struct {
	UDP  string `json:"udp"`
	HTTP string `json:"http"`
	PID  int    `json:"pid"`
}

func newServe() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a lobby",
		Long: `serve runs one lobby until it is interrupted. Players come in over UDP; figures, health and profiles go out over HTTP:

  curl http://127.0.0.1:7914/stats
  go tool pprof http://127.0.0.1:7914/debug/pprof/profile?seconds=10`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serve(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", ":7913", "UDP `host:port` for players")
	fl.StringVar(&f.socket, "socket", "gnet", "socket back `end`: gnet (event loop, drained by recvmmsg) or mmsg (no loop, drained by the tick)")
	fl.StringVar(&f.http, "http", "127.0.0.1:7914", "HTTP `host:port` for /healthz, /stats and /debug/pprof; empty for none")
	fl.StringVar(&f.arena, "arena", "arena-64", "`map`: arena-16, arena-64, arena-256, arena-1024, gen:PLAYERS:SEED, or a file")
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the one of this build")
	fl.IntVar(&f.players, "players", 64, fmt.Sprintf("most players at a time, 1 to %d", server.MaxPlayers))
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 128")
	fl.IntVar(&f.interval, "interval", 0, "`ticks` between two snapshots to one client, 1 to 20; 0 for what comes nearest to 20 Hz")
	fl.IntVar(&f.kbps, "kbps", 0, "most `kilobits` a second to one client, 16 or more; 0 for no limit")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of every random draw of the match")
	fl.BoolVar(&f.ready, "ready", false, "print one line of JSON with the addresses once ready, for programs that start this one")
	return c
}

func serve(c *cobra.Command, f serveFlags) error {
	if f.rate < 0 || f.rate > 1000 {
		return badUse(fmt.Errorf("tick rate %d Hz: expected %d to %d", f.rate, tick.MinRate, tick.MaxRate))
	}
	a, err := openArena(f.arena)
	if err != nil {
		return err
	}
	models, err := openModels(f.model)
	if err != nil {
		return err
	}
	cfg := server.HostConfig{
		Listen: f.listen, Socket: f.socket, HTTP: f.http, Log: os.Stderr,
		Lobby: server.Config{
			Rules: sim.Rules{Rate: tick.Rate(f.rate), Seed: f.seed}, Arena: a, ArenaName: f.arena,
			Players: f.players, Interval: f.interval, Kbps: f.kbps, Models: models,
		},
	}
	if err := cfg.Check(); err != nil {
		return badUse(err)
	}
	if runtime.GOMAXPROCS(0) == 1 { // the socket's loop must not wait for the scheduler to notice that the tick sleeps
		runtime.GOMAXPROCS(2)
	}
	host, err := server.NewHost(cfg)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; stop the other server, or choose ports with --listen and --http", err)
	}
	if err != nil {
		return err
	}
	if f.ready {
		_ = json.NewEncoder(c.OutOrStdout()).Encode(ready{host.Addr().String(), host.HTTPAddr(), os.Getpid()})
	} else {
		figures := "no HTTP port"
		if f.http != "" {
			figures = fmt.Sprintf("figures on http://%s/stats", host.HTTPAddr())
		}
		fmt.Fprintf(c.OutOrStdout(), "lobby of %d on udp %v, map %s, %d Hz; %s\n", f.players, host.Addr(), f.arena, f.rate, figures)
	}
	return host.Run(c.Context())
}
