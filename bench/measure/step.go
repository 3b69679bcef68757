package measure

import (
	"math"
	"slices"
)

// Quantiles sums up one measured quantity. The field that holds it names the unit.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// QuantilesOf sums up values. It sorts them.
func QuantilesOf(values []float64) (q Quantiles) {
	if len(values) == 0 {
		return q
	}
	slices.Sort(values)
	at := func(p float64) float64 { return values[min(int(p*float64(len(values))), len(values)-1)] }
	for _, v := range values {
		q.Mean += v / float64(len(values))
	}
	q.P50, q.P95, q.P99, q.P999, q.Max = at(0.5), at(0.95), at(0.99), at(0.999), values[len(values)-1]
	return q
}

// Times is q in another unit.
func (q Quantiles) Times(by float64) Quantiles {
	return Quantiles{q.P50 * by, q.P95 * by, q.P99 * by, q.P999 * by, q.Max * by, q.Mean * by}
}

// Stage is the CPU time of one stage of the tick. The field that holds it names the unit.
type Stage struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean"`
	P99  float64 `json:"p99"`
}

// RunDelay is the run delay of the swarm's thread: time in which the machine ran something else.
type RunDelay struct {
	Millis        float64 `json:"ms"`
	Bursts        uint64  `json:"bursts"` // delays of half a millisecond or more
	LongestMillis float64 `json:"longest_ms"`
}

// Step is what was measured at one lobby size. Objective.Judge sets Pass and Failed; the runner
// sets everything else.
type Step struct {
	Players int `json:"players"`
	// Number of the repeat at the knee; 0: a step of the search.
	Repeat   int  `json:"repeat,omitempty"`
	Duration Span `json:"duration_ms"` // measured; without the warm-up

	TickCPUMillis  Quantiles `json:"tick_cpu_ms"`
	TickWallMillis Quantiles `json:"tick_wall_ms"`
	StageCPUMillis []Stage   `json:"stage_cpu_ms"` // in the order of the tick
	// How many times as long as at full speed work takes on the server's processor, and the CPU time of
	// a tick divided by that; zero: not measured.
	Slowdown        Quantiles `json:"slowdown,omitzero"`
	FullSpeedMillis Quantiles `json:"tick_cpu_full_speed_ms,omitzero"`
	// Start of a tick after its scheduled instant; skipped ticks count as late.
	LatenessMillis Quantiles `json:"lateness_ms"`
	LatenessRaw    Quantiles `json:"lateness_raw_ms"` // without skipped ticks
	// Wake-up delays of an idle thread on the server's processor.
	HiccupMillis  Quantiles `json:"hiccup_ms"`
	SwarmHiccup   Quantiles `json:"swarm_hiccup_ms"`   // likewise on the swarm's
	SwarmLateness Quantiles `json:"swarm_lateness_ms"` // of its sends; skipped ones count as late
	SwarmRaw      Quantiles `json:"swarm_lateness_raw_ms"`
	// Corrected for run delay; zero: not known.
	SwarmCorrected Quantiles `json:"swarm_lateness_corrected_ms,omitzero"`
	// Run delay; nil: not known.
	SwarmRunDelay *RunDelay `json:"swarm_run_delay,omitempty"`
	// CPU seconds a second of the thread that drives the swarm and its backup: about 1 at most.
	SwarmCores float64 `json:"swarm_cores,omitempty"`
	Lobbies    int     `json:"lobbies,omitempty"` // 0 means one
	// Server processes; several lobbies in one share its loop and its UDP port. 0: one for each lobby.
	Processes int `json:"processes,omitempty"`
	// Time elapsed in a call of a loop, which plays the lobbies of a phase; none: lobbies do not share.
	LoopCallMillis []Quantiles `json:"loop_call_ms,omitempty"`
	// CPU seconds a second of all server processes, system calls included.
	ServerCores float64 `json:"server_cores"`
	// Resident, of all server processes.
	MemoryBytes float64 `json:"memory_bytes"`

	// Of one lobby, as the times of ticks and stages are.
	DatagramsInPerTick  float64 `json:"datagrams_in_per_tick"`
	DatagramsOutPerTick float64 `json:"datagrams_out_per_tick"`
	// Player ticks that ran with the player's own command.
	CommandsPerTick  float64 `json:"commands_per_tick"`
	SnapshotsPerTick float64 `json:"snapshots_per_tick"`

	KbpsDownPerClient float64   `json:"kbps_down_per_client"` // UDP payload, 1000 bit/s
	KbpsUpPerClient   float64   `json:"kbps_up_per_client"`
	SnapshotAgeMillis Quantiles `json:"snapshot_age_ms"`
	RTTMillis         Quantiles `json:"rtt_ms"`

	// Of one server process; zero: not known.
	Traffic Traffic `json:"traffic,omitzero"`
	// Of the same datagrams, measured right after the step; nil: not asked for.
	Floor *Floor `json:"floor,omitempty"`

	// Of all server processes; nil: not counted, the plan's setting "hardware counters" says why.
	Events *Events `json:"events,omitempty"`

	// Account of what a sample of the clients received; nil: none.
	Bytes *Bytes `json:"bytes,omitempty"`

	InputsExpected uint64 `json:"inputs_expected"`
	// Missed by the server although they were sent in time, counted for each player.
	InputsLost    uint64 `json:"inputs_lost"`
	InputsLate    uint64 `json:"inputs_late"` // sent too late for the server
	DatagramsLost uint64 `json:"datagrams_lost"`

	TicksSkipped uint64 `json:"ticks_skipped"` // skipped after a stall
	// Why nothing was measured, if the server is to blame.
	Fault         string  `json:"fault,omitempty"`
	AllocsPerTick float64 `json:"allocs_per_tick"`
	GCs           uint64  `json:"gcs"` // garbage collections

	// Sends of the swarm that were over half a tick late, or skipped.
	SwarmLate  uint64 `json:"swarm_late"`
	Void       bool   `json:"void"` // the step says nothing about the server
	VoidReason string `json:"void_reason,omitempty"`
	Stalled    bool   `json:"machine_stalled,omitempty"` // void because the machine stalled
	// Void because its figures are wrong: the swarm and the machine are not to blame.
	Invalid bool     `json:"invalid,omitempty"`
	Pass    bool     `json:"pass"`
	Failed  []string `json:"failed"` // terms of the service level that were missed
	// Why it failed by elapsed time although its CPU time holds the level; "": it did not.
	Cause string `json:"cause,omitempty"`

	// Ticks that the servers have written down, of a step that fails or in which the machine stalled.
	Captures []Capture `json:"captures,omitempty"`

	Agents []Agent `json:"agents,omitempty"` // that played; none: a swarm beside the runner
}

