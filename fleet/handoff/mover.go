package handoff

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
)

// Config describes a Mover. Zero fields mean the defaults named.
type Config struct {
	Bus  *bus.Bus // the caller closes it
	Name string   // of this host in the fleet
	Key  announce.Key
	Host *host.Host
	Log  *slog.Logger     // default none
	Now  func() time.Time // default time.Now
}

// Mover moves lobbies from this host and to it.
type Mover struct {
	cfg    Config
	owners owners
	view   fleetView
	begun  time.Time

	mu      sync.Mutex // guards the fields below
	runs    map[string]*run
	moving  map[uint32]bool // lobbies that Move is about to move
	refused refusals
	done    sync.WaitGroup
}

// refusals counts refused messages, and says when to log.
type refusals struct {
	count  uint64
	logged time.Time
}

// run is one move at one of its hosts.
type run struct {
	in     chan arrived
	source bool   // the lobby is this host's
	other  string // host
	over   bool   // a target that answers late messages only; guarded by Mover.mu
}

// arrived is a message for a run.
type arrived struct {
	Event
	message *message
}

const (
	step       = 20 * time.Millisecond // from one EventTick to the next
	hostWithin = 2 * time.Second       // for the host to carry out an order
	makeWithin = 3 * time.Second       // for the host to make a lobby
	storeOnce  = time.Second           // for the store to answer
	maxRuns    = 16                    // moves at a time, apart from those that are over
	logEvery   = 10 * time.Second      // from one line about refused messages to the next
	remembered = 2 * maxAge            // for which a target answers after its end
)

// ErrMoving: the lobby is on its way already.
var ErrMoving = errors.New("the lobby moves already")

// ErrNoHost: no host of the fleet takes the lobby.
var ErrNoHost = errors.New("no other host of the fleet has room for the lobby")

// NewMover returns a Mover; Run makes it answer other hosts.
func NewMover(ctx context.Context, cfg Config) (*Mover, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	o, err := openOwners(ctx, cfg.Bus.Stream, &cfg.Key)
	if err != nil {
		return nil, err
	}
	_, _ = unpack(pack([]byte("the coders are made now")))
	return &Mover{cfg: cfg, owners: o, begun: cfg.Now(), runs: map[string]*run{}, moving: map[uint32]bool{}}, nil
}

// Run answers other hosts until ctx ends.
func (m *Mover) Run(ctx context.Context) error {
	defer m.done.Wait()
	heard, err := m.cfg.Bus.Conn.Subscribe(announce.SubjectAll, m.hear)
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	defer func() { _ = heard.Unsubscribe() }()
	asked, err := m.cfg.Bus.Conn.Subscribe(subject+m.cfg.Name, func(raw *nats.Msg) { m.take(ctx, raw.Data) })
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	defer func() { _ = asked.Unsubscribe() }()
	<-ctx.Done()
	return nil
}

// hear takes an announcement. Directors count and name those that are refused.
func (m *Mover) hear(raw *nats.Msg) {
	h, err := m.cfg.Key.Open(raw.Subject, raw.Data)
	if now := m.cfg.Now(); err == nil && h.Check(now) == nil {
		m.view.take(h, now)
	}
}

// take hands a message to its run, or begins one with an offer.
func (m *Mover) take(ctx context.Context, raw []byte) {
	msg := new(message)
	err := m.cfg.Key.OpenMove(raw, msg)
	if err == nil {
		err = msg.check(m.cfg.Name, m.cfg.Now())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.refuse(err)
		return
	}
	r := m.runs[msg.ID]
	switch {
	case r == nil && msg.Kind == messageOffer:
		if m.active() >= maxRuns || m.cfg.Host.Draining() {
			m.send(&message{ID: msg.ID, Kind: messageRefused, To: msg.From, Why: "drains, or moves other lobbies"})
			return
		}
		r = &run{in: make(chan arrived, 256), other: msg.From}
		m.runs[msg.ID] = r
		m.done.Go(func() { m.receive(ctx, r, msg) })
	case r == nil:
		if msg.Kind == messageState { // of a move that is long over: the source must not wait
			m.send(&message{ID: msg.ID, Kind: messageCancel, To: msg.From, Why: "unknown move"})
		}
	default:
		kind, ok := eventOf(msg.Kind, r.source)
		if !ok || msg.From != r.other {
			m.refuse(fmt.Errorf("%w: %s from %s", errMessage, msg.Kind, msg.From))
			return
		}
		select {
		case r.in <- arrived{Event{Kind: kind, Ready: msg.Ready, Revision: msg.Revision}, msg}:
		default: // it is repeated
		}
	}
}

