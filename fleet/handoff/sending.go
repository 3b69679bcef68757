package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/host"
)

// sourceRun carries out what a Source decides.
type sourceRun struct {
	m       *Mover
	id      string
	lobby   uint32
	offer   host.Offer
	machine *Source
	result  result
	why     string // the other host's reason

	revision uint64
	to       protocol.LobbyRef
	packed   []byte
	frozen   time.Duration // when the lobby began to stand still
	prepared *message
}

// move moves the lobby, and reports whether it has.
func (s *sourceRun) move(ctx context.Context) (moved bool, err error) {
	r := &run{in: make(chan arrived, 256), source: true, other: s.result.to}
	s.m.mu.Lock()
	s.m.runs[s.id] = r
	s.m.mu.Unlock()
	defer func() {
		s.m.mu.Lock()
		delete(s.m.runs, s.id)
		s.m.mu.Unlock()
	}()
	for _, seat := range s.offer.Seats {
		if seat.Connected {
			s.result.clients++
		}
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	machine, do := NewSource(s.m.since(), s.m.cfg.Name, s.result.clients)
	s.machine = machine
	order := func(a Action) (Event, bool) { return s.do(ctx, a) }
	for queue := carryOut(do, order); ; {
		if over, moved := machine.Ended(); over {
			return moved, s.error(moved)
		}
		var a arrived
		if len(queue) > 0 {
			a.Event, queue = queue[0], queue[1:]
		} else if next, ok := r.next(ctx, tick.C); ok {
			a = next
		} else if p := machine.Phase(); p >= SourceFrozen && p < SourceStays { // the host ends, and says so
			return machine.moved, s.error(machine.moved)
		} else {
			s.cancel()
			return false, ctx.Err()
		}
		if a.message != nil {
			s.note(a.message)
		}
		was := machine.Phase()
		queue = append(queue, carryOut(machine.Step(s.m.since(), a.Event), order)...)
		if p := machine.Phase(); p != was && (p == SourceMoved || p == SourceStays && was >= SourceFrozen) {
			s.result.still = s.m.since() - s.frozen
		}
	}
}

// note keeps what a message says beside its event.
func (s *sourceRun) note(msg *message) {
	if msg.Kind == messagePrepared {
		s.prepared = msg
		s.to = protocol.LobbyRef{Host: msg.Instance, Lobby: msg.Lobby}
	}
	if msg.Why != "" {
		s.why = msg.Why
	}
}

// error says why the lobby has not moved.
func (s *sourceRun) error(moved bool) error {
	switch {
	case moved:
		return nil
	case s.why != "":
		return fmt.Errorf("lobby %d to host %s: %.200s", s.lobby, s.result.to, s.why)
	}
	return fmt.Errorf("lobby %d to host %s: not moved, as the hosts or the store did not answer in time", s.lobby,
		s.result.to)
}

func (s *sourceRun) cancel() {
	s.m.send(&message{ID: s.id, Kind: messageCancel, To: s.result.to, Why: "the lobby stays where it is"})
}

// record is the key of the lobby's record.
func (s *sourceRun) record() string { return fmt.Sprintf("%d.%d", s.m.cfg.Host.Instance(), s.lobby) }

// do carries out one order. ok is false if no event comes of it.
func (s *sourceRun) do(ctx context.Context, a Action) (e Event, ok bool) {
	h := s.m.cfg.Host
	within, cancel := context.WithTimeout(ctx, hostWithin)
	defer cancel()
	switch a {
	case ActionRegister:
		e = s.store(ctx, func(ctx context.Context) Event {
			return s.m.owners.register(ctx, s.record(), s.m.cfg.Name)
		})
		s.revision = e.Revision
		return e, true
	case ActionOffer:
		s.m.send(&message{ID: s.id, Kind: messageOffer, To: s.result.to, Offer: &s.offer})
	case ActionTell:
		told, err := h.TellMove(within, s.lobby, s.prepared.addresses(), s.to)
		s.result.told = told
		if err != nil {
			s.why = err.Error()
			return Event{Kind: EventCancelled}, true
		}
	case ActionFreeze:
		return s.freeze(within), true
	case ActionSend:
		parts := max(1, (len(s.packed)+partSize-1)/partSize)
		for i := range parts {
			s.m.send(&message{ID: s.id, Kind: messageState, To: s.result.to, Record: s.record(), Revision: s.revision,
				Part: i, Parts: parts, Bytes: s.packed[i*partSize : min(len(s.packed), (i+1)*partSize)]})
		}
	case ActionClaim:
		return s.store(ctx, func(ctx context.Context) Event {
			return s.m.owners.claim(ctx, s.record(), s.m.cfg.Name, s.revision)
		}), true
	case ActionThaw:
		s.m.logFailed(s.lobby, h.Thaw(within, s.lobby))
	case ActionCancel:
		s.cancel()
	case ActionEnd:
		s.m.logFailed(s.lobby, h.EndLobby(within, s.lobby))
	}
	return e, false
}

// store asks the store once.
func (s *sourceRun) store(ctx context.Context, ask func(context.Context) Event) Event {
	ctx, cancel := context.WithTimeout(ctx, storeOnce)
	defer cancel()
	return ask(ctx)
}

// freeze lets the lobby stand still, at the first tick in which no player comes or goes.
func (s *sourceRun) freeze(ctx context.Context) Event {
	for {
		state, err := s.m.cfg.Host.Freeze(ctx, s.lobby)
		switch {
		case err == nil:
			s.frozen = s.m.since()
			s.packed = pack(state)
			s.result.bytes, s.result.packed = len(state), len(s.packed)
			return Event{Kind: EventFrozen}
		case !errors.Is(err, host.ErrUnsettled) || ctx.Err() != nil:
			s.why = err.Error()
			return Event{Kind: EventUnsettled}
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}
