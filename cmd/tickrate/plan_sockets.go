package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/netio"
)

// newSockets is hidden: plan predict starts it as the server's end of its traffic.
func newSockets() *cobra.Command {
	var file, socket string
	var load simbench.Load
	c := &cobra.Command{
		Use:    "sockets",
		Short:  "Exchange recorded traffic over real sockets, for plan predict",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := os.Open(file)
			if err != nil {
				return badUse(err)
			}
			t, err := simbench.ReadTraffic(f)
			_ = f.Close() // it was read
			if err != nil {
				return badUse(fmt.Errorf("%s: %w", file, err))
			}
			places(3) // as serve
			_, stop := hiccups()
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
			ctx := leashed(c.Context(), true, c.InOrStdin())
			cost, err := simbench.ServeTraffic(ctx, conn, t, load, func() { fmt.Fprintln(c.OutOrStdout(), "started") })
			if err != nil {
				return err
			}
			cost.Resident = float64(runner.ResidentBytes(os.Getpid())) - float64(load.Bytes)
			return json.NewEncoder(c.OutOrStdout()).Encode(cost)
		},
	}
	c.Flags().StringVar(&file, "traffic", "", "`file` of traffic (required)")
	c.Flags().StringVar(&socket, "socket", "gnet", "socket `backend`: gnet or mmsg")
	c.Flags().DurationVar(&load.Tick, "tick", time.Millisecond, "CPU `time` of a tick, to stand in for")
	c.Flags().IntVar(&load.Bytes, "bytes", 1<<20, "memory of the lobby in `bytes`, to stand in for")
	return c
}
