package handoff

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/host"
)

// Host is what a Mover needs of a host. *host.Host has it.
type Host interface {
	Offer(ctx context.Context, id uint32) (host.Offer, error)
	AwaitLobby(ctx context.Context, o *host.Offer) (id uint32, err error)
	TellMove(ctx context.Context, id uint32, to []netip.AddrPort, ref protocol.LobbyRef) (told int, err error)
	Awaited(ctx context.Context, id uint32) (ready int, err error)
	Freeze(ctx context.Context, id uint32) (state []byte, err error)
	ReadLobby(ctx context.Context, id uint32, state []byte) error
	Thaw(ctx context.Context, id uint32) error
	EndLobby(ctx context.Context, id uint32) error
	Instance() uint32
	Addresses() []netip.AddrPort
	Draining() bool
}

// Config describes a Mover. Zero fields mean the defaults named.
type Config struct {
	Bus  *bus.Bus // the caller closes it
	Name string   // of this host in the fleet
	Key  announce.Key
	Host Host
	Log  io.Writer
	Now  func() time.Time // default time.Now
}

// Figures count moves.
type Figures struct {
	Out, In meter.Counter // lobbies that have moved from this host, and to it
	Failed  meter.Counter // moves after which the lobby stayed
	Lost    meter.Counter // moves after which the lobby ended, as nobody knew who owned it
	Refused meter.Counter // messages
}

// Mover moves lobbies from this host and to it.
type Mover struct {
	Figures Figures

	cfg    Config
	owners owners
	view   fleetView
	begun  time.Time

	mu     sync.Mutex // guards runs and moving
	runs   map[string]*run
	moving map[uint32]bool // lobbies that Move is about to move
	done   sync.WaitGroup
}

// run is one move at one of its hosts.
type run struct {
	in chan arrived
	// of a target that has ended, to be forgotten
	forget time.Time
	role   byte // 's' source, 't' target
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
	maxRuns    = 16                    // moves at a time
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
		cfg.Log = io.Discard
	}
	o, err := openOwners(ctx, cfg.Bus.Stream)
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
	if err != nil {
		m.Figures.Refused.Inc()
		fmt.Fprintf(m.cfg.Log, "fleet: message about a move refused: %v\n", err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[msg.ID]
	switch {
	case r == nil && msg.Kind == messageOffer:
		m.clean()
		if len(m.runs) >= maxRuns || m.cfg.Host.Draining() {
			m.send(&message{ID: msg.ID, Kind: messageRefused, To: msg.From, Why: "drains, or moves other lobbies"})
			return
		}
		r = &run{in: make(chan arrived, 256), role: 't'}
		m.runs[msg.ID] = r
		m.done.Go(func() { m.receive(ctx, r, msg) })
	case r == nil:
		if msg.Kind == messageState { // of a move that is long over: the source must not wait
			m.send(&message{ID: msg.ID, Kind: messageCancel, To: msg.From, Why: "unknown move"})
		}
	default:
		select {
		case r.in <- arrived{Event{Kind: eventOf(msg.Kind, r.role), Ready: msg.Ready, Revision: msg.Revision}, msg}:
		default: // it is repeated
		}
	}
}

// eventOf is what a message tells a source or a target.
func eventOf(k messageKind, role byte) EventKind {
	switch k {
	case messageOffer, messagePrepared:
		return EventPrepared // a target that is asked again answers again
	case messageRefused:
		return EventRefused
	case messageReady:
		return EventReady
	case messageTaken:
		return EventTaken
	case messageCancel:
		return EventCancelled
	}
	return EventState
}

// clean forgets targets that have ended. The caller holds mu.
func (m *Mover) clean() {
	now := m.cfg.Now()
	for id, r := range m.runs {
		if !r.forget.IsZero() && now.After(r.forget) {
			delete(m.runs, id)
		}
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
		fmt.Fprintf(m.cfg.Log, "fleet: a message to %s about a move was not sent: %v\n", msg.To, err)
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

// Result says how a move went.
type Result struct {
	To            string // host
	Clients       int    // that were connected
	Told          int    // of them, that were sent a token
	Bytes, Packed int    // of the state
	Still         time.Duration
}

// Move moves a lobby to the fullest host that takes it. With an error it has not moved: it plays on
// here, or, if it has ended, its players were told. It takes seconds, of which the lobby stands
// still for Result.Still.
func (m *Mover) Move(ctx context.Context, lobby uint32) (r Result, err error) {
	m.mu.Lock()
	again := m.moving[lobby]
	m.moving[lobby] = true
	m.mu.Unlock()
	if again {
		return r, ErrMoving
	}
	defer func() {
		m.mu.Lock()
		delete(m.moving, lobby)
		m.mu.Unlock()
	}()
	offer, err := m.cfg.Host.Offer(ctx, lobby)
	if err != nil {
		return r, err
	}
	hosts := m.view.choose(m.cfg.Name, offer.Spec.Players, m.cfg.Now())
	err = ErrNoHost
	for _, to := range hosts[:min(len(hosts), 3)] {
		s := &sourceRun{m: m, lobby: lobby, offer: offer, result: Result{To: to}, id: newID()}
		moved := false
		if moved, err = s.move(ctx); moved {
			m.Figures.Out.Inc()
			fmt.Fprintf(m.cfg.Log, "lobby %d moved to %s: %d of %d clients told, %d bytes of state (%d packed), "+
				"stood still for %v\n", lobby, to, s.result.Told, s.result.Clients, s.result.Bytes, s.result.Packed,
				s.result.Still.Round(100*time.Microsecond))
			return s.result, nil
		}
		m.Figures.Failed.Inc()
		r = s.result
	}
	return r, cmp.Or(err, ErrNoHost)
}
