package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// rig measures one lobby size at a time: a server process, a swarm in this one, on processors of their own.
type rig struct {
	flags             planFlags
	move              movement
	models            netstate.Models
	pack              *content.Pack
	plan              *capacity.Plan
	onServer, onSwarm []int
}

func newRig(f planFlags, move movement, models netstate.Models, pack *content.Pack, p *capacity.Plan) *rig {
	r := &rig{flags: f, move: move, models: models, pack: pack, plan: p}
	r.onServer, r.onSwarm = apart()
	places(swarmPlaces)
	where := "not kept apart: one processor"
	if r.onServer != nil {
		where = fmt.Sprintf("server on processor %v, swarm on %v", r.onServer, r.onSwarm)
		if err := clock.Confine(r.onSwarm); err != nil {
			where, r.onServer = "not kept apart: "+err.Error(), nil
		}
	}
	p.Config = append(p.Config, settings(f.s)...)
	set := func(name, format string, args ...any) {
		p.Config = append(p.Config, capacity.Setting{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	set("who sees whom", "%s", sees(f))
	set("sessions", "every datagram sealed, both ways")
	set("processors", "%s", where)
	return r
}

// sees says who sees whom.
func sees(f planFlags) string {
	grid := f.relevance == "auto" || f.relevance == "grid"
	switch {
	case grid && f.far > 0 && f.maps == "town":
		return fmt.Sprintf("who is within %g m and behind no house visible to each other", f.far)
	case grid && f.far > 0:
		return fmt.Sprintf("who is within %g m visible to each other", f.far)
	case grid && f.maps == "town":
		return "who is behind no house visible to each other"
	}
	return "everybody visible to everybody"
}

// step measures lobbies of so many players in all.
func (r *rig) step(ctx context.Context, players int, out *screen) (capacity.Step, error) {
	sc := r.flags.s
	if sc.Lobby.Grow == "lobbies" {
		sc = sc.At(players / sc.Lobby.Players)
	} else {
		sc = sc.At(players / sc.Lobby.Lobbies)
	}
	out.note("%d players: starting the server", players)
	h, err := r.open(ctx, sc)
	if err != nil {
		return capacity.Step{}, err
	}
	defer h.stop()
	s, err := swarm.Open(swarm.Config{
		Servers: h.at, Players: sc.Total() + sc.Lookers(), Full: sc.Play.Full, Seed: sc.Play.Seed, Rate: tick.Rate(sc.Rates.TickHz),
		Models: r.models, Content: r.pack, Brain: brainOf(sc, r.move), Token: mixedTickets(sc.Total(), h.mints, h.looks),
		Arrival: seconds(sc.Play.ArrivalSeconds), Churn: sc.Play.LeavesPerMinute,
	})
	if err != nil {
		return capacity.Step{}, err
	}
	defer s.Close() // the figures are out by then
	out.note("%d players: connecting", players)
	if err := connect(ctx, s, sc.Total()+sc.Lookers(), seconds(sc.Play.ArrivalSeconds), true); err != nil {
		return failed(players, s, err), nil
	}
	out.note("%d players: warming up", players)
	if err := s.Run(ctx, seconds(r.flags.warm), nil); err != nil {
		return failed(players, s, err), nil
	}
	s.Reset()
	resetDone := h.reset(ctx)
	gaps := meter.NewHistogram(0)
	hiccup := clock.NewHiccup(r.onSwarm, func(late time.Duration) { gaps.Record(int64(late)) })
	begin := time.Now()
	err = s.Run(ctx, seconds(r.flags.measure), func() bool {
		if out.ready() {
			out.note("measuring %s", progress(&s.Figures, players, time.Since(begin), seconds(r.flags.measure)))
		}
		return false
	})
	hiccup.Stop()
	if err = errors.Join(err, <-resetDone); err != nil {
		return failed(players, s, err), nil
	}
	reports, err := h.stats(ctx)
	if err != nil {
		return capacity.Step{}, err
	}
	step := r.measured(players, sc.Total()+sc.Lookers(), merged(reports), &s.Figures)
	step.Lobbies, step.SwarmHiccup = sc.Lobby.Lobbies, micros(gaps)
	if late := step.SwarmHiccup.P99 / 1000; step.Void && late > 500/float64(r.flags.rate) {
		step.VoidReason += fmt.Sprintf("; nor did a thread beside it that only sleeps: p99 %.0f ms late, the machine is busy", late)
	}
	step.Facts = factsOf(sc, step, reports, &s.Figures)
	step.DatagramsInPerTick /= float64(len(reports)) // of one lobby, as the times are
	step.DatagramsOutPerTick /= float64(len(reports))
	return step, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// failed is a step that could not be measured: void if the swarm was at fault, else the server's failure.
func failed(players int, s *swarm.Swarm, err error) capacity.Step {
	step := capacity.Step{Players: players, Fault: err.Error(), VoidReason: s.Figures.Void()}
	step.Void = step.VoidReason != ""
	return step
}

// measured joins what the server and the swarm say into a step.
func (r *rig) measured(players, clients int, rep metrics.Report, f *swarm.Figures) capacity.Step {
	ticks := max(rep.Seconds*float64(rep.Rate), 1)
	sec := f.Elapsed.Seconds()
	perClient := func(bytes uint64) float64 { return float64(bytes) * 8 / 1000 / sec / float64(clients) }
	s := capacity.Step{
		Players: players, Duration: f.Elapsed,
		TickCPUMillis: scaled(rep.TickCPU, 1e-3), TickWallMillis: scaled(rep.TickWall, 1e-3),
		LatenessMicros: scaled(rep.Lateness, 1), LatenessRaw: scaled(rep.LatenessRaw, 1), SwarmLateness: micros(f.Late), SwarmRaw: micros(f.Raw),
		ServerCores:       rep.CPUSeconds / rep.Seconds,
		KbpsDownPerClient: perClient(f.BytesDown), KbpsUpPerClient: perClient(f.BytesUp),
		SnapshotAgeMillis: quantiles(f.Age), RTTMillis: quantiles(f.RTT),
		DatagramsInPerTick: float64(rep.Counts[metrics.Received.String()]) / ticks, DatagramsOutPerTick: float64(rep.Counts[metrics.Sent.String()]) / ticks,
		InputsExpected: rep.Counts[metrics.InputsUsed.String()] + rep.Counts[metrics.InputsMissing.String()],
		InputsLost:     lost(rep.Counts[metrics.InputsMissing.String()], f.LateTicks), InputsLate: f.LateTicks,
		DatagramsLost: rep.SocketLost, TicksGivenUp: rep.TicksSkipped, AllocsPerTick: float64(rep.Allocs) / ticks, GCs: rep.GCs,
		SwarmLate: f.LateTurns, VoidReason: f.Void(),
	}
	if k := f.Taken; k.Known {
		s.SwarmOwn = micros(f.Own)
		s.SwarmTaken = &capacity.Taken{Millis: millis(k.All), Bursts: k.Bursts, LongestMillis: millis(k.Longest)}
	}
	if rep.Hiccup != nil {
		s.HiccupMicros = scaled(*rep.Hiccup, 1)
	}
	for _, st := range rep.Stages {
		s.StageCPUMicros = append(s.StageCPUMicros, capacity.Stage{Name: st.Name, Mean: st.Mean, P99: st.P99})
	}
	s.Bytes = account(f)
	if err := s.Bytes.Check(); err != nil && s.VoidReason == "" {
		s.VoidReason = err.Error()
	}
	s.Void = s.VoidReason != ""
	return s
}

// account is what the swarm's sample of players received.
func account(f *swarm.Figures) *capacity.Bytes {
	b := &capacity.Bytes{Clients: f.Sampled, Duration: f.Elapsed, Datagrams: f.SampledDatagrams, Received: f.SampledBytes}
	for _, c := range f.Account.Cells(nil) {
		b.Cells = append(b.Cells, capacity.Cell{Component: c.Component, Field: c.Field, Reason: c.Reason, Bits: c.Bits})
	}
	return b
}

// lost is how many inputs the server missed although the swarm sent them in time: those that it sent late are its own.
func lost(missing, late uint64) uint64 { return missing - min(missing, late) }

// child is a server process.
type child struct {
	cmd  *exec.Cmd
	http string
	udp  netip.AddrPort
	key  netcode.Key
	errs *strings.Builder
}

// readyWithin is how long a server may take to begin: the largest map takes some seconds on a busy machine.
const readyWithin = time.Minute

// start runs this binary's serve on ports of the kernel's choice and waits until it is ready.
func (r *rig) start(sc scenario.Scenario) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	players := sc.Lobby.Players
	args := []string{"serve", "--ready", "--leash", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--hiccup",
		"--arena", r.flags.arena(players), "--mode", r.flags.mode, "--content", r.flags.content, "--players", fmt.Sprint(players), "--spectators", fmt.Sprint(sc.Lobby.Spectators),
		"--rate", fmt.Sprint(r.flags.rate), "--interval", fmt.Sprint(r.flags.every), "--socket", r.flags.socket, "--kbps", fmt.Sprint(sc.Rates.Kbps),
		"--seed", fmt.Sprint(r.flags.seed), "--model", r.flags.model, "--journal", "none", "--idle-warn", "0", "--idle-kick", "0",
		"--codec", r.flags.codec, "--relevance", r.flags.relevance, "--far", fmt.Sprint(r.flags.far)}
	c := &child{cmd: exec.Command(self, args...), errs: &strings.Builder{}}
	// A key that nobody else has; and our own swarm shall need no secret, whatever our own environment says.
	_, _ = rand.Read(c.key[:]) // does not fail: it stops the program
	c.cmd.Env = append(os.Environ(), keyVariable+"="+hex.EncodeToString(c.key[:]), tokenVariable+"=")
	if n := sc.Process.GOMAXPROCS; n > 0 {
		c.cmd.Env = append(c.cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", n))
	}
	if gogc := sc.Process.GOGC; gogc > 0 {
		c.cmd.Env = append(c.cmd.Env, fmt.Sprintf("GOGC=%d", gogc))
	} else if gogc < 0 {
		c.cmd.Env = append(c.cmd.Env, "GOGC=off")
	}
	c.cmd.Stderr = c.errs
	if _, err := c.cmd.StdinPipe(); err != nil { // held until Wait, or until we are killed: the server ends with it
		return nil, err
	}
	ownGroup(c.cmd)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	run := c.cmd.Start
	if r.onServer != nil {
		run = func() error { return clock.On(r.onServer, c.cmd.Start) }
	}
	if err := run(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	late := time.AfterFunc(readyWithin, func() { _ = c.cmd.Process.Kill() }) // which ends the line that is read
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if !late.Stop() && err != nil {
		err = fmt.Errorf("not ready within %v", readyWithin)
	}
	var said ready
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err == nil {
		c.http = said.HTTP
		c.udp, err = netip.ParseAddrPort(said.UDP)
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("the server did not start: %w: %s", err, strings.TrimSpace(c.errs.String()))
	}
	return c, nil
}

// stop ends the server, by force if need be, and waits for it.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(3*time.Second, func() { _ = c.cmd.Process.Kill() })
	_ = c.cmd.Wait()
	kill.Stop()
}

// reset begins new figures on the server, beside the swarm, which must not wait for it.
func (c *child) reset(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "POST", "http://"+c.http+"/stats/reset", nil)
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				err = errors.Join(answered(resp), resp.Body.Close())
			}
		}
		done <- err
	}()
	return done
}

// stats asks the server for its figures.
func (c *child) stats(ctx context.Context) (rep metrics.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+c.http+"/stats", nil)
	if err != nil {
		return rep, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return rep, fmt.Errorf("ask the server for its figures: %w", err)
	}
	defer resp.Body.Close()
	if err := answered(resp); err != nil {
		return rep, err
	}
	return rep, json.NewDecoder(resp.Body).Decode(&rep)
}

// answered says which request a server refused.
func answered(resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return fmt.Errorf("the server answered %s to %s %s", resp.Status, resp.Request.Method, resp.Request.URL.Path)
}
