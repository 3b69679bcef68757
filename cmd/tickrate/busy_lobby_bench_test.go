//go:build linux && !portable

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

const (
	quietLobbies = 40
	busyPlayers  = 200
	busyRounds   = 5 // without and with the busy lobby in turn
	busyTime     = 4 * time.Second
	busyWaited   = 100 // ms of run delay that make a round void
)

// BenchmarkBusyLobby measures how late the ticks of 40 quiet lobbies at 128 Hz are on one worker,
// without (alone-) and with (beside-) a lobby of 200 bots that all fire, in turn in one run: means over
// the quiet lobbies, of them the median of the rounds; worst- is the latest of these lobbies.
// ratio-p99 is what the busy lobby makes of p99. Rounds in which the machine kept the server waiting are
// left out, unless all are: then waited- is above a hundred and the run is void, as it is with late-%
// (of the swarms' schedule) above 1.
func BenchmarkBusyLobby(b *testing.B) {
	for _, c := range []busyLobby{{2, 128, "gnet"}, {2, 64, "gnet"}, {2, 60, "gnet"},
		{2, 128, "mmsg"}, {2, 60, "mmsg"}} {
		b.Run(fmt.Sprintf("players=%d/busy=%dHz/%s", c.players, c.rate, c.socket), func(b *testing.B) {
			needsTwoProcessors(b)
			r := serverApart(b, command(b, serveArgs("--lobbies", fmt.Sprintf("1:%d", quietLobbies+2),
				"--players", fmt.Sprint(busyPlayers), "--rate", fmt.Sprint(duelRate), "--snapshot-rate",
				fmt.Sprint(duelRate/2), "--map", "arena-16", "--socket", c.socket)...))
			c.run(b, r)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// busyLobby is the lobbies of BenchmarkBusyLobby.
type busyLobby struct {
	players int       // of each quiet lobby
	rate    tick.Rate // of the busy one
	socket  string
}

// firingBot fires in every tick, and throws once a second.
type firingBot struct {
	*swarm.Bot
	n int
}

// Decide implements swarm.Brain.
func (f firingBot) Decide(o *swarm.Observation) client.Intent {
	in := f.Bot.Decide(o)
	if in.Buttons |= sim.Fire; (int(o.Tick)+f.n)%int(o.Rate) == 0 {
		in.Buttons = in.Buttons&^sim.Fire | sim.Throw
	}
	return in
}

// busyRound is the figures of a round.
type busyRound struct {
	quiet, busy metrics.Spread // lateness
	worst       float64        // p99 of the latest quiet lobby
	tick        metrics.Spread // of the busy lobby
	level       string         // load level of the busy lobby
	core        float64        // %
	waited      float64        // ms that threads of the server waited for their processor
}

// run plays the rounds and reports the metrics.
func (c *busyLobby) run(b *testing.B, r ready) {
	var tokens []*tokenSource
	for range quietLobbies {
		_, k := makeLobby(b, r, duelPlayers, fmt.Sprintf(`"rate_hz": %d, "send_interval": 2`, duelRate))
		tokens = append(tokens, k)
	}
	quiet := openSwarm(b, swarm.Config{Server: tokens[0].at, Players: c.players * quietLobbies,
		Lobbies: quietLobbies, Decode: client.DecodeAcks, Rate: duelRate,
		Token: func(n int) ([]byte, error) { return tokens[n%quietLobbies].Token(n) }})
	connectSwarm(b, quiet, c.players*quietLobbies)
	quiet.Reset()
	stop := startPlaying(b, quiet)
	defer stop()
	var without, with []busyRound
	late := 0.
	for range busyRounds {
		time.Sleep(time.Second)
		without = append(without, c.round(b, r, ""))
		round, percent := c.besideBusy(b, r)
		with, late = append(with, round), max(late, percent)
	}
	stop()
	reportRounds(b, without, with)
	b.ReportMetric(max(late, latePercent(quiet)), "late-%")
}

// makeLobby makes a lobby and returns its number and its tokens. more is fields of its JSON.
func makeLobby(b *testing.B, r ready, players int, more string) (lobby string, k *tokenSource) {
	b.Helper()
	var made struct{ Lobby string }
	r.request(b, http.MethodPost, "/v1/lobbies", fmt.Sprintf(`{"players": %d, %s}`, players, more), &made)
	number, err := strconv.ParseInt(made.Lobby, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	if k, err = requestTokens(b.Context(), tokenRequest{r.HTTP, "", asPlayer, number}); err != nil {
		b.Fatal(err)
	}
	return made.Lobby, k
}

// besideBusy measures a round beside a busy lobby. late is the share of its turns that the swarm there
// was late for, in percent.
func (c *busyLobby) besideBusy(b *testing.B, r ready) (f busyRound, late float64) {
	lobby, k := makeLobby(b, r, busyPlayers, fmt.Sprintf(`"rate_hz": %d, "send_interval": %d,
		"map": "gen:%d:1"`, c.rate, c.rate/20, busyPlayers))
	busy := openSwarm(b, swarm.Config{Server: k.at, Players: busyPlayers, Full: 1, Rate: c.rate,
		Token: k.Token, Brain: func(n int) swarm.Brain { return firingBot{swarm.NewBot(1, n), n} }})
	if err := runner.Connect(b.Context(), busy, busyPlayers, 0); err != nil {
		b.Fatal(err)
	}
	stop := startPlaying(b, busy)
	defer stop()
	time.Sleep(3 * time.Second) // the worker arranges its lobbies once a second
	f = c.round(b, r, lobby)
	stop()
	busy.Close()
	r.request(b, http.MethodDelete, "/v1/lobbies/"+lobby, "", nil)
	return f, latePercent(busy)
}

// middle is the median of a figure of the rounds in which the server did not wait, or else of all.
func middle(rounds []busyRound, of func(*busyRound) float64) float64 {
	calm := func(r busyRound) bool { return r.waited < busyWaited }
	var all []float64
	for i := range rounds {
		if calm(rounds[i]) || !slices.ContainsFunc(rounds, calm) {
			all = append(all, of(&rounds[i]))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// reportRounds reports the metrics of rounds without and with the busy lobby.
func reportRounds(b *testing.B, without, with []busyRound) {
	for _, m := range []struct {
		name string
		of   func(*busyRound) float64
	}{
		{"late-p50-us", func(r *busyRound) float64 { return r.quiet.P50 }},
		{"late-p99-us", func(r *busyRound) float64 { return r.quiet.P99 }},
		{"late-p99.9-us", func(r *busyRound) float64 { return r.quiet.P999 }},
		{"worst-p99-us", func(r *busyRound) float64 { return r.worst }},
		{"core-%", func(r *busyRound) float64 { return r.core }},
		{"waited-ms", func(r *busyRound) float64 { return r.waited }},
	} {
		b.ReportMetric(middle(without, m.of), "alone-"+m.name)
		b.ReportMetric(middle(with, m.of), "beside-"+m.name)
	}
	p99 := func(r *busyRound) float64 { return r.quiet.P99 }
	b.ReportMetric(middle(with, p99)/middle(without, p99), "ratio-p99")
	b.ReportMetric(middle(with, func(r *busyRound) float64 { return r.busy.P99 }), "busy-late-p99-us")
	b.ReportMetric(middle(with, func(r *busyRound) float64 { return r.tick.P50 }), "busy-tick-p50-us")
	b.ReportMetric(middle(with, func(r *busyRound) float64 { return r.tick.P99 }), "busy-tick-p99-us")
}

// startPlaying has a swarm play until stop is called, which returns once it has ended.
func startPlaying(b *testing.B, s *swarm.Swarm) (stop func()) {
	over, done := make(chan struct{}), make(chan error)
	go func() {
		done <- s.Run(b.Context(), time.Hour, func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
	}()
	return sync.OnceFunc(func() {
		close(over)
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
}

// round measures for a while. busy is the number of the busy lobby, "" without one.
func (c *busyLobby) round(b *testing.B, r ready, busy string) (f busyRound) {
	r.request(b, http.MethodPost, "/stats/reset?lobby=all", "", nil)
	waited := waits(r.PID)
	time.Sleep(busyTime)
	f.waited = (waits(r.PID) - waited).Seconds() * 1000
	var rep httpapi.HostReport
	r.request(b, http.MethodGet, "/stats?lobby=all", "", &rep)
	quiet := rep.Lobbies[1 : 1+quietLobbies]
	for i := range quiet {
		l := &quiet[i].Lateness
		f.quiet.P50 += l.P50 / quietLobbies
		f.quiet.P99 += l.P99 / quietLobbies
		f.quiet.P999 += l.P999 / quietLobbies
		f.worst = max(f.worst, l.P99)
	}
	last := &rep.Lobbies[len(rep.Lobbies)-1]
	if busy != "" {
		f.busy, f.tick, f.level = last.Lateness, last.TickWall, last.LoadLevel
	}
	f.core = 100 * last.CPUMillis / last.ElapsedMillis
	b.Logf("lobby %q: quiet p50 %.0f p99 %.0f (worst %.0f) p99.9 %.0f µs; busy late p99 %.0f, tick "+
		"%.0f/%.0f µs; waited %.0f ms; %.0f %% of a core; load level %s", busy, f.quiet.P50, f.quiet.P99,
		f.worst, f.quiet.P999, f.busy.P99, f.tick.P50, f.tick.P99, f.waited, f.core, f.level)
	return f
}
