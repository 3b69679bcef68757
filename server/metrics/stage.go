package metrics

import (
	"time"

	"github.com/tickrate/tickrate/internal/stage"
	"github.com/tickrate/tickrate/sim"
)

// Stage is a part of a tick with CPU time of its own: a station of the pipeline, or one system of
// the match. Its name is of the table in package internal/stage, or that of the system.
type Stage int

// The stages that come before the systems of the match, in the order of the tick.
const (
	StageReceive Stage = iota // system calls, messages and commands
	StageOpen                 // decryption of datagrams, and handshakes
	StageSystems              // the first of sim.Systems; the others follow
)

// The stages that come after the systems of the match.
var (
	StageCapture = StageSystems + Stage(len(sim.Systems())) // structural changes and the frame
	// Interest, deltas, compression and packets.
	StageSnapshot = StageCapture + 1
	StageSeal     = StageCapture + 2   // encryption of datagrams
	StageSend     = StageCapture + 3   // system calls
	StageIdle     = StageCapture + 4   // between ticks; not measured
	NumStages     = int(StageSend) + 1 // how many are measured
)

// String names the stage.
func (s Stage) String() string {
	switch {
	case s >= StageSystems && s < StageCapture:
		return sim.Systems()[s-StageSystems].Name
	case s == StageReceive:
		return stage.Receive
	case s == StageOpen:
		return stage.Open
	case s == StageCapture:
		return stage.Capture
	case s == StageSnapshot:
		return stage.Snapshot
	case s == StageSeal:
		return stage.Seal
	case s == StageSend:
		return stage.Send
	case s == StageIdle:
		return stage.Idle
	}
	return "?"
}

// maxStages bounds NumStages, with room for the systems of more kinds, so that a tick's times need
// no allocation.
const maxStages = 32

// TickTimes are the CPU times of one tick.
type TickTimes struct {
	CPU    time.Duration
	Timed  bool                     // Stages were measured
	Stages [maxStages]time.Duration // by Stage
}

// The stages are timed in one tick of timeEvery on average, or of watchedEvery while the live page
// is open: two clocks for each stage take 6 % of a tick of 500 players, and more of a small one.
const (
	timeEvery    = 16
	watchedEvery = 4
)

// TickTimer measures ticks: all of a tick always unless it is sparse, its stages in some of them. Set
// the exported fields before the first tick. It belongs to the goroutine of its lobby.
type TickTimer struct {
	CPU     func() time.Duration // CPU time of the calling thread; required
	Wall    func() time.Duration // time elapsed; nil: only CPU time is measured
	OnStage func(Stage)          // told when a stage begins; required
	Off     bool                 // measures nothing and calls nothing
	Sparse  bool                 // measures only the ticks whose stages are timed

	sampler Sampler
	times   TickTimes
	stage   Stage // that is running
	begin   instant
	last    instant
	wall    [maxStages]time.Duration
}

// instant is one reading of both clocks.
type instant struct{ cpu, wall time.Duration }

// NewTickTimer returns a timer that times the stages of the first tick and of one in 16 after it.
func NewTickTimer(cpu, wall func() time.Duration, onStage func(Stage)) TickTimer {
	return TickTimer{CPU: cpu, Wall: wall, OnStage: onStage, sampler: NewSampler(timeEvery, samplerSeed)}
}

// Seed starts the sequence of timed ticks that belongs to a lobby, so that lobbies which are made
// together time different ticks. Call it before the first tick.
func (t *TickTimer) Seed(lobby uint32) {
	t.sampler = NewSampler(t.sampler.Every, samplerSeed*(2*uint64(lobby)+1))
}

// Watched times stages more often while the live page has readers.
func (t *TickTimer) Watched(on bool) {
	every := timeEvery
	if on {
		every = watchedEvery
	}
	if every != t.sampler.Every {
		t.sampler.Reset(every)
	}
}

// Last returns the times of the newest tick that was measured.
func (t *TickTimer) Last() *TickTimes { return &t.times }

// Begin starts a tick in StageReceive.
func (t *TickTimer) Begin() {
	if t.Off {
		return
	}
	t.times.Timed = t.sampler.Due()
	measured := t.times.Timed || !t.Sparse
	if measured {
		t.begin.cpu = t.CPU()
	}
	t.stage = StageReceive
	t.OnStage(StageReceive)
	if t.times.Timed {
		t.times.Stages, t.wall = [maxStages]time.Duration{}, [maxStages]time.Duration{}
	}
	if measured && t.Wall != nil {
		t.begin.wall = t.Wall()
	}
	t.last = t.begin
}

// Enter ends the stage that is running and begins s. A stage may run several times in a tick.
func (t *TickTimer) Enter(s Stage) {
	if t.Off {
		return
	}
	if t.times.Timed {
		cpu := t.CPU()
		t.times.Stages[t.stage] += cpu - t.last.cpu
		t.last.cpu = cpu
		if t.Wall != nil {
			wall := t.Wall()
			t.wall[t.stage] += wall - t.last.wall
			t.last.wall = wall
		}
		t.stage = s
	}
	t.OnStage(s)
}

// End ends the tick and records its times.
func (t *TickTimer) End(s *Stats) {
	if t.Off {
		return
	}
	t.Enter(StageIdle)
	if !t.times.Timed && t.Sparse {
		return
	}
	if !t.times.Timed {
		t.last.cpu = t.CPU()
	}
	t.times.CPU = t.last.cpu - t.begin.cpu
	s.Tick.Record(int64(t.times.CPU))
	s.TickCPU.Record(int64(t.times.CPU))
	if t.Wall != nil {
		s.TickWall.Record(int64(t.Wall() - t.begin.wall))
	}
	if !t.times.Timed {
		return
	}
	for i := range s.Stage {
		s.Stage[i].Record(int64(t.times.Stages[i]))
		s.StageCPU[i].Record(int64(t.times.Stages[i]))
		if t.Wall != nil {
			s.StageWall[i].Record(int64(t.wall[i]))
		}
	}
}
