// The command inspect prediction: where predictions and the server's state differed.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
)

// newInspectPrediction returns the command that prints mispredictions.
func newInspectPrediction() *cobra.Command {
	o := inspect.PredictionOptions{Preview: preview.Options{Mode: "deathmatch"}}
	var secret string
	c := &cobra.Command{
		Use:   "prediction [URL | FILE | preview]",
		Short: "Print where a client's prediction and the server's state differed, and the commands",
		Long: `prediction compares what players predict of themselves with what the server then
tells them. It prints each difference: both states field by field, and the
commands since both agreed. Where the server had no command of the player in
time, it plays the commands again without it, and says if that leads to the
server's state.

It plays a match in virtual time (preview, the default), joins a running server
with players of its own (URL of its HTTP port), or plays a recording: there it
predicts the recorded commands anew. swarm --corrections prints the same of a
player of a swarm.

  tickrate inspect prediction --link mobile --seed 7 --duration 2m
  tickrate inspect prediction http://127.0.0.1:7914 --players 4 --duration 10s
  tickrate inspect prediction match.tkr --player 3.1 --cause any --json`,
		Args: usage.AtMostOneArg("sources"),
		RunE: func(c *cobra.Command, args []string) error {
			source := "preview"
			if len(args) > 0 {
				source = args[0]
			}
			if strings.Contains(source, "://") {
				return inspectLive(c, source, secret, o)
			}
			return inspect.Prediction(c.Context(), c.OutOrStdout(), source, o)
		},
	}
	registerPredictionFlags(c, &o)
	c.Flags().StringVar(&secret, "http-token", "",
		"`secret` of a server's HTTP port, if it has one; also "+serverapi.TokenVariable)
	return c
}

// registerPredictionFlags adds the flags of inspect prediction to c.
func registerPredictionFlags(c *cobra.Command, o *inspect.PredictionOptions) {
	fl := c.Flags()
	fl.StringVar(&o.Player, "player", "", "only this player, by net `id` (3.1); default all")
	fl.StringVar(&o.Cause, "cause", "misprediction",
		"only differences of this `cause`: misprediction, push, life (deaths and respawns) or any")
	fl.IntVar(&o.First, "first", 10, "only the first `n` differences; 0 for all")
	fl.BoolVar(&o.All, "all-fields", false, "print equal fields, too, and mark those that differ with *")
	fl.BoolVar(&o.JSON, "json", false, "print a line of JSON for each difference, and one of totals")
	fl.StringVar(&o.Map, "map-file", "",
		"of a recording: `file` of its map, if it is neither built in nor generated; default none")
	fl.StringVar(&o.Preview.Content, "content", "", assets.ContentUsage)
	fl.StringVar(&o.Preview.Map, "map", "arena-16", "of preview: "+assets.MapUsage)
	fl.StringVar(&o.Preview.Mode, "mode", "deathmatch", "of preview: "+assets.ModeUsage)
	fl.IntVar(&o.Preview.Players, "players", 8,
		fmt.Sprintf("of preview or a server: `number` of players, 1 to %d", preview.MaxPlayers))
	fl.IntVar(&o.Preview.Rate, "rate", int(tick.DefaultRate), "of preview or a server: tick rate in `Hz`")
	fl.DurationVar(&o.Preview.Duration, "duration", 30*time.Second,
		"of preview or a server: `length` of the match, 1s to 10h")
	fl.StringVar(&o.Preview.Link, "link", "clean",
		"of preview: `profile` of each link, each way, as tickrate impair --list has it")
	fl.Uint64Var(&o.Preview.Seed, "seed", 1, "of preview or a server: `seed` of the players, match and links")
}

// inspectLive joins the server at the URL of its HTTP port with players, and prints their
// corrections.
func inspectLive(c *cobra.Command, url, secret string, o inspect.PredictionOptions) error {
	p := &o.Preview
	if err := p.Check(); err != nil {
		return err
	}
	r, err := inspect.NewPredictionReport(c.OutOrStdout(), o)
	if err != nil {
		return err
	}
	cfg, err := liveSwarm(c, url, secret, p)
	if err != nil {
		return err
	}
	s, err := swarm.Open(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := runner.Connect(c.Context(), s, p.Players, 0); err != nil {
		return err
	}
	failed := error(nil)
	err = s.Run(c.Context(), p.Duration, func() bool {
		for i := range p.Players {
			failed = errors.Join(failed, r.Take(s.Client(i)))
		}
		return failed != nil
	})
	for i := range p.Players {
		stats := s.Client(i).Stats()
		r.Count(&stats.Prediction)
	}
	if errors.Is(err, context.Canceled) { // Ctrl-C ends it, and the totals are worth having
		err = nil
	}
	return errors.Join(err, failed, r.Close())
}

// liveSwarm configures players that join the server at the URL of its HTTP port.
func liveSwarm(c *cobra.Command, url, secret string, p *preview.Options) (swarm.Config, error) {
	pack, err := assets.Content(p.Content)
	if err != nil {
		return swarm.Config{}, err
	}
	addr, ok := strings.CutPrefix(strings.TrimSuffix(url, "/"), "http://")
	if !ok || strings.Contains(addr, "/") {
		return swarm.Config{}, usage.Errorf("%s: expected http://host:port of a server's HTTP port", url)
	}
	if secret, err = httpSecret(secret); err != nil {
		return swarm.Config{}, err
	}
	tokens, err := requestTokens(c.Context(), tokenRequest{addr, secret, asPlayer, -1})
	if err != nil {
		return swarm.Config{}, err
	}
	return swarm.Config{
		Server: tokens.at, Players: p.Players, Full: 1, Decode: client.DecodeOwn, Seed: p.Seed,
		Rate: tick.Rate(p.Rate), Content: pack, Token: tokens.Token, Corrections: inspect.CorrectionLog,
	}, nil
}

// followCorrections prints the corrections of a player of a swarm. The result is called every tick;
// it is nil for player -1.
func followCorrections(w io.Writer, s *swarm.Swarm, player int) func() bool {
	if player < 0 {
		return nil
	}
	r, err := inspect.NewPredictionReport(w, inspect.PredictionOptions{Cause: "any"})
	if err != nil {
		panic(err)
	}
	return func() bool { return r.Take(s.Client(player)) != nil }
}
