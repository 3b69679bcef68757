// The command inspect bits: the byte account of a running or simulated lobby.

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
)

// newInspectBits returns the command that prints the byte account of a lobby, to the bit: by
// section, component, field and reason.
func newInspectBits() *cobra.Command {
	var o inspect.BitsOptions
	c := &cobra.Command{
		Use:   "bits",
		Short: "Show what every bit that a lobby sends is for",
		Long: `bits prints the byte account of a lobby: bytes by section, exactly, and bits by
component, field and reason.

With --http it asks a running server, which accounts for the bits of sampled
datagrams. Otherwise it simulates a lobby of --players for --duration in virtual
time and accounts for every datagram.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return inspect.Bits(c.Context(), c.OutOrStdout(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.HTTP, "http", "",
		"`host:port` of a running server's HTTP port; default none: a lobby is simulated")
	fl.IntVar(&o.Players, "players", 16, "`players` of the simulated lobby, 1 to 1000")
	fl.DurationVar(&o.Duration, "duration", 10*time.Second, "virtual `time` to simulate, 1s to 10m")
	fl.IntVar(&o.Kbps, "kbps", 0, "byte budget of each client, `kbit/s`, 16 or more; 0 for none")
	fl.StringVar(&o.Map, "map", "arena-64", assets.MapUsage)
	fl.StringVar(&o.Codec, "codec", schema.Huffman.String(),
		"`codec` of snapshots: huffman, range, zstd, huffman-zstd or stored")
	fl.Uint64Var(&o.Seed, "seed", 1, "`seed` of the match, the links and the players")
	fl.BoolVar(&o.JSON, "json", false, "print JSON, as GET /v1/bandwidth gives it")
	return c
}
