package metrics

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio"
)

// ReportVersion is the version of the JSON of Report, and of everything else that the HTTP port
// answers. Times in it are milliseconds, and names say so; see docs/json.md.
const ReportVersion = 3

// ReportType says what JSON a Report is.
const ReportType = "stats"

// Report is the figures of a server since they were last reset, as GET /stats answers them.
type Report struct {
	Type          string  `json:"type"`       // ReportType
	Version       int     `json:"version"`    // ReportVersion
	ElapsedMillis float64 `json:"elapsed_ms"` // since the reset
	CPUMillis     float64 `json:"cpu_ms"`     // of the process, likewise
	Rate          int     `json:"rate_hz"`
	Interval      int     `json:"interval_ticks"`
	Players       int     `json:"players"` // now, with spectators
	// threads that share the systems; Stages covers the tick's own thread, CPUMillis all
	Workers     int    `json:"workers"`
	TickCPU     Spread `json:"tick_cpu_ms"` // of one tick in 16 where lobbies share a port
	TickWall    Spread `json:"tick_wall_ms"`
	Lateness    Spread `json:"lateness_ms"`     // of all ticks; skipped ticks count as late
	LatenessRaw Spread `json:"lateness_raw_ms"` // of the ticks that were played
	// wake-up delays of an idle thread, if measured, since the last reset of any lobby
	Hiccup *Spread `json:"hiccup_ms,omitempty"`
	// How many times as long as at full speed work takes on the processor, and the CPU time of a tick
	// divided by that, if measured; Slowdown is since the last reset of any lobby.
	Slowdown      *Spread `json:"slowdown,omitempty"`
	TickFullSpeed *Spread `json:"tick_cpu_full_speed_ms,omitempty"`
	// age of the views of shots that hit, since the start
	Rewind Spread `json:"hit_rewind_ms"`
	// distance by which claimed views were clamped, since the start
	ViewClamp Spread `json:"rewind_clamped_ms"`
	// of one tick in 16; their means add up to the mean of TickCPU
	Stages       []StageCost `json:"stages_ms"`
	TicksSkipped uint64      `json:"ticks_skipped"` // given up after a stall
	// Ticks that took longer than their period.
	Overruns   uint64            `json:"tick_overruns"`
	LoadLevel  string            `json:"load_level"`       // what overload leaves out now
	LoadLevels map[string]uint64 `json:"load_level_ticks"` // ticks on each level, since the start
	// Ticks played late, together with others.
	CaughtUp   uint64            `json:"ticks_caught_up"`
	Phase      string            `json:"phase"` // idle, loading or active, now
	Map        string            `json:"map"`
	Mode       string            `json:"mode"`
	Spectators int               `json:"spectators"` // now
	Allocs     uint64            `json:"allocs"`
	GCs        uint64            `json:"gcs"`
	HeapBytes  uint64            `json:"heap_bytes"`
	Counts     map[string]uint64 `json:"counts"` // by Count
	Drops      map[string]uint64 `json:"drops"`  // by reason
	// Ticks that ran without a player's command, by slot; slots without one are left out.
	SlotMissing map[int]uint64 `json:"inputs_missing_by_slot,omitempty"`
	// Of the UDP socket; a lobby that shares one has none, see httpapi.LoopReport.
	SocketLost *uint64           `json:"socket_lost,omitempty"`
	Socket     *netio.Stats      `json:"socket,omitempty"` // since the start
	Query      map[string]uint64 `json:"query,omitempty"`  // of the query port, since the start
}

// Spread summarises a distribution.
type Spread struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// StageCost is the CPU time of one stage per tick, in milliseconds.
type StageCost struct {
	Name string `json:"name"`
	Spread
}

// SpreadOf converts a summary of nanoseconds to the given unit.
func SpreadOf(m meter.Summary, unit time.Duration) Spread {
	u := float64(unit)
	return Spread{P50: float64(m.P50) / u, P95: float64(m.P95) / u, P99: float64(m.P99) / u,
		P999: float64(m.P999) / u, Max: float64(m.Max) / u, Mean: m.Mean / u}
}

// NativeSpreadOf summarises h, which counts nanoseconds, in the given unit. Quantiles are the upper
// bounds of their buckets, which are 9 % wide. The mean is never above the maximum.
func NativeSpreadOf(h *meter.Native, unit time.Duration) (s Spread) {
	n := h.Read()
	if n.Count == 0 {
		return s
	}
	scale, sum := float64(time.Second)/float64(unit), n.Zero
	at := [...]struct {
		q  float64
		to *float64
	}{{0.5, &s.P50}, {0.95, &s.P95}, {0.99, &s.P99}, {0.999, &s.P999}, {1, &s.Max}}
	for i, c := range n.Counts {
		before := sum
		sum += c
		for _, a := range at {
			if need := a.q * float64(n.Count); float64(before) < need && float64(sum) >= need {
				*a.to = math.Exp2(float64(n.Lowest+i)/(1<<meter.NativeSchema)) * scale
			}
		}
	}
	s.Mean = min(n.Sum/float64(n.Count)*scale, s.Max) // Sum may have some records more
	return s
}

// StageCosts summarises the stages. Stages are timed in some ticks only; each mean is scaled so
// that together they equal mean, that of all ticks in milliseconds.
func (s *Stats) StageCosts(mean float64) (all []StageCost) {
	sum := 0.0
	for i, st := range s.Stage {
		c := StageCost{Stage(i).String(), SpreadOf(st.Summary(), time.Millisecond)}
		sum += c.Mean
		all = append(all, c)
	}
	if sum > 0 {
		for i := range all {
			all[i].Mean *= mean / sum
		}
	}
	return all
}