// Capture is a tick that a server has written down: a folder within that of plan --capture, and why
// the tick was late, in a sentence.
type Capture struct {
	Folder string `json:"folder"`
	Cause  string `json:"cause"`
}

// Agent is what a step found about one of the machines that played its players.
type Agent struct {
	Name    string `json:"name"`
	Players int    `json:"players"`
	// How far its clock was ahead, and by how much that is wrong at most.
	ClockMillis      float64  `json:"clock_ms"`
	ClockBoundMillis float64  `json:"clock_bound_ms"`
	Wrong            string   `json:"wrong,omitempty"`
	Stands           []string `json:"stands"` // figures that stand for its players
}

// LongerTick is, for each quantile, the longer of the CPU and the elapsed time of ticks, in
// milliseconds: what service levels call tick.
func (s *Step) LongerTick() Quantiles {
	c, w := s.TickCPUMillis, s.TickWallMillis
	return Quantiles{P50: max(c.P50, w.P50), P95: max(c.P95, w.P95), P99: max(c.P99, w.P99),
		P999: max(c.P999, w.P999), Max: max(c.Max, w.Max), Mean: max(c.Mean, w.Mean)}
}

// Finite returns s with every number that JSON cannot hold (NaN, infinities) set to 0. A step with
// such a number is void. Lists that change are copied.
func (s Step) Finite() Step {
	bad := ""
	mend := func(x *float64, name string) {
		if math.IsNaN(*x) || math.IsInf(*x, 0) {
			*x, bad = 0, name
		}
	}
	quantiles := func(q *Quantiles, name string) {
		for _, x := range []*float64{&q.P50, &q.P95, &q.P99, &q.P999, &q.Max, &q.Mean} {
			mend(x, name)
		}
	}
	quantiles(&s.TickCPUMillis, "tick_cpu_ms")
	quantiles(&s.TickWallMillis, "tick_wall_ms")
	quantiles(&s.LatenessMillis, "lateness_ms")
	quantiles(&s.LatenessRaw, "lateness_raw_ms")
	quantiles(&s.HiccupMillis, "hiccup_ms")
	quantiles(&s.SwarmHiccup, "swarm_hiccup_ms")
	quantiles(&s.SwarmLateness, "swarm_lateness_ms")
	quantiles(&s.SwarmRaw, "swarm_lateness_raw_ms")
	quantiles(&s.SwarmCorrected, "swarm_lateness_corrected_ms")
	quantiles(&s.SnapshotAgeMillis, "snapshot_age_ms")
	quantiles(&s.RTTMillis, "rtt_ms")
	mend(&s.ServerCores, "server_cores")
	mend(&s.SwarmCores, "swarm_cores")
	mend(&s.MemoryBytes, "memory_bytes")
	mend(&s.DatagramsInPerTick, "datagrams_in_per_tick")
	mend(&s.DatagramsOutPerTick, "datagrams_out_per_tick")
	mend(&s.KbpsDownPerClient, "kbps_down_per_client")
	mend(&s.KbpsUpPerClient, "kbps_up_per_client")
	mend(&s.CommandsPerTick, "commands_per_tick")
	mend(&s.SnapshotsPerTick, "snapshots_per_tick")
	mend(&s.AllocsPerTick, "allocs_per_tick")
	s.StageCPUMillis = append([]Stage(nil), s.StageCPUMillis...)
	for i := range s.StageCPUMillis {
		mend(&s.StageCPUMillis[i].Mean, "stage_cpu_ms")
		mend(&s.StageCPUMillis[i].P99, "stage_cpu_ms")
	}
	if bad != "" {
		s.Void, s.Invalid, s.Pass = true, true, false
		s.VoidReason = bad + " was not a finite number"
	}
	return s
}
