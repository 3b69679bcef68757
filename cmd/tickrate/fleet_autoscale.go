// The commands fleet autoscale and fleet simulate: how many hosts a fleet needs, now and over a day.

package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/autoscale"
	"github.com/tickrate/tickrate/internal/web"
)

// scaleFlags are the flags of a policy.
type scaleFlags struct {
	plan     string
	anyBuild bool
	cfg      autoscale.Config
}

// register adds the flags to c.
func (f *scaleFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.plan, "plan", "", "`file` plan.json of this build, as tickrate plan writes it: its knee is "+
		"what a host carries; default none: give --per-host")
	fl.BoolVar(&f.anyBuild, "any-build", false, "take a plan of another build, too")
	fl.IntVar(&f.cfg.PerHost, "per-host", 0, "`players` that a host carries, in place of --plan; 0 for the plan's")
	fl.Float64Var(&f.cfg.Fill, "fill", 1, "`share` of that to load a host to, above 0 to 1")
	fl.DurationVar(&f.cfg.StartUp, "start-up", 2*time.Minute, "`time` from a decision to a host that takes players")
	fl.DurationVar(&f.cfg.Window, "window", 10*time.Minute, "`time` over which the trend of players is taken")
	fl.DurationVar(&f.cfg.Hold, "hold", 10*time.Minute, "`time` for which the largest answer stays")
	fl.IntVar(&f.cfg.Spare, "spare", 1, "`hosts` beside those needed, for one that is lost; -1 for none, 0 for 1")
	fl.IntVar(&f.cfg.Least, "least", 1, "fewest `hosts`; 0 for 1")
	fl.IntVar(&f.cfg.Most, "most", 1000, "most `hosts`; those with players count beyond; 0 for 1000")
}

// config reads the plan, and says what a host carries.
func (f *scaleFlags) config(out io.Writer) (autoscale.Config, error) {
	switch {
	case f.cfg.PerHost < 0:
		return f.cfg, usage.Errorf("--per-host %d: expected 1 or more, or 0 for the plan's", f.cfg.PerHost)
	case f.cfg.PerHost > 0 && f.plan != "", f.cfg.PerHost == 0 && f.plan == "":
		return f.cfg, usage.Errorf("expected one of --plan and --per-host")
	case f.plan == "":
		fmt.Fprintf(out, "a host carries %d players, as --per-host says\n", f.cfg.PerHost)
		return f.cfg, nil
	}
	file, err := os.Open(f.plan)
	if err != nil {
		return f.cfg, usage.Errorf("--plan: %w", err)
	}
	defer file.Close()
	build := version
	if f.anyBuild {
		build = ""
	}
	c, err := autoscale.ReadPlan(file, build)
	if err != nil {
		return f.cfg, usage.Errorf("--plan %s: %w", f.plan, err)
	}
	f.cfg.PerHost = c.Players
	fmt.Fprintf(out, "a host carries %d players, as %s found on\n  %s, %d processors\n", c.Players, f.plan, c.CPU,
		c.Cores)
	return f.cfg, nil
}

// newAutoscale returns the webhook of a FleetAutoscaler.
func newAutoscale() *cobra.Command {
	var f scaleFlags
	var listen, director string
	var log logFormat
	c := &cobra.Command{
		Use:   "autoscale",
		Short: "Tell Agones how many hosts a fleet needs",
		Long: `autoscale is the webhook of a FleetAutoscaler of Agones. It asks a director for
the players of all hosts, and answers with the hosts that carry those of
--start-up from now: what a host carries is measured, by tickrate plan.

  tickrate plan --scenario duels --out report
  tickrate fleet autoscale --plan report/plan.json --director 127.0.0.1:7920
  tickrate fleet simulate --plan report/plan.json     # a day of it, in a second

While no director answers, the fleet stays as it is.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := notURL("--listen", listen); err != nil {
				return err
			}
			cfg, err := f.config(c.OutOrStdout())
			if err != nil {
				return err
			}
			w, err := autoscale.NewWebhook(cfg, serverapi.Base(director), log.logger(os.Stderr))
			if err != nil {
				return usage.Error(err)
			}
			port, err := web.Listen(listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "webhook: POST http://%v/, figures on /stats\n", port.Addr())
			go w.Watch(c.Context())
			return port.ServeUntil(c.Context(), w)
		},
	}
	f.register(c)
	log.register(c.Flags())
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:7921", "HTTP `host:port`")
	c.Flags().StringVar(&director, "director", "127.0.0.1:7920", "`host:port` or URL of a tickrate fleet director")
	return c
}

// newFleetSimulate returns the command that plays a day.
func newFleetSimulate() *cobra.Command {
	var f scaleFlags
	var day autoscale.Day
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Play a day of a fleet with fleet autoscale's policy, and with Agones' Buffer",
		Long: `simulate plays a day in virtual time: few players in the morning, most at nine
in the evening, a tournament from three to four whose players come within five
minutes, and a host that is lost with its matches at half past eight. It prints
what the hosts cost and how long players waited for a place, for the policy of
tickrate fleet autoscale and for the policy Buffer of Agones in several sizes.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if day.Peak < 1 || day.Peak > 10_000_000 || day.Party < 1 || day.Party > 10_000 {
				return usage.Errorf("--peak %d, --party %d: expected 1 to 10000000 and 1 to 10000", day.Peak, day.Party)
			}
			cfg, err := f.config(c.OutOrStdout())
			if err != nil {
				return err
			}
			if cfg.PerHost < day.Party {
				return usage.Errorf("a host of %d players carries no match of %d", cfg.PerHost, day.Party)
			}
			return printDay(c.OutOrStdout(), day, cfg)
		},
	}
	f.register(c)
	c.Flags().Uint64Var(&day.Seed, "seed", 1, "`seed` of arrivals and start-up times")
	c.Flags().IntVar(&day.Peak, "peak", 20_000, "`players` at nine in the evening")
	c.Flags().IntVar(&day.Party, "party", 10, "`players` of a match")
	c.Flags().BoolVar(&day.KeepHosts, "keep-hosts", false, "lose no host")
	return c
}

// printDay prints the outcome of a day for each policy.
func printDay(out io.Writer, day autoscale.Day, cfg autoscale.Config) error {
	policy, err := autoscale.New(cfg)
	if err != nil {
		return usage.Error(err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "policy\thost hours\tmost hosts\twaited\tof players\twait p50\tp99\t\n")
	line := func(name string, scale autoscale.Scaler) {
		o := day.Run(cfg.PerHost, scale)
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%d\t%d\t%v\t%v\t\n", name, o.HostHours, o.MostHosts, o.Waited, o.Players,
			o.Wait(0.5), o.Wait(0.99))
	}
	line("autoscale", func(now time.Duration, f autoscale.Fleet, r *autoscale.Report) int {
		n, _ := policy.Hosts(now, f, r) // the figures of a simulation can be
		return n
	})
	for _, size := range []float64{1, 2, 4, 8, 16} {
		line(fmt.Sprintf("Buffer %g", size), autoscale.Buffer(size))
	}
	for _, share := range []float64{0.1, 0.2, 0.3} {
		line(fmt.Sprintf("Buffer %g%%", 100*share), autoscale.Buffer(share))
	}
	return w.Flush()
}
