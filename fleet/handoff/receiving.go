package handoff

import (
	"context"
	"time"
)

// targetRun carries out what a Target decides.
type targetRun struct {
	m       *Mover
	id      string
	from    string // host
	machine *Target
	made    bool
	lobby   uint32
	why     string

	parcel   parcel
	packed   []byte
	record   string
	revision uint64
}

// receive takes a lobby in that another host offers.
func (m *Mover) receive(ctx context.Context, r *run, offer *message) {
	t := &targetRun{m: m, id: offer.ID, from: offer.From, machine: NewTarget(m.since(), m.cfg.Name)}
	defer func() {
		m.mu.Lock()
		delete(m.runs, t.id)
		m.mu.Unlock()
	}()
	order := func(a Action) (Event, bool) { return t.do(ctx, a) }
	tick := time.NewTicker(step)
	defer tick.Stop()
	for queue := []Event{t.prepare(ctx, offer)}; ; {
		var a arrived
		if len(queue) > 0 {
			a.Event, queue = queue[0], queue[1:]
		} else if next, ok := r.next(ctx, tick.C); ok {
			a = next
		} else {
			return
		}
		if !t.note(a.message) {
			continue
		}
		if a.Kind == EventTick && t.machine.Phase() == TargetAwaiting {
			queue = append(queue, t.awaited(ctx))
		}
		queue = append(queue, carryOut(t.machine.Step(m.since(), a.Event), order)...)
		switch over, plays := t.machine.Ended(); {
		case over && !r.over:
			t.log(plays)
			m.mu.Lock()
			r.over = true
			m.mu.Unlock()
			tick.Reset(remembered)
		case over && a.message == nil && a.Kind == EventTick: // that time is over
			return
		}
	}
}

// log logs the end of the move.
func (t *targetRun) log(plays bool) {
	if plays {
		t.m.cfg.Log.Info("fleet: lobby goes on here", "lobby", t.lobby, "from", t.from)
		return
	}
	t.m.cfg.Log.Warn("fleet: no lobby was taken over", "from", t.from, "why", t.why)
}

// prepare makes the lobby.
func (t *targetRun) prepare(ctx context.Context, offer *message) Event {
	ctx, cancel := context.WithTimeout(ctx, makeWithin)
	defer cancel()
	var err error
	if t.lobby, err = t.m.cfg.Host.AwaitLobby(ctx, offer.Offer); err != nil {
		t.why = err.Error()
		return Event{Kind: EventRefused}
	}
	t.made = true
	return Event{Kind: EventPrepared}
}

// awaited tells how many clients are connected.
func (t *targetRun) awaited(ctx context.Context) Event {
	ctx, cancel := context.WithTimeout(ctx, hostWithin)
	defer cancel()
	n, err := t.m.cfg.Host.Awaited(ctx, t.lobby)
	if err != nil {
		t.why = err.Error()
		return Event{Kind: EventCancelled}
	}
	return Event{Kind: EventReady, Ready: n}
}

// note keeps what a message says beside its event. It reports false if the event is not to be taken:
// a part of a state that is not whole yet. nil: the event is of no message.
func (t *targetRun) note(msg *message) bool {
	if msg == nil {
		return true
	}
	if msg.Why != "" {
		t.why = msg.Why
	}
	if msg.Kind != messageState || t.packed != nil {
		return true
	}
	packed, whole := t.parcel.add(msg)
	if whole {
		t.packed, t.record, t.revision, t.parcel = packed, msg.Record, msg.Revision, parcel{}
	}
	return whole
}

// do carries out one order. ok is false if no event comes of it.
func (t *targetRun) do(ctx context.Context, a Action) (e Event, ok bool) {
	h := t.m.cfg.Host
	reply := &message{ID: t.id, To: t.from}
	within, cancel := context.WithTimeout(ctx, hostWithin)
	defer cancel()
	switch a {
	case ActionAnswer:
		reply.Kind, reply.Instance, reply.Lobby = messagePrepared, h.Instance(), t.lobby
		for _, at := range h.Addresses() {
			reply.Addresses = append(reply.Addresses, at.String())
		}
		t.m.send(reply)
	case ActionReady:
		reply.Kind, reply.Ready = messageReady, max(0, t.machine.ready)
		t.m.send(reply)
	case ActionRead:
		return t.read(within), true
	case ActionClaim:
		ctx, cancel := context.WithTimeout(ctx, storeOnce)
		defer cancel()
		return t.m.owners.claim(ctx, t.record, t.m.cfg.Name, t.revision), true
	case ActionThaw:
		t.m.logFailed(t.lobby, h.Thaw(within, t.lobby))
	case ActionTaken:
		reply.Kind = messageTaken
		t.m.send(reply)
	case ActionCancel:
		reply.Kind, reply.Why = messageCancel, t.why
		if !t.made {
			reply.Kind = messageRefused
		}
		t.m.send(reply)
	case ActionEnd:
		t.m.logFailed(t.lobby, h.EndLobby(within, t.lobby))
	}
	return e, false
}

// read gives the lobby its state.
func (t *targetRun) read(ctx context.Context) Event {
	state, err := unpack(t.packed)
	if err == nil {
		err = t.m.cfg.Host.ReadLobby(ctx, t.lobby, state)
	}
	if err != nil {
		t.why = err.Error()
		return Event{Kind: EventUnsettled}
	}
	t.packed = []byte{} // it may be asked for no more
	return Event{Kind: EventRead}
}
