package capture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tickrate/tickrate/server/metrics"
)

// timeline makes the captured ticks and those before them a trace for Perfetto: for each lobby of
// the thread a track of its ticks, and below it one for each stage; system calls; what disturbed the
// process. In the captured tick the snapshots of connections lie within their stage, by name.
func (e *evidence) timeline(marks []mark, d disturbances) []byte {
	var p perfetto
	captured, _, _ := split(playedOf(marks, e.tick.Lobby.id), uint32(e.tick.Last))
	for _, id := range lobbiesOf(marks) {
		e.drawLobby(&p, marks, id, &captured)
	}
	drawCalls(&p, marks)
	begin := beginOf(marks)
	for _, of := range []struct {
		name, slice string
		spans       []span
	}{
		{"garbage collections", "stop the world", d.pauses},
		{"machine hiccups", "an idle thread woke late", d.hiccups},
	} {
		track := p.track(0, of.name)
		slices.SortFunc(of.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		for _, s := range of.spans {
			if s.to >= begin {
				p.slice(track, of.slice, s)
			}
		}
	}
	return p.trace
}

// beginOf is the instant of the first mark that has one.
func beginOf(marks []mark) time.Duration {
	for _, m := range marks {
		if m.kind != kindWith {
			return m.at
		}
	}
	return math.MaxInt64
}

// lobbiesOf are the lobbies that have stages among the marks, in the order of their IDs.
func lobbiesOf(marks []mark) (all []uint32) {
	seen := map[uint32]bool{}
	for _, m := range marks {
		if m.kind == kindStage && !seen[m.lobby] {
			seen[m.lobby], all = true, append(all, m.lobby)
		}
	}
	slices.Sort(all)
	return all
}

// drawLobby draws the ticks of a lobby and their stages.
func (e *evidence) drawLobby(p *perfetto, marks []mark, id uint32, captured *played) {
	name := fmt.Sprintf("lobby %d", id)
	if id == Port {
		name = "port"
	}
	lobby := p.track(0, name)
	for _, t := range playedOf(marks, id) {
		p.slice(lobby, fmt.Sprintf("tick %d", t.last), t.span)
	}
	tracks := make([]uint64, metrics.StageIdle) // 0: not made yet
	var of []mark
	for _, m := range marks {
		if m.lobby == id && m.kind == kindStage {
			of = append(of, m)
		}
	}
	for i := range len(of) - 1 {
		stage, s := metrics.Stage(of[i].arg), span{of[i].at, of[i+1].at}
		if stage == metrics.StageIdle {
			continue
		}
		if tracks[stage] == 0 {
			tracks[stage] = p.track(lobby, stage.String())
		}
		p.begin(tracks[stage], stage.String(), s)
		if id == e.tick.Lobby.id && s.from >= captured.from && s.to <= captured.to {
			e.drawConns(p, tracks[stage], captured.conns, s)
		}
		p.end(tracks[stage], s)
	}
}

// drawConns draws the snapshots of connections within a stage.
func (e *evidence) drawConns(p *perfetto, track uint64, conns []connsTime, in span) {
	for _, c := range conns {
		if c.from < in.from || c.to > in.to {
			continue
		}
		first := e.conn(int(c.slots[0]))
		name := cmp.Or(first.Name, fmt.Sprintf("slot %d", first.Slot))
		if n := len(c.slots) - 1; n > 0 {
			name += fmt.Sprintf(" and %d more", n)
		}
		p.slice(track, name, c.span, note{"slot", uint64(first.Slot)})
	}
}

// drawCalls draws the batches of datagrams that passed system calls.
func drawCalls(p *perfetto, marks []mark) {
	track, begun := p.track(0, "system calls"), mark{}
	for _, m := range marks {
		switch m.kind {
		case kindReceive, kindSend:
			begun = m
		case kindCall:
			name := map[kind]string{kindReceive: "receive", kindSend: "send"}[begun.kind]
			if name != "" {
				p.slice(track, name, span{begun.at, m.at}, note{"datagrams", uint64(m.arg)})
			}
			begun = mark{}
		}
	}
}