// refuse counts a message, and logs it unless another one was logged just now. The caller holds mu.
func (m *Mover) refuse(why error) {
	r := &m.refused
	r.count++
	if now := m.cfg.Now(); now.Sub(r.logged) >= logEvery {
		r.logged = now
		m.cfg.Log.Warn("fleet: message about a move refused", "refused", r.count, "err", why)
	}
}

// active counts the moves that are not over. The caller holds mu.
func (m *Mover) active() (n int) {
	for _, r := range m.runs {
		if !r.over {
			n++
		}
	}
	return n
}

// eventOf is what a message tells a source, or else a target; ok is false for one that is not for it.
func eventOf(k messageKind, source bool) (e EventKind, ok bool) {
	switch {
	case k == messageCancel:
		return EventCancelled, true
	case source && k == messagePrepared, !source && k == messageOffer: // asked again, it answers again
		return EventPrepared, true
	case source && k == messageRefused:
		return EventRefused, true
	case source && k == messageReady:
		return EventReady, true
	case source && k == messageTaken:
		return EventTaken, true
	case !source && k == messageState:
		return EventState, true
	}
	return 0, false
}

// next waits for a message or the time. ok is false once ctx has ended.
func (r *run) next(ctx context.Context, tick <-chan time.Time) (a arrived, ok bool) {
	select {
	case a = <-r.in:
	case <-tick: // the zero Event
	case <-ctx.Done():
		return a, false
	}
	return a, true
}

// carryOut carries out orders one by one, and returns the events that come of them.
func carryOut(actions []Action, do func(Action) (Event, bool)) (events []Event) {
	for _, a := range actions {
		if e, ok := do(a); ok {
			events = append(events, e)
		}
	}
	return events
}

// logFailed logs an order that the host could not carry out, unless the lobby has ended.
func (m *Mover) logFailed(lobby uint32, err error) {
	if err != nil && !errors.Is(err, httpapi.ErrNoLobby) && !errors.Is(err, httpapi.ErrEnded) {
		m.cfg.Log.Error("fleet: move of a lobby", "lobby", lobby, "err", err)
	}
}

// send sends a message to the host that it names. What is lost is repeated.
func (m *Mover) send(msg *message) {
	msg.From, msg.Sent = m.cfg.Name, m.cfg.Now().UnixMilli()
	raw, err := m.cfg.Key.SealMove(msg)
	if err == nil {
		err = m.cfg.Bus.Conn.Publish(subject+msg.To, raw)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		m.cfg.Log.Warn("fleet: message about a move not sent", "to", msg.To, "err", err)
	}
}

// since is the time of the machines.
func (m *Mover) since() time.Duration { return m.cfg.Now().Sub(m.begun) }

// newID names a move.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program
	return hex.EncodeToString(b[:])
}

// result says how a move went.
type result struct {
	to            string // host
	clients       int    // that were connected
	told          int    // of them, that were sent a token
	bytes, packed int    // of the state
	still         time.Duration
}

// Move moves a lobby to the fullest host that takes it. It takes seconds, in which the lobby plays,
// but for some milliseconds. After an error the lobby plays on here; or it has ended, and its players
// were told.
func (m *Mover) Move(ctx context.Context, lobby uint32) (err error) {
	m.mu.Lock()
	again := m.moving[lobby]
	m.moving[lobby] = true
	m.mu.Unlock()
	if again {
		return ErrMoving
	}
	defer func() {
		m.mu.Lock()
		delete(m.moving, lobby)
		m.mu.Unlock()
	}()
	offer, err := m.cfg.Host.Offer(ctx, lobby)
	if err != nil {
		return err
	}
	hosts := m.view.choose(m.cfg.Name, offer.Spec.Players, m.cfg.Now())
	err = ErrNoHost
	for _, to := range hosts[:min(len(hosts), 3)] {
		s := &sourceRun{m: m, lobby: lobby, offer: offer, result: result{to: to}, id: newID()}
		moved := false
		if moved, err = s.move(ctx); !moved {
			continue
		}
		r := &s.result
		m.cfg.Log.Info("fleet: lobby moved", "lobby", lobby, "to", to, "clients_told", r.told, "clients", r.clients,
			"state_bytes", r.bytes, "packed_bytes", r.packed, "stood_still", r.still.Round(100*time.Microsecond))
		return nil
	}
	return err
}
