package server

import (
	"math"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/chat"
)

// Report is a host's figures since they were last reset, as the HTTP port gives them (GET /stats).
type Report struct {
	Seconds    float64           `json:"seconds"` // elapsed since the reset
	CPUSeconds float64           `json:"cpu_seconds"`
	Rate       int               `json:"rate_hz"`
	Interval   int               `json:"interval_ticks"`
	Players    int               `json:"players"` // now
	Workers    int               `json:"workers"` // that share systems; stages are the tick's own thread, cpu_seconds is everybody's
	TickCPU    Spread            `json:"tick_cpu_us"`
	TickWall   Spread            `json:"tick_wall_us"`
	Lateness   Spread            `json:"lateness_us"`         // with the ticks that were given up: a schedule that moved must not hide why
	Raw        Spread            `json:"lateness_raw_us"`     // of the ticks that were played
	Hiccup     *Spread           `json:"hiccup_us,omitempty"` // what the machine took meanwhile, where a meter is on
	Rewind     Spread            `json:"hit_rewind_ms"`       // how far back whom a shot hit was, since the start: it may have been in cover for so long
	Clamp      Spread            `json:"rewind_clamped_ms"`   // by how much claimed views were moved, of those that were, since the start
	Stages     []StageCost       `json:"stages"`              // of one tick in 16; their means add up to that of all ticks
	GivenUp    uint64            `json:"ticks_given_up"`
	Overruns   uint64            `json:"tick_overrun"`    // ticks that took longer than their period
	Shed       string            `json:"shed_level"`      // what is left out because of that, now
	Rungs      map[string]uint64 `json:"shed_ticks"`      // ticks on each rung of overload, since the start
	CaughtUp   uint64            `json:"ticks_caught_up"` // ticks played late, of a frame of several
	Phase      string            `json:"phase"`           // idle, loading or active, now
	Map        string            `json:"map"`
	Mode       string            `json:"mode"`
	Spectators int               `json:"spectators"` // now, who are in players too
	Allocs     uint64            `json:"allocs"`
	GCs        uint64            `json:"gcs"`
	HeapBytes  uint64            `json:"heap_bytes"`
	Counts     map[string]uint64 `json:"counts"`
	Drops      map[string]uint64 `json:"drops"`
	SocketLost uint64            `json:"socket_lost"`     // datagrams lost on this side of the network
	Socket     netio.Stats       `json:"socket"`          // since the start
	Query      map[string]uint64 `json:"query,omitempty"` // of the query port, since the start
}

// Spread sums up a distribution.
type Spread struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// StageCost is one stage's CPU time a tick.
type StageCost struct {
	Name string `json:"name"`
	Spread
}

func spread(h *meter.Histogram, unit time.Duration) Spread {
	u := float64(unit)
	return Spread{
		P50: float64(h.Quantile(0.5)) / u, P99: float64(h.Quantile(0.99)) / u, P999: float64(h.Quantile(0.999)) / u,
		Max: float64(h.Max()) / u, Mean: h.Mean() / u,
	}
}

// stagesOf sums up the stages. Not every tick has them timed, but every tick is, so means are a stage's part of the ticks that have, of
// the mean of all: together they are that.
func stagesOf(s *Stats) (all []StageCost) {
	sum := 0.0
	for _, st := range s.Stage {
		sum += st.Mean()
	}
	for i, st := range s.Stage {
		c := StageCost{Stage(i).String(), spread(st, time.Microsecond)}
		if sum > 0 {
			c.Mean *= s.Tick.Mean() / sum
		}
		all = append(all, c)
	}
	return all
}

// mark is the state of everything that only grows, at the last reset: a report is the difference.
type mark struct {
	at, cpu time.Duration
	count   [NumCounts]uint64
	refused [netcode.NumDrops]uint64
	drops   [packet.NumDrops]uint64
	chat    [chat.NumRefusals]uint64
	socket  netio.Stats
	mallocs uint64
	gcs     uint32
	stalls  uint64
	overrun uint64
	caught  uint64
}

