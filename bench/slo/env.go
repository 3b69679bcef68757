package slo

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// env is what an expression can name. Its types are the type check: lost(age) does not compile,
// because age is no lossy. Times are milliseconds.
type env struct {
	Period   float64 `expr:"period"`   // of a tick
	Interval float64 `expr:"interval"` // between two snapshots to one client
	Players  float64 `expr:"players"`

	Tick    ticks        `expr:"tick"`    // the longer of CPU and elapsed time, by quantile
	CPU     distribution `expr:"cpu"`     // CPU time of a tick
	Elapsed distribution `expr:"elapsed"` // wall time of a tick
	// CPU time of a tick at the full speed of the processor
	FullSpeed distribution `expr:"fullspeed"`
	Late      distribution `expr:"late"` // a tick's start after its schedule
	Age       distribution `expr:"age"`  // of the newest snapshot, when a client draws
	RTT       distribution `expr:"rtt"`
	Input     counter      `expr:"input"`
	Datagram  losses       `expr:"datagram"`
	Down      rate         `expr:"down"`
	Up        rate         `expr:"up"`
	Server    processor    `expr:"server"`

	P50   func(quantiles) float64 `expr:"p50"`
	P95   func(quantiles) float64 `expr:"p95"`
	P99   func(quantiles) float64 `expr:"p99"`
	P999  func(quantiles) float64 `expr:"p999"`
	Max   func(quantiles) float64 `expr:"max"`
	Mean  func(quantiles) float64 `expr:"mean"`
	Lost  func(lossy) float64     `expr:"lost"`
	Total func(countable) float64 `expr:"total"`
	Kbps  func(rate) float64      `expr:"kbps"`
	Cores func(processor) float64 `expr:"cores"`
	// CPU time as a multiple of that of the datagrams alone
	Floors func(floored) float64 `expr:"floors"`

	missing *[]string // figures that the expression read and nobody measured
}

// Each argument of a function has a type of its own, so that the compiler refuses wrong ones.
type (
	distribution struct {
		name string
		of   measure.Quantiles
	}
	counter struct{ lost, total float64 } // total 0: not measured
	losses  struct{ n float64 }
	rate    struct {
		name string
		kbps float64
	}
	processor struct{ cores, multiple float64 }
	ticks     struct {
		distribution
		counter
		multiple float64
	}

	quantiles interface {
		quantiles() (string, measure.Quantiles)
	}
	lossy interface {
		losses() (n float64, known bool)
	}
	countable interface{ all() float64 }
	floored   interface {
		floors() (of string, multiple float64)
	}
)

func (d distribution) quantiles() (string, measure.Quantiles) { return d.name, d.of }
func (c counter) losses() (float64, bool)                     { return c.lost, c.total > 0 }
func (c counter) all() float64                                { return c.total }
func (l losses) losses() (float64, bool)                      { return l.n, true }
func (t ticks) floors() (string, float64)                     { return "tick", t.multiple }
func (p processor) floors() (string, float64)                 { return "server", p.multiple }

// newEnv gives a step's figures to expressions. Where CPU or elapsed time was not measured, the
// tick counts as not measured either.
func newEnv(l Level, s measure.Step) env {
	cpu, wall, longer := s.TickCPUMillis, s.TickWallMillis, s.LongerTick()
	if cpu.P99 == 0 || wall.P99 == 0 {
		longer = measure.Quantiles{}
	}
	var floor measure.Floor // zero: not measured
	if s.Floor != nil {
		floor = *s.Floor
	}
	e := env{
		Period: l.PeriodMillis(), Interval: l.IntervalMillis(), Players: float64(s.Players),
		Tick: ticks{distribution{"tick", longer}, counter{float64(s.TicksSkipped),
			s.Duration.Seconds() * float64(l.TickHz)}, floor.Tick},
		CPU: distribution{"cpu", cpu}, Elapsed: distribution{"elapsed", wall},
		FullSpeed: distribution{"fullspeed", s.FullSpeedMillis}, Late: distribution{"late", s.LatenessMillis},
		Age: distribution{"age", s.SnapshotAgeMillis}, RTT: distribution{"rtt", s.RTTMillis},
		Input:    counter{float64(s.InputsLost), float64(s.InputsExpected)},
		Datagram: losses{float64(s.DatagramsLost)},
		Down:     rate{"down", s.KbpsDownPerClient}, Up: rate{"up", s.KbpsUpPerClient},
		Server:  processor{s.ServerCores, floor.Process},
		missing: new([]string),
	}
	e.functions()
	return e
}

// functions fills in the functions, which note what was not measured.
func (e *env) functions() {
	missing := e.missing
	known := func(x float64, call, of string) float64 {
		if !(x > 0) {
			*missing = append(*missing, fmt.Sprintf("%s(%s)", call, of))
		}
		return x
	}
	quantile := func(call string, of func(measure.Quantiles) float64) func(quantiles) float64 {
		return func(d quantiles) float64 {
			name, q := d.quantiles()
			return known(of(q), call, name)
		}
	}
	e.P50 = quantile("p50", func(q measure.Quantiles) float64 { return q.P50 })
	e.P95 = quantile("p95", func(q measure.Quantiles) float64 { return q.P95 })
	e.P99 = quantile("p99", func(q measure.Quantiles) float64 { return q.P99 })
	e.P999 = quantile("p999", func(q measure.Quantiles) float64 { return q.P999 })
	e.Max = quantile("max", func(q measure.Quantiles) float64 { return q.Max })
	e.Mean = quantile("mean", func(q measure.Quantiles) float64 { return q.Mean })
	e.Lost = func(l lossy) float64 {
		n, ok := l.losses()
		if !ok {
			*missing = append(*missing, "lost(input)")
		}
		return n
	}
	e.Total = func(c countable) float64 { return known(c.all(), "total", "input") }
	e.Kbps = func(r rate) float64 { return known(r.kbps, "kbps", r.name) }
	e.Cores = func(p processor) float64 { return known(p.cores, "cores", "server") }
	e.Floors = func(f floored) float64 {
		of, multiple := f.floors()
		return known(multiple, "floors", of)
	}
}
