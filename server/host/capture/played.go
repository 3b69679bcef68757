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
	conns  map[uint32]time.Duration // by slot: writing its snapshot
}

// playedOf returns the ticks of a lobby that the marks cover from begin to end, oldest first.
func playedOf(marks []mark, lobby uint32) (all []played) {
	var p *played
	var of []mark // of the lobby alone
	for _, m := range marks {
		if m.lobby == lobby && m.kind != kindReceive && m.kind != kindSend && m.kind != kindCall {
			of = append(of, m)
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
			p = &played{span: span{from: m.at}, conns: map[uint32]time.Duration{}}
		}
		if i+1 < len(of) {
			p.add(m, stage, of[i+1].at)
		}
	}
	return all
}

// add adds the time from a mark within a stage to the next mark.
func (p *played) add(m mark, stage uint32, to time.Duration) {
	p.to = to
	p.stages[stage] += to - m.at
	if m.kind == kindConn {
		p.conns[m.arg] += to - m.at
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
