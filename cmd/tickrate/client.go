// The command client: one headless player, a swarm of one that follows its connection.

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
)

// newClient returns the command that joins a lobby with one headless player.
func newClient() *cobra.Command {
	f := swarmFlags{tokens: swarmTokens{protocol: defaultProtocol},
		play: swarmPlay{players: 1, full: 1, decode: client.DecodeOwn}}
	c := &cobra.Command{
		Use:   "client",
		Short: "Join a lobby with one headless player",
		Long: `client is a whole client without a screen: it joins, fetches what it lacks,
predicts itself, interpolates others and plays as a bot, or along a recording
(--trace), until it is interrupted. It prints the quality of its connection every
second, and its figures at the end.

  tickrate client
  tickrate client --http 203.0.113.5:7914 --http-token SECRET --link mobile

The modes of this binary by word: serve is the server, client is one headless
client, swarm is many of them, some without prediction (swarm --decode acks), and
sim preview is a server with its clients in one process.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runSwarm(c, f) },
	}
	fl := c.Flags()
	fl.IntVar(&f.play.rate, "rate", int(tick.DefaultRate), "command rate in `Hz`; use the server's tick rate")
	fl.DurationVar(&f.play.duration, "duration", 0, "`time` to play; 0 until interrupted")
	fl.DurationVar(&f.play.warmup, "warmup", time.Second, "`time` to play before measuring, after it has joined")
	f.play.registerSeed(fl)
	f.tokens.register(c)
	f.register(c)
	fl.Lookup("netgraph").DefValue = "0"
	f.netgraph = 0
	return c
}
