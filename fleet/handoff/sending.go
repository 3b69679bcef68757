package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
)

// sourceRun carries out what a Source decides.
type sourceRun struct {
	m       *Mover
	id      string
	lobby   uint32
	offer   host.Offer
	machine *Source
	result  Result
	why     string // the other host's reason

	revision uint64
	to       protocol.LobbyRef
	packed   []byte
	frozen   time.Duration // when the lobby began to stand still
	prepared *message
}

// move moves the lobby, and reports whether it has.
func (s *sourceRun) move(ctx context.Context) (moved bool, err error) {
	r := &run{in: make(chan arrived, 256), role: 's'}
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
			s.result.Clients++
		}
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	machine, do := NewSource(s.m.since(), s.m.cfg.Name, s.result.Clients)
	s.machine = machine
	for queue := s.all(ctx, do); ; {
		over, moved := machine.Ended()
		if over {
			if machine.Phase() == SourceGone && !moved {
				s.m.Figures.Lost.Inc()
			}
			return moved, s.error(moved)
		}
		var a arrived
		switch {
		case len(queue) > 0:
			a.Event, queue = queue[0], queue[1:]
		default:
			select {
			case a = <-r.in:
			case <-tick.C:
			case <-ctx.Done():
				if p := machine.Phase(); p >= SourceFrozen && p < SourceStays { // the host ends, and says so
					return machine.moved, s.error(machine.moved)
				}
				s.cancel()
				return false, ctx.Err()
			}
		}
		if a.message != nil {
			s.note(a.message)
		}
		was := machine.Phase()
		queue = append(queue, s.all(ctx, machine.Step(s.m.since(), a.Event))...)
		if p := machine.Phase(); p != was && (p == SourceMoved || p == SourceStays && was >= SourceFrozen) {
			s.result.Still = s.m.since() - s.frozen
		}
	}
}

// note keeps what a message says beside its event.
func (s *sourceRun) note(msg *message) {
	if msg.From != s.result.To {
		return
	}
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
		return fmt.Errorf("lobby %d to host %s: %.200s", s.lobby, s.result.To, s.why)
	}
	return fmt.Errorf("lobby %d to host %s: not moved, as the hosts or the store did not answer in time", s.lobby,
		s.result.To)
}

func (s *sourceRun) cancel() {
	s.m.send(&message{ID: s.id, Kind: messageCancel, To: s.result.To, Why: "the lobby stays where it is"})
}

// record is the key of the lobby's record.
func (s *sourceRun) record() string { return fmt.Sprintf("%d.%d", s.m.cfg.Host.Instance(), s.lobby) }

// all carries out orders, and returns the events that come of them.
func (s *sourceRun) all(ctx context.Context, actions []Action) (events []Event) {
	for _, a := range actions {
		if e, ok := s.do(ctx, a); ok {
			events = append(events, e)
		}
	}
	return events
}

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
		s.m.send(&message{ID: s.id, Kind: messageOffer, To: s.result.To, Offer: &s.offer})
	case ActionTell:
		told, err := h.TellMove(within, s.lobby, s.prepared.addresses(), s.to)
		s.result.Told = told
		if err != nil {
			s.why = err.Error()
			return Event{Kind: EventCancelled}, true
		}
	case ActionFreeze:
		return s.freeze(within), true
	case ActionSend:
		parts := max(1, (len(s.packed)+partSize-1)/partSize)
		for i := range parts {
			s.m.send(&message{ID: s.id, Kind: messageState, To: s.result.To, Record: s.record(), Revision: s.revision,
				Part: i, Parts: parts, Bytes: s.packed[i*partSize : min(len(s.packed), (i+1)*partSize)]})
		}
	case ActionClaim:
		return s.store(ctx, func(ctx context.Context) Event {
			return s.m.owners.claim(ctx, s.record(), s.m.cfg.Name, s.revision)
		}), true
	case ActionThaw:
		s.mustHost(h.Thaw(within, s.lobby))
	case ActionCancel:
		s.cancel()
	case ActionEnd:
		s.mustHost(h.EndLobby(within, s.lobby))
	}
	return e, false
}

// store asks the store once.
func (s *sourceRun) store(ctx context.Context, ask func(context.Context) Event) Event {
	ctx, cancel := context.WithTimeout(ctx, storeOnce)
	defer cancel()
	return ask(ctx)
}

// mustHost logs an order that the host could not carry out, unless the lobby has ended.
func (s *sourceRun) mustHost(err error) {
	if err != nil && !errors.Is(err, httpapi.ErrNoLobby) && !errors.Is(err, httpapi.ErrEnded) {
		fmt.Fprintf(s.m.cfg.Log, "fleet: lobby %d: %v\n", s.lobby, err)
	}
}

// freeze lets the lobby stand still, at the first tick in which no player comes or goes.
func (s *sourceRun) freeze(ctx context.Context) Event {
	for {
		state, err := s.m.cfg.Host.Freeze(ctx, s.lobby)
		switch {
		case err == nil:
			s.frozen = s.m.since()
			s.packed = pack(state)
			s.result.Bytes, s.result.Packed = len(state), len(s.packed)
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
