// The command agones: what helps to try a game server of Agones without Kubernetes.

package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/agones"
	"github.com/tickrate/tickrate/fleet/agones/fake"
	"github.com/tickrate/tickrate/internal/web"
)

// newAgones returns the command agones.
func newAgones() *cobra.Command {
	c := &cobra.Command{
		Use:   "agones",
		Short: "Try a game server of Agones without Kubernetes",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newAgonesFake())
	return c
}

// newAgonesFake returns the command that stands in for the SDK server.
func newAgonesFake() *cobra.Command {
	var cfg fake.Config
	var listen string
	c := &cobra.Command{
		Use:   "fake",
		Short: "Stand in for the SDK server that Agones runs beside a game server",
		Long: `fake answers the REST interface of the SDK server of Agones: ready, health,
shutdown, counters, lists and the stream of records. It adds two requests, with
which you are the cluster:

  tickrate agones fake &
  tickrate serve --agones --lobbies 1:8
  curl -X POST 'http://127.0.0.1:9358/fake/allocate?map=arena-16&players=10'
  curl -X POST 'http://127.0.0.1:9358/fake/label?key=tickrate/drain&value=true'
  curl http://127.0.0.1:9358/gameserver`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if cfg.Batch < 0 || cfg.Late < 0 {
				return usage.Errorf("--batch %v, --late %v: expected 0 or more", cfg.Batch, cfg.Late)
			}
			if cfg.Port < 0 || cfg.Port > 65535 {
				return usage.Errorf("--port %d: expected 1 to 65535", cfg.Port)
			}
			if err := notURL("--listen", listen); err != nil {
				return err
			}
			port, err := web.Listen(listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "SDK server: http://%v\n", port.Addr())
			return port.ServeUntil(c.Context(), fakeCluster(fake.New(cfg)))
		},
	}
	fl := c.Flags()
	fl.StringVar(&listen, "listen", "127.0.0.1:"+agones.DefaultPort, "HTTP `host:port`")
	fl.DurationVar(&cfg.Batch, "batch", time.Second, "`time` until a change is seen in the stream of records")
	fl.DurationVar(&cfg.Late, "late", 0, "`time` from the start in which it does not answer; 0 for none")
	fl.BoolVar(&cfg.Faults, "faults", false, "fail one request in eight, repeat and reorder records, break streams")
	fl.IntVar(&cfg.Port, "port", 7913, "UDP `port` of the game server, on 127.0.0.1, 1 to 65535; 0 for 7777")
	fl.Uint64Var(&cfg.Seed, "seed", 1, "`seed` of the faults")
	return c
}

// fakeCluster adds the requests that stand for the cluster.
func fakeCluster(s *fake.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("POST /fake/allocate", func(w http.ResponseWriter, r *http.Request) {
		q, a := r.URL.Query(), agones.Allocation{}
		a.Map, a.Mode = q.Get("map"), q.Get("mode")
		if n := q.Get("players"); n != "" {
			if _, err := fmt.Sscan(n, &a.Players); err != nil || a.Players < 1 {
				http.Error(w, fmt.Sprintf("players %.20q: expected a number from 1 up", n), http.StatusBadRequest)
				return
			}
		}
		if err := s.Allocate(a); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	mux.HandleFunc("POST /fake/label", func(w http.ResponseWriter, r *http.Request) {
		key := r.URL.Query().Get("key")
		if key == "" {
			http.Error(w, "key: expected the name of a label", http.StatusBadRequest)
			return
		}
		s.Label(key, r.URL.Query().Get("value"))
	})
	return mux
}
