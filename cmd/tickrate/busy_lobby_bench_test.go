//go:build linux && !portable

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim"
)

const (
	quietLobbies = 40
	quietPlayers = 2 // of each quiet lobby
	busyPlayers  = 200
)

// BenchmarkBusyLobby measures how late the ticks of 40 quiet lobbies at 128 Hz are on one worker,
// without and with a lobby of 200 bots that all fire: means over the quiet lobbies, for a second an
// operation. worst-late-p99-ns is of the latest of these lobbies. A run is void where the machine
// kept the server waiting (waited-ns/op above 25 ms) or a swarm was late (late/pass above 0.01).
func BenchmarkBusyLobby(b *testing.B) {
	for _, rate := range []tick.Rate{0, 128, 60} {
		b.Run(fmt.Sprintf("busy=%dHz", rate), func(b *testing.B) {
			needsTwoProcessors(b)
			besideBusy(b, serverApart(b, command(b, serveArgs("--lobbies", fmt.Sprintf("1:%d", quietLobbies+2),
				"--players", fmt.Sprint(busyPlayers), "--rate", fmt.Sprint(duelRate), "--send-interval", "2",
				"--map", "arena-16")...)), rate)
			b.ReportMetric(0, "ns/op")
		})
	}
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

// besideBusy plays in quiet lobbies beside a busy one of that rate, 0 for none, and reports the metrics.
func besideBusy(b *testing.B, r ready, rate tick.Rate) {
	var tokens []*tokenSource
	for range quietLobbies {
		tokens = append(tokens, makeLobby(b, r, duelPlayers, fmt.Sprintf(`"rate_hz": %d, "send_interval": 2`,
			duelRate)))
	}
	quiet := openSwarm(b, swarm.Config{Server: tokens[0].at, Players: quietPlayers * quietLobbies,
		Lobbies: quietLobbies, Decode: client.DecodeAcks, Rate: duelRate,
		Token: func(n int) ([]byte, error) { return tokens[n%quietLobbies].Token(n) }})
	connectSwarm(b, quiet, quietPlayers*quietLobbies)
	swarms := []*swarm.Swarm{quiet}
	stops := []func(){startPlaying(b, quiet)}
	if rate > 0 {
		k := makeLobby(b, r, busyPlayers, fmt.Sprintf(`"rate_hz": %d, "send_interval": %d, "map": "gen:%d:1"`,
			rate, rate/20, busyPlayers))
		busy := openSwarm(b, swarm.Config{Server: k.at, Players: busyPlayers, Full: 1, Rate: rate,
			Token: k.Token, Brain: func(n int) swarm.Brain { return firingBot{swarm.NewBot(1, n), n} }})
		if err := runner.Connect(b.Context(), busy, busyPlayers, 0); err != nil {
			b.Fatal(err)
		}
		swarms, stops = append(swarms, busy), append(stops, startPlaying(b, busy))
	}
	time.Sleep(1200 * time.Millisecond) // the worker arranges its lobbies once a second
	r.request(b, http.MethodPost, "/stats/reset?lobby=all", "", nil)
	waited := waits(r.PID)
	b.ResetTimer()
	time.Sleep(time.Duration(b.N) * time.Second)
	b.StopTimer()
	waited = waits(r.PID) - waited
	var rep httpapi.HostReport
	r.request(b, http.MethodGet, "/stats?lobby=all", "", &rep)
	for _, stop := range stops {
		stop()
	}
	late := 0.
	for _, s := range swarms {
		late = max(late, latePart(s))
	}
	reportLateness(b, &rep, rate)
	b.ReportMetric(float64(waited)/float64(b.N), "waited-ns/op")
	b.ReportMetric(late, "late/pass")
}

// reportLateness reports the metrics of a report of all lobbies: the server's own, the quiet ones and
// the busy one, if there is one.
func reportLateness(b *testing.B, rep *httpapi.HostReport, busy tick.Rate) {
	const nanos = 1e6 // of a millisecond
	var p50, p99, worst float64
	quiet := rep.Lobbies[1 : 1+quietLobbies]
	for i := range quiet {
		l := &quiet[i].Lateness
		p50 += nanos * l.P50 / quietLobbies
		p99 += nanos * l.P99 / quietLobbies
		worst = max(worst, nanos*l.P99)
	}
	b.ReportMetric(p50, "late-p50-ns")
	b.ReportMetric(p99, "late-p99-ns")
	b.ReportMetric(worst, "worst-late-p99-ns")
	last := &rep.Lobbies[len(rep.Lobbies)-1]
	b.ReportMetric(last.CPUMillis/last.ElapsedMillis, "cores")
	if busy > 0 {
		b.ReportMetric(nanos*last.Lateness.P99, "busy-late-p99-ns")
		b.ReportMetric(nanos*last.TickWall.P50, "busy-tick-p50-ns")
		b.ReportMetric(nanos*last.TickWall.P99, "busy-tick-p99-ns")
	}
}

// makeLobby makes a lobby and returns its tokens. more is fields of its JSON.
func makeLobby(b *testing.B, r ready, players int, more string) *tokenSource {
	b.Helper()
	var made struct{ Lobby string }
	r.request(b, http.MethodPost, "/v1/lobbies", fmt.Sprintf(`{"players": %d, %s}`, players, more), &made)
	number, err := strconv.ParseInt(made.Lobby, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	k, err := requestTokens(b.Context(), tokenRequest{r.HTTP, "", asPlayer, number})
	if err != nil {
		b.Fatal(err)
	}
	return k
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
