package server

import (
	"time"

	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
)

// Stage is a part of a tick whose CPU time is kept apart: a station of the circle, or one of the match's systems.
type Stage int

// The stages, in the order of the tick.
const (
	StageReceive Stage = iota // socket -> packet -> command
	StageSystems              // the first of sim.Systems; the others follow
)

// The stages behind the systems.
var (
	StageCapture  = StageSystems + Stage(len(sim.Systems())) // structural changes and the frame
	StageSnapshot = StageCapture + 1                         // delta, compression, packets
	StageSend     = StageCapture + 2                         // system calls
	StageIdle     = StageCapture + 3                         // between ticks; not measured
	Stages        = int(StageSend) + 1
)

// String names the stage as profiles and tables do.
func (s Stage) String() string {
	switch {
	case s == StageReceive:
		return "receive"
	case s >= StageSystems && s < StageCapture:
		return sim.Systems()[s-StageSystems].Name
	case s == StageCapture:
		return "capture"
	case s == StageSnapshot:
		return "snapshot"
	case s == StageSend:
		return "send"
	case s == StageIdle:
		return "idle"
	}
	return "?"
}

// Count names one of a lobby's counters. Counters only grow.
type Count int

// The counters. Received is Accepted plus the sum of all drops, always.
const (
	Received      Count = iota // datagrams in
	Accepted                   // datagrams in that were not dropped
	BytesIn                    // UDP payload in
	Sent                       // datagrams out
	BytesOut                   // UDP payload out
	InputsUsed                 // player ticks that ran with the player's own command
	InputsMissing              // player ticks that ran without
	Shots
	Clamped // shots whose claimed view was moved into what the server knows to be possible
	Hits
	Kills
	EventsRefused // events that a peer's full queue did not take
	Joined
	Left
	TimedOut
	Resyncs   // clients that lost their baselines and start anew
	Snapshots // snapshots sent; with the next two, all that were due
	Throttled // snapshots not sent because the client's bucket was empty: a later one tells what they would have
	Choked    // likewise because the client is not heard
	NumCounts // how many there are
)

var countNames = [NumCounts]string{"rx_datagrams", "rx_accepted", "rx_bytes", "tx_datagrams", "tx_bytes", "inputs_used",
	"inputs_missing", "shots", "shots_clamped", "hits", "kills", "events_refused", "joined", "left", "timed_out", "resyncs",
	"snapshots", "snapshots_throttled", "snapshots_choked"}

// String is the counter's name in reports.
func (c Count) String() string { return countNames[c] }

// Stats are a lobby's figures. They may be read from any goroutine.
type Stats struct {
	Tick  *meter.Histogram   // CPU time of a tick, ns
	Stage []*meter.Histogram // CPU time by stage, ns
	Count [NumCounts]meter.Counter
	Drops [wire.NumDrops]meter.Counter // datagrams in that were dropped, by reason
}

// tickHighest is the longest tick that the histograms tell apart: a second.
const tickHighest = int64(time.Second)

func (s *Stats) init() {
	s.Tick = meter.NewHistogram(tickHighest)
	s.Stage = make([]*meter.Histogram, Stages)
	for i := range s.Stage {
		s.Stage[i] = meter.NewHistogram(tickHighest)
	}
}

// lap measures one tick's stages.
type lap struct {
	cfg         *Config
	begin, last time.Duration
	now         Stage
	stage       [24]time.Duration
}

func (l *Lobby) lap() lap {
	at := l.cfg.CPU()
	l.cfg.Enter(StageReceive)
	return lap{cfg: &l.cfg, begin: at, last: at}
}

// enter ends the stage that is running and begins stage s, which may have run before in this tick.
func (p *lap) enter(s Stage) {
	at := p.cfg.CPU()
	p.stage[p.now] += at - p.last
	p.last, p.now = at, s
	p.cfg.Enter(s)
}

func (p *lap) done(s *Stats) {
	p.enter(StageIdle)
	for i, h := range s.Stage {
		h.Record(int64(p.stage[i]))
	}
	s.Tick.Record(int64(p.last - p.begin))
}
