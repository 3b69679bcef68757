package measure

import (
	"math"
	"slices"
	"time"
)

// Quantiles sums up one measured quantity; the unit stands in the name of the field that holds it.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// QuantilesOf sums up values, which it sorts.
func QuantilesOf(values []float64) (q Quantiles) {
	if len(values) == 0 {
		return q
	}
	slices.Sort(values)
	at := func(p float64) float64 { return values[min(int(p*float64(len(values))), len(values)-1)] }
	for _, v := range values {
		q.Mean += v / float64(len(values))
	}
	q.P50, q.P99, q.P999, q.Max = at(0.5), at(0.99), at(0.999), values[len(values)-1]
	return q
}

// Times is q in another unit.
func (q Quantiles) Times(by float64) Quantiles {
	return Quantiles{q.P50 * by, q.P99 * by, q.P999 * by, q.Max * by, q.Mean * by}
}

// Stage is the CPU time that one station of the tick took, in microseconds a tick.
type Stage struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	P99  float64 `json:"p99"`
}

// Taken is what the machine took from the swarm's thread while it wanted to run.
type Taken struct {
	Millis        float64 `json:"ms"`
	Bursts        uint64  `json:"bursts"` // times that it took half a millisecond or more at once
	LongestMillis float64 `json:"longest_ms"`
}

// Step is what was measured at one lobby size. Objective.Judge sets Pass and Failed; the runner sets everything else.
type Step struct {
	Players  int           `json:"players"`
	Repeat   int           `json:"repeat,omitempty"` // number of the repeat at the knee; 0: a step of the search
	Duration time.Duration `json:"duration_ns"`      // measured time, warm-up left out

	TickCPUMillis  Quantiles `json:"tick_cpu_ms"`
	TickWallMillis Quantiles `json:"tick_wall_ms"`
	StageCPUMicros []Stage   `json:"stage_cpu_us"`      // in the order of the tick
	LatenessMicros Quantiles `json:"lateness_us"`       // a tick's begin, from its scheduled time, with the ticks that were given up
	LatenessRaw    Quantiles `json:"lateness_raw_us"`   // of the ticks that were played alone
	HiccupMicros   Quantiles `json:"hiccup_us"`         // what the machine took on the server's processor: how late a thread woke that only sleeps
	SwarmHiccup    Quantiles `json:"swarm_hiccup_us"`   // likewise in the swarm's process
	SwarmLateness  Quantiles `json:"swarm_lateness_us"` // its sends, with those that it skipped
	SwarmRaw       Quantiles `json:"swarm_lateness_raw_us"`
	SwarmOwn       Quantiles `json:"swarm_lateness_own_us,omitzero"` // what swarm_lateness_us would be had the machine taken nothing from it; zero where that is not known
	SwarmTaken     *Taken    `json:"swarm_taken,omitempty"`          // nil likewise
	Lobbies        int       `json:"lobbies,omitempty"`              // 0 means one
	ServerCores    float64   `json:"server_cores"`                   // CPU seconds a second of all server processes, system calls included
	MemoryMB       float64   `json:"memory_mb"`                      // resident, of all server processes

	// Of one lobby, as the times of ticks and stages are.
	DatagramsInPerTick  float64 `json:"datagrams_in_per_tick"`
	DatagramsOutPerTick float64 `json:"datagrams_out_per_tick"`
	CommandsPerTick     float64 `json:"commands_per_tick"` // player ticks that ran with the player's own command
	SnapshotsPerTick    float64 `json:"snapshots_per_tick"`

	KbpsDownPerClient float64   `json:"kbps_down_per_client"` // UDP payload, 1000 bit/s
	KbpsUpPerClient   float64   `json:"kbps_up_per_client"`
	SnapshotAgeMillis Quantiles `json:"snapshot_age_ms"`
	RTTMillis         Quantiles `json:"rtt_ms"`

	Bytes *Bytes `json:"bytes,omitempty"` // what went down to a sample of the clients

	InputsExpected uint64 `json:"inputs_expected"`
	InputsLost     uint64 `json:"inputs_lost"` // missed by the server, less those that the swarm made too late
	InputsLate     uint64 `json:"inputs_late"` // made so late by the swarm that the server may have missed them
	DatagramsLost  uint64 `json:"datagrams_lost"`

	TicksGivenUp  uint64  `json:"ticks_given_up"`  // abandoned after stalls too long to make up for
	Fault         string  `json:"fault,omitempty"` // why nothing could be measured, where the server was at fault
	AllocsPerTick float64 `json:"allocs_per_tick"`
	GCs           uint64  `json:"gcs"` // collections begun while measuring

	SwarmLate  uint64   `json:"swarm_late"` // turns of players in the swarm's schedule that were over half a tick late, or left out
	Void       bool     `json:"void"`       // the swarm or the machine, not the server, was found wanting
	VoidReason string   `json:"void_reason,omitempty"`
	Pass       bool     `json:"pass"`
	Failed     []string `json:"failed"` // the terms of the service level that did not hold, in words
}

// Finite returns s with every number that JSON cannot hold (NaN, infinities) set to 0; such a step is void, and says
// so. The lists of s are copied where they change.
func (s Step) Finite() Step {
	bad := ""
	mend := func(x *float64, name string) {
		if math.IsNaN(*x) || math.IsInf(*x, 0) {
			*x, bad = 0, name
		}
	}
	quantiles := func(q *Quantiles, name string) {
		for _, x := range []*float64{&q.P50, &q.P99, &q.P999, &q.Max, &q.Mean} {
			mend(x, name)
		}
	}
	quantiles(&s.TickCPUMillis, "tick_cpu_ms")
	quantiles(&s.TickWallMillis, "tick_wall_ms")
	quantiles(&s.LatenessMicros, "lateness_us")
	quantiles(&s.LatenessRaw, "lateness_raw_us")
	quantiles(&s.HiccupMicros, "hiccup_us")
	quantiles(&s.SwarmHiccup, "swarm_hiccup_us")
	quantiles(&s.SwarmLateness, "swarm_lateness_us")
	quantiles(&s.SwarmRaw, "swarm_lateness_raw_us")
	quantiles(&s.SwarmOwn, "swarm_lateness_own_us")
	quantiles(&s.SnapshotAgeMillis, "snapshot_age_ms")
	quantiles(&s.RTTMillis, "rtt_ms")
	mend(&s.ServerCores, "server_cores")
	mend(&s.MemoryMB, "memory_mb")
	mend(&s.DatagramsInPerTick, "datagrams_in_per_tick")
	mend(&s.DatagramsOutPerTick, "datagrams_out_per_tick")
	mend(&s.KbpsDownPerClient, "kbps_down_per_client")
	mend(&s.KbpsUpPerClient, "kbps_up_per_client")
	mend(&s.CommandsPerTick, "commands_per_tick")
	mend(&s.SnapshotsPerTick, "snapshots_per_tick")
	mend(&s.AllocsPerTick, "allocs_per_tick")
	s.StageCPUMicros = append([]Stage(nil), s.StageCPUMicros...)
	for i := range s.StageCPUMicros {
		mend(&s.StageCPUMicros[i].Mean, "stage_cpu_us")
		mend(&s.StageCPUMicros[i].P99, "stage_cpu_us")
	}
	if bad != "" {
		s.Void, s.Pass = true, false
		s.VoidReason = bad + " was not a finite number"
	}
	return s
}
