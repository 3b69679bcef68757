package capture

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// The owners of a cause.
const (
	ownerMachine = "machine"   // the thread should have run and did not
	ownerGC      = "gc"        // the garbage collector had stopped the world
	ownerBlocked = "blocked"   // the thread waited in a stage: for a lock, a page or a timer
	ownerStage   = "stage"     // a stage took more CPU time than usual
	ownerBehind  = "behind"    // earlier ticks, or other lobbies of the worker, were in the way
	ownerLoad    = "load"      // nothing was unusual: all ticks take so long
	notCovered   = "not known" // the marks do not cover the tick
)

// Cause is what kept a tick from its deadline.
type Cause struct {
	Owner string     `json:"owner"`           // machine, gc, blocked, stage, behind or load
	Stage string     `json:"stage,omitempty"` // of the tick, with the most time above its median
	Conn  *ConnShare `json:"connection,omitempty"`
	Text  string     `json:"text"` // a sentence
	Parts Parts      `json:"parts_ms"`
}

// Parts are the times that add up to the lateness of a tick and what it took beyond the usual, in
// milliseconds. Those of one moment are in one part only.
type Parts struct {
	Machine float64 `json:"machine"`
	GC      float64 `json:"gc"`
	Blocked float64 `json:"blocked"`
	Stage   float64 `json:"stage"`
	Behind  float64 `json:"behind"`
}

// disturbances are what happened to the whole process, by the clock of the Recorder.
type disturbances struct {
	pauses  []span // of the garbage collector
	hiccups []span // of a thread that only sleeps
}

// parts divides the time of the captured tick. usual is the median of what a tick takes.
func (e *evidence) parts(usual time.Duration, d disturbances) (machine, gc, blocked, stage, behind time.Duration) {
	k, r := &e.tick, &e.round
	ended := r.began + r.elapsed
	wait, work := span{r.began - k.Late, r.began}, span{r.began, ended}
	// before the tick
	late := min(r.woke, k.Late)
	gcWait := min(overlap(d.pauses, wait), late)
	machine, gc, behind = late-gcWait, gcWait, k.Late-late
	// within it, the thread did not run for off
	off := max(0, r.elapsed-r.cpu)
	waited := min(off, r.runDelay)
	off -= waited
	stopped := min(off, overlap(d.pauses, work))
	off -= stopped
	held := min(off, overlap(d.hiccups, work))
	machine, gc, blocked = machine+waited+held, gc+stopped, off-held
	return machine, gc, blocked, max(0, r.cpu-usual), behind
}

// cause names what kept the tick from its deadline: the largest part, unless even that is less than a
// quarter of the tick and its lateness. p are the ticks that were captured, before are
// those before them.
func (e *evidence) cause(p *played, before []played, d disturbances) (c Cause) {
	usual := median(before, (*played).elapsed)
	machine, gc, blocked, stage, behind := e.parts(usual, d)
	c.Parts = Parts{millis(machine), millis(gc), millis(blocked), millis(stage), millis(behind)}
	worst, above := worstStage(p, before)
	c.Stage = worst.String()
	total := e.tick.Late + e.round.elapsed
	switch most := max(machine, gc, blocked, stage, behind); {
	case most < total/4:
		c.Owner = ownerLoad
		c.Text = fmt.Sprintf("Nothing was unusual: the median tick takes %.1f ms of a period of %.1f ms.",
			millis(usual), millis(e.tick.Period))
	case most == machine:
		c.Owner, c.Stage = ownerMachine, ""
		c.Text = fmt.Sprintf("The machine did not run the thread for %.1f ms.", millis(machine))
	case most == gc:
		c.Owner, c.Stage = ownerGC, ""
		c.Text = fmt.Sprintf("The garbage collector stopped the process for %.1f ms.", millis(gc))
	case most == behind:
		c.Owner, c.Stage = ownerBehind, ""
		c.Text = fmt.Sprintf("Earlier ticks, or other lobbies of the worker, delayed it by %.1f ms.",
			millis(behind))
	case most == blocked:
		c.Owner = ownerBlocked
		c.Text = fmt.Sprintf("The thread waited for %.1f ms, most of it in stage %s.", millis(blocked), worst)
	default:
		c.Owner = ownerStage
		c.Text = fmt.Sprintf("Stage %s took %.1f ms more than its median.", worst, millis(above))
	}
	if c.Stage != "" {
		c.Conn = e.worstConn(p, above)
	}
	return c
}

// worstStage is the stage that took the most time above its median, and how much above.
func worstStage(p *played, before []played) (worst metrics.Stage, above time.Duration) {
	for s := range metrics.Stage(metrics.NumStages) {
		if d := p.stages[s] - stageMedian(before, s); d > above || s == 0 {
			worst, above = s, d
		}
	}
	return worst, above
}

func stageMedian(of []played, s metrics.Stage) time.Duration {
	return median(of, func(p *played) time.Duration { return p.stages[s] })
}

// worstConn is the connection that made the worst stage slow, nil unless it took half of the time
// above the median.
func (e *evidence) worstConn(p *played, above time.Duration) *ConnShare {
	if slowest := e.slowest(p, 1); len(slowest) > 0 && slowest[0].Micros >= micros(above)/2 {
		return &slowest[0]
	}
	return nil
}
