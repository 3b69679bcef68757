package main

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// watched is how many clients decode everything in a rehearsal, to tell whom clients see.
const watched = 2

// lookEvery is the number of ticks between two looks at a match.
const lookEvery = 8

// game is one match of a scenario, in virtual time.
type game struct {
	s     scenario.Scenario
	b     *lobbysim.Sim
	churn *rand.Rand
	leave float64 // chance of each client in each tick
	watch int     // clients that decode everything

	counts [metrics.NumCounts]uint64
	sent   metrics.Bandwidth
	told   match
}

// newGame sets one up. watch is whether it is to be looked at whom clients see, which changes nothing of what is sent.
func newGame(s scenario.Scenario, cfg server.Config, watch bool) (*game, error) {
	move, err := openMovement(s.Play.Traces, s.Play.Seed)
	if err != nil {
		return nil, err
	}
	link, err := impair.ParseProfile(s.Network.Link)
	if err != nil {
		return nil, err
	}
	link.Delay += capacity.VirtualDelay
	g := &game{s: s, churn: rand.New(rand.NewPCG(s.Play.Seed, 7)), leave: s.Play.LeavesPerMinute / 60 / float64(s.Rates.TickHz), watch: 1}
	if watch {
		g.watch = min(watched, s.Lobby.Players)
	}
	g.b, err = lobbysim.New(lobbysim.Config{
		Lobby: cfg, Clients: s.Lobby.Players + s.Lobby.Spectators, Lookers: s.Lobby.Spectators, Seed: s.Play.Seed, Thin: true, Link: link, Brain: brainOf(s, move),
		Client: func(n int, c *client.Config) { c.Thin = n >= g.watch },
	})
	return g, err
}

// step plays a tick, before which some leave and others come.
func (g *game) step(ctx context.Context) error {
	for i := 1; g.leave > 0 && i < g.s.Lobby.Players; i++ {
		if g.churn.Float64() < g.leave {
			g.b.Leave(i)
			if err := g.b.Connect(i); err != nil {
				return err
			}
		}
	}
	if err := g.b.Step(); err != nil {
		return err
	}
	return ctx.Err()
}

