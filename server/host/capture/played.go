package capture

import (
	"slices"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// played is what the marks say of the ticks of a lobby that were played together.
type played struct {
	span
	last   uint32 // tick of the match; the last of them
	stages [len(metrics.TickTimes{}.Stages)]time.Duration
	conns  []connsTime // in the order of the tick
}

// connsTime is the time of the snapshots of some connections, by slot: of one, unless they share a
// reading of the clock.
type connsTime struct {
	span
	slots []uint32
}

// playedOf returns the ticks of a lobby that the marks cover from begin to end, oldest first.
func playedOf(marks []mark, lobby uint32) (all []played) {
	var p *played
	var of []mark       // of the lobby alone
	var with [][]uint32 // by mark: slots that share the reading of a connection
	for _, m := range marks {
		if m.lobby != lobby {
			continue
		}
		switch m.kind {
		case kindStage, kindConn, kindTick:
			of, with = append(of, m), append(with, nil)
		case kindWith:
			if n := len(of); n > 0 && of[n-1].kind == kindConn {
				with[n-1] = m.slots(with[n-1])
			}
		}
	}
	stage := uint32(metrics.StageIdle)
	idle := len(marks) < maxMarks // the marks begin between two ticks
	for i, m := range of {
		switch m.kind {
		case kindTick:
			if p != nil {
				p.last = m.arg
				all = append(all, *p)
			}
			p, idle = nil, true
			continue
		case kindStage:
			stage = m.arg
		}
		if stage == uint32(metrics.StageIdle) {
			continue
		}
		if p == nil {
			if !idle {
				continue // its begin is not covered
			}
			p = &played{span: span{from: m.at}}
		}
		if i+1 < len(of) {
			p.add(m, with[i], stage, of[i+1].at)
		}
	}
	return all
}

// add adds the time from a mark within a stage to the next mark.
func (p *played) add(m mark, with []uint32, stage uint32, to time.Duration) {
	p.to = to
	p.stages[stage] += to - m.at
	if m.kind == kindConn {
		p.conns = append(p.conns, connsTime{span{m.at, to}, append([]uint32{m.arg}, with...)})
	}
}

// elapsed is the time from the first stage to the end of the last.
func (p *played) elapsed() time.Duration { return p.to - p.from }

// median is the median of a figure of some ticks, 0 of none.
func median(of []played, figure func(*played) time.Duration) time.Duration {
	all := make([]time.Duration, len(of))
	for i := range of {
		all[i] = figure(&of[i])
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// split returns the ticks that end with last, and all before them. ok is false if they are not among
// the marks.
func split(all []played, last uint32) (p played, before []played, ok bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].last == last {
			return all[i], all[:i], true
		}
	}
	return played{}, all, false
}
