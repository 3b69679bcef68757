package dst

import (
	"errors"

	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// plant panics in the stage of a lobby that is to panic.
func (l *hosted) plant(s metrics.Stage) {
	if l.panics && s == l.stage {
		l.hash = l.tornHash(l.Lobby.Match())
		panic(plantedPanic)
	}
}

// tornHash is a hash of a match that may be within a tick, with the players that it has by then.
func (l *hosted) tornHash(m *sim.Match) uint64 {
	return traceHash(m, appendPlayers(nil, m), l.wire.scratch[:0])
}

// checkFlight checks that what a lobby that has panicked leaves plays to the same panic, or to the same
// match if the panic was not in a tick of the match.
func (h *host) checkFlight(l *hosted) {
	m, flight := l.Lobby.Match(), l.Lobby.EndFlight()
	if flight == nil {
		h.fail(ReplayFile, "lobby %d panics in tick %d and leaves nothing", l.id, m.Tick())
		return
	}
	system := int(l.stage - metrics.StageSystems)
	if inTick := system <= len(sim.Systems()); flight.Interrupted != inTick {
		h.fail(ReplayFile, "lobby %d panics in stage %v: within a tick %v", l.id, l.stage, flight.Interrupted)
		return
	}
	p, err := replay.NewPlayer(&flight.Head, m.Rules().Game, l.cfg.Arena)
	if err != nil {
		h.fail(ReplayFile, "lobby %d: %v", l.id, err)
		return
	}
	p.EnterSystem = func(s int) {
		if s == system && p.Match.Tick() == m.Tick() && l.tornHash(p.Match) == l.hash {
			panic(plantedPanic)
		}
	}
	err = playAll(p, flight.Chunks())
	found := (*replay.Panic)(nil)
	switch {
	case flight.Interrupted && (!errors.As(err, &found) || found.Tick != m.Tick() || found.Value != plantedPanic):
		h.fail(ReplayFile, "lobby %d panics in tick %d, and does not when that is played again: %v", l.id,
			m.Tick(), err)
	case !flight.Interrupted && err != nil:
		h.fail(ReplayFile, "lobby %d: %v", l.id, err)
	case !flight.Interrupted && (p.Match.Tick() != m.Tick() || l.tornHash(p.Match) != l.hash):
		h.fail(ReplayFile, "lobby %d panics after tick %d, and its last seconds lead to another match in tick %d",
			l.id, m.Tick(), p.Match.Tick())
	}
}

// playAll plays chunks to the end.
func playAll(p *replay.Player, chunks []*replay.Chunk) error {
	for _, c := range chunks {
		if err := p.Load(c); err != nil {
			return err
		}
		for !p.Done() {
			if err := p.Step(); err != nil {
				return err
			}
		}
	}
	return nil
}