// warm plays until it is measured.
func (g *game) warm(ctx context.Context) error {
	for range int((max(g.s.Measure.WarmSeconds, 1) + g.s.Play.ArrivalSeconds) * float64(g.s.Rates.TickHz)) {
		if err := g.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *game) ticks() int { return int(g.s.Measure.Seconds * float64(g.s.Rates.TickHz)) }

// account is what the lobby has counted up to now.
func (g *game) account() (counts [metrics.NumCounts]uint64, sent metrics.Bandwidth) {
	for i := range counts {
		counts[i] = g.b.Lobby.Stats.Count[i].Load()
	}
	g.b.Lobby.Publish()
	return counts, g.b.Lobby.Summary().Bandwidth
}

// begin starts to count.
func (g *game) begin() { g.counts, g.sent = g.account() }

// look takes note of what the i-th measured tick left, of some ticks.
func (g *game) look(i int) {
	m := g.b.Lobby.Match()
	g.told.note(m)
	if i%lookEvery != 0 {
		return
	}
	g.told.lookAt(m)
	for _, c := range g.b.Clients[:g.watch] {
		if c == nil {
			continue
		}
		if st, _ := c.State(); st != client.Joined {
			continue
		}
		g.told.eyes++
		for slot := range m.Poses() {
			if p, ok := c.Pose(slot); ok && p.ID != uint32(c.ID()) && p.ID != 0 {
				g.told.seen++
			}
		}
	}
}

// note counts what became of flights in the tick that was just played.
func (m *match) note(of *sim.Match) {
	o, now := of.Objects(), of.Tick()
	one := func(n *int, at tick.Tick) {
		if at == now {
			*n++
		}
	}
	for i := range o.Projectiles {
		p := &o.Projectiles[i]
		one(&m.launched, p.Tick)
		one(&m.turned, p.Ended)
	}
	for i := range o.Grenades {
		p := &o.Grenades[i]
		one(&m.launched, p.Thrown)
		one(&m.turned, max(p.Bounced, p.Exploded))
	}
}

// lookAt counts who is alive and what flies now.
func (m *match) lookAt(of *sim.Match) {
	m.looks++
	for _, p := range of.Poses() {
		if p.ID != 0 && p.Alive() {
			m.alive++
		}
	}
	o := of.Objects()
	m.flights += len(o.Projectiles) + len(o.Grenades)
}

// end is what came of it.
func (g *game) end() match {
	counts, sent := g.account()
	m := g.told
	m.ticks = g.ticks()
	for i := range counts {
		m.counts[i] = counts[i] - g.counts[i]
	}
	for i := range sent.Sections {
		m.sections[i] = sent.Sections[i] - g.sent.Sections[i]
	}
	return m
}

// match is what one match came to.
type match struct {
	ticks          int
	counts         [metrics.NumCounts]uint64
	sections       [metrics.NumSections]uint64 // bytes
	looks          int
	alive, flights int // in all looks together
	launched       int // flights that set out
	turned         int // that struck, bounced or went off
	eyes, seen     int // clients that were asked whom they see, and whom they saw
	glances        glances
}

// tale is what several matches came to.
type tale struct {
	all match
	of  []float64 // bytes in each
}

func (t *tale) add(m match) {
	a := &t.all
	a.ticks, a.looks, a.alive, a.flights, a.eyes, a.seen = a.ticks+m.ticks, a.looks+m.looks, a.alive+m.alive, a.flights+m.flights, a.eyes+m.eyes, a.seen+m.seen
	a.launched, a.turned = a.launched+m.launched, a.turned+m.turned
	a.glances.add(m.glances)
	for i := range m.counts {
		a.counts[i] += m.counts[i]
	}
	for i := range m.sections {
		a.sections[i] += m.sections[i]
	}
	t.of = append(t.of, float64(m.counts[metrics.BytesOut]))
}

// unsureOf is the standard error of the mean of values, relative to it; 0 where a single value, or none, says nothing of it.
func unsureOf(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	var sum, squares float64
	for _, x := range values {
		sum += x
	}
	for _, x := range values {
		squares += (x - sum/n) * (x - sum/n)
	}
	return math.Sqrt(squares/(n-1)/n) / (sum / n)
}

// facts are what was asked for, and what came of it.
func (t *tale) facts(f capacity.Facts) capacity.Facts {
	a, n := &t.all, float64(f.PerLobby)
	sec := float64(max(a.ticks, 1)) / float64(f.TickHz)
	each := sec * (n + float64(f.Spectators))
	f.Matches, f.Seconds, f.Unsure = len(t.of), sec/float64(max(len(t.of), 1)), unsureOf(t.of)
	looks := float64(max(a.looks, 1))
	f.Visible = float64(a.seen) / float64(max(a.eyes, 1))
	f.Played.Glances = a.glances.facts(float64(f.TickHz) / float64(f.SendEvery))
	f.Alive, f.Flights = float64(a.alive)/looks/n, float64(a.flights)/looks
	f.Launches, f.Turns = float64(a.launched)/sec, float64(a.turned)/sec
	f.Shots, f.Kills = float64(a.counts[metrics.Shots])/float64(max(a.ticks, 1)), float64(a.counts[metrics.Kills])/sec
	f.Bytes, f.Datagrams, f.Snapshots = float64(a.counts[metrics.BytesOut])/each, float64(a.counts[metrics.Sent])/each, float64(a.counts[metrics.Snapshots])/each
	part := func(all ...metrics.Section) (sum float64) {
		for _, s := range all {
			sum += float64(a.sections[s]) / each
		}
		return sum
	}
	f.Parts = capacity.Parts{
		Frame:  part(metrics.SectionSeal, metrics.SectionPacket, metrics.SectionSnapshot),
		Events: part(metrics.SectionSession, metrics.SectionReliable, metrics.SectionUnreliable, metrics.SectionTransfer, metrics.SectionClose),
		Owner:  part(metrics.SectionOwner), Things: part(metrics.SectionObject), Rows: part(metrics.SectionPlayer),
	}
	return f
}

// step is a step without times.
func (t *tale) step(f capacity.Facts) capacity.Step {
	a, clients := &t.all, float64(f.PerLobby+f.Spectators)
	ticks := float64(max(a.ticks, 1))
	sec := ticks / float64(f.TickHz)
	return capacity.Step{
		Players: f.PerLobby, Duration: time.Duration(sec * float64(time.Second)), Facts: &f,
		DatagramsInPerTick: float64(a.counts[metrics.Received]) / ticks, DatagramsOutPerTick: float64(a.counts[metrics.Sent]) / ticks,
		KbpsDownPerClient: f.Bytes * 8 / 1000, KbpsUpPerClient: float64(a.counts[metrics.BytesIn]) * 8 / 1000 / sec / clients,
		InputsExpected: a.counts[metrics.InputsUsed] + a.counts[metrics.InputsMissing],
		InputsLost:     a.counts[metrics.InputsMissing],
	}
}