func (h *Host) mark(mem *runtime.MemStats) (m mark) {
	runtime.ReadMemStats(mem)
	m.at, m.cpu, m.mallocs, m.gcs, m.stalls = h.clock(), clock.ProcessCPU(), mem.Mallocs, mem.NumGC, h.stalls.Load()
	m.socket, m.overrun = h.conn.Stats(), h.overruns.Load()
	m.caught = h.caught.Load()
	for i := range m.count { // Joined before Left and TimedOut would count a player away for a moment
		m.count[NumCounts-1-Count(i)] = h.lobby.Stats.Count[NumCounts-1-Count(i)].Load()
	}
	for i := range m.refused {
		m.refused[i] = h.lobby.Stats.Refused[i].Load()
	}
	for i := range m.drops {
		m.drops[i] = h.lobby.Stats.Drops[i].Load()
	}
	for i := range m.chat {
		m.chat[i] = h.lobby.Stats.Chat[i].Load()
	}
	return m
}

// reset begins a new measurement.
func (h *Host) reset() {
	var mem runtime.MemStats
	h.since = h.mark(&mem)
	h.lateness.Reset()
	h.raw.Reset()
	if h.hiccup != nil {
		h.hiccup()
	}
	h.wall.Reset()
	h.lobby.Stats.Tick.Reset()
	for _, s := range h.lobby.Stats.Stage {
		s.Reset()
	}
}

// report sums up since the last reset.
func (h *Host) report() Report {
	var mem runtime.MemStats
	now, s := h.mark(&mem), &h.lobby.Stats
	r := Report{
		Seconds: (now.at - h.since.at).Seconds(), CPUSeconds: (now.cpu - h.since.cpu).Seconds(),
		Rate: int(h.rates.Simulation), Interval: h.interval,
		Players: int(now.count[Joined] - now.count[Left] - now.count[TimedOut] - now.count[Dismissed]),
		Workers: h.pool.Workers(),
		Rewind:  spreadOf(s.Rewind, time.Millisecond), Clamp: spreadOf(s.Moved, time.Millisecond),
		TickCPU: spread(s.Tick, time.Microsecond), TickWall: spread(h.wall, time.Microsecond),
		Lateness: spread(h.lateness, time.Microsecond),
		Overruns: now.overrun - h.since.overrun, Shed: Shed(h.shed.Load()).String(),
		GivenUp: now.stalls - h.since.stalls, Allocs: now.mallocs - h.since.mallocs,
		GCs: uint64(now.gcs - h.since.gcs), HeapBytes: mem.HeapAlloc,
		Counts: map[string]uint64{}, Drops: map[string]uint64{}, SocketLost: now.socket.Lost() - h.since.socket.Lost(), Socket: now.socket,
		Query: h.query.counters(), Rungs: map[string]uint64{}, CaughtUp: now.caught - h.since.caught,
	}
	for i := range s.Rung {
		r.Rungs[Shed(i).String()] = s.Rung[i].Load()
	}
	if p := h.playing.Load(); p != nil {
		r.Phase, r.Map, r.Mode, r.Spectators = p.phase.String(), p.arena, p.mode, p.spectators
	}
	r.Raw = spread(h.raw, time.Microsecond)
	if h.hiccup != nil {
		took := h.hiccup()
		r.Hiccup = &took
	}
	r.Stages = stagesOf(s)
	for i := range now.count {
		r.Counts[Count(i).String()] = now.count[i] - h.since.count[i]
	}
	for i := netcode.DropNone + 1; i < netcode.NumDrops; i++ {
		if n := now.refused[i] - h.since.refused[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	for i := packet.DropNone + 1; i < packet.NumDrops; i++ {
		if n := now.drops[i] - h.since.drops[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	for i := chat.RefusedNone + 1; i < chat.NumRefusals; i++ {
		if n := now.chat[i] - h.since.chat[i]; n > 0 {
			r.Drops[i.String()] = n
		}
	}
	return r
}

// spreadOf sums up a histogram of nanoseconds, each value as the upper bound of its bucket, which is 9 % wide.
func spreadOf(h *meter.Native, unit time.Duration) (s Spread) {
	n := h.Read()
	if n.Count == 0 {
		return s
	}
	scale, sum := float64(time.Second)/float64(unit), n.Zero
	at := [...]struct {
		q  float64
		to *float64
	}{{0.5, &s.P50}, {0.99, &s.P99}, {0.999, &s.P999}, {1, &s.Max}}
	for i, c := range n.Counts {
		before := sum
		sum += c
		for _, a := range at {
			if need := a.q * float64(n.Count); float64(before) < need && float64(sum) >= need {
				*a.to = math.Exp2(float64(n.Lowest+i)/(1<<meter.NativeSchema)) * scale
			}
		}
	}
	s.Mean = n.Sum / float64(n.Count) * scale
	return s
}
