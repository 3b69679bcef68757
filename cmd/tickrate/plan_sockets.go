// The hidden command plan sockets: the process at the server's end when plan predict measures the
// cost of sockets. It speaks lines on standard output: its address, "started", then its cost as
// JSON.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio"
)

// newSockets returns the hidden command that exchanges recorded traffic over a real socket at the
// pace of a server's ticks. It ends with its standard input.
func newSockets() *cobra.Command {
	var file, socket string
	var busy time.Duration
	c := &cobra.Command{
		Use:    "sockets",
		Short:  "Exchange recorded traffic over real sockets, for plan predict",
		Hidden: true,
		Args:   usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := os.Open(file)
			if err != nil {
				return usage.Error(err)
			}
			t, err := simbench.ReadTraffic(f)
			_ = f.Close() // read only
			if err != nil {
				return usage.Errorf("%s: %w", file, err)
			}
			setMinProcs(3) // as serve with one worker
			_, stop := hiccups(nil)
			defer stop()
			listen := netio.ListenGnet
			if socket == "mmsg" {
				listen = netio.ListenMmsg
			}
			conn, err := listen("127.0.0.1:0", netio.Config{})
			if err != nil {
				return err
			}
			defer conn.Close()
			fmt.Fprintln(c.OutOrStdout(), conn.LocalAddr())
			ctx := untilEOF(c.Context(), c.InOrStdin())
			cost, err := simbench.ServeTraffic(ctx, conn, t, busy,
				func() { fmt.Fprintln(c.OutOrStdout(), "started") })
			if err != nil {
				return err
			}
			return json.NewEncoder(c.OutOrStdout()).Encode(cost)
		},
	}
	c.Flags().StringVar(&file, "traffic", "", "`file` of traffic (required)")
	c.Flags().StringVar(&socket, "socket", "gnet", "socket `backend`: gnet or mmsg")
	c.Flags().DurationVar(&busy, "busy", time.Millisecond,
		"CPU `time` of the lobbies in a tick, to stand in for")
	return c
}
