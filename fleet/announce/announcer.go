package announce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	changeEvery = 50 * time.Millisecond // how often a host looks for lobbies that came or went
	makeWithin  = 8 * time.Second       // for a lobby to be made
	makeAge     = 30                    // announcements that a Make may be old
	maxMakes    = 1024                  // Makes that a host remembers
	maxMaking   = 4                     // at a time
)

// HostConfig is a host's side of the fleet. All of its functions may be called from any goroutine.
type HostConfig struct {
	Name   string // of the host, see ValidName
	Key    Key
	Figure func() Host // the host as it is now; Name, Boot, Sequence and SentUnix are filled in
	// Make makes a lobby and returns its ID.
	Make func(ctx context.Context, mapName, mode string, players int) (id uint32, err error)
	Log  *slog.Logger
	Now  func() time.Time // default time.Now
}

// Announcer announces one host.
type Announcer struct {
	cfg  HostConfig
	conn *nats.Conn
	boot int64

	mu       sync.Mutex // guards the fields below
	sequence uint64
	rooms    uint64 // what the last announcement said of rooms and drain
	made     map[string]*making
	order    []string // keys of made, oldest first
	busy     int      // lobbies that are being made
}

// making is a lobby that a Make asked for.
type making struct {
	done chan struct{}
	id   uint32
	err  error
}

// NewAnnouncer returns an Announcer that has said nothing yet.
func NewAnnouncer(conn *nats.Conn, cfg HostConfig) (*Announcer, error) {
	if !ValidName(cfg.Name) {
		return nil, fmt.Errorf("host name %.80q: expected 1 to %d letters, digits, - and _", cfg.Name, maxName)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Announcer{cfg: cfg, conn: conn, boot: cfg.Now().UnixNano(), made: map[string]*making{}}, nil
}

// Run announces the host until ctx ends, and then that it drains.
func (a *Announcer) Run(ctx context.Context) error {
	var asked sync.WaitGroup
	defer asked.Wait()
	sub, err := a.conn.Subscribe(subjectMake+a.cfg.Name, func(m *nats.Msg) {
		asked.Go(func() { a.answer(ctx, m) })
	})
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	tick := time.NewTicker(changeEvery)
	defer tick.Stop()
	var next time.Time
	for {
		now := a.cfg.Now()
		if h := a.cfg.Figure(); !now.Before(next) || a.changed(&h) {
			a.say(&h)
			next = now.Add(Every)
		}
		select {
		case <-ctx.Done():
			h := a.cfg.Figure()
			h.Draining = true
			a.say(&h)
			return a.conn.FlushTimeout(time.Second)
		case <-tick.C:
		}
	}
}

// say publishes an announcement. One that is lost is followed by the next.
func (a *Announcer) say(h *Host) {
	raw, err := a.announcement(h)
	if err == nil {
		err = a.conn.Publish(subjectHosts+a.cfg.Name, raw)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		a.cfg.Log.Warn("fleet: not announced", "err", err)
	}
}

// announcement seals the next announcement.
func (a *Announcer) announcement(h *Host) ([]byte, error) {
	a.mu.Lock()
	a.sequence++
	h.Sequence = a.sequence
	a.rooms = h.shape()
	a.mu.Unlock()
	h.Name, h.Boot, h.SentUnix = a.cfg.Name, a.boot, a.cfg.Now().UnixMilli()
	return a.cfg.Key.Seal(h)
}

// changed reports whether lobbies have come, gone or closed since the last announcement.
func (a *Announcer) changed(h *Host) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return h.shape() != a.rooms
}

// shape sums up what directors must learn at once.
func (h *Host) shape() (sum uint64) {
	sum = 14695981039346656037
	mix := func(x uint64) { sum = (sum ^ x) * 1099511628211 }
	for i := range h.Rooms {
		mix(uint64(h.Rooms[i].ID)<<1 | uint64(b2i(h.Rooms[i].Open)))
	}
	mix(uint64(b2i(h.Draining)))
	return sum
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answer answers a Make.
func (a *Announcer) answer(ctx context.Context, m *nats.Msg) {
	var ask Make
	if err := a.cfg.Key.open(kindMake, m.Data, &ask); err != nil {
		a.cfg.Log.Warn("fleet: request for a lobby refused", "err", err)
		return
	}
	id, err := a.make(ctx, &ask)
	reply := Made{Request: ask.Request}
	if err != nil {
		reply.Error = err.Error()
	} else {
		reply.Error = "the lobby has ended"
		for _, r := range a.cfg.Figure().Rooms {
			if r.ID == id {
				reply.Room, reply.Error = r, ""
			}
		}
	}
	a.mu.Lock()
	reply.Sequence = a.sequence
	a.mu.Unlock()
	raw, err := a.cfg.Key.seal(kindMade, &reply)
	if err == nil {
		err = m.Respond(raw)
	}
	if err != nil {
		a.cfg.Log.Warn("fleet: request for a lobby not answered", "err", err)
	}
}

// make makes a lobby, once for each request.
func (a *Announcer) make(ctx context.Context, ask *Make) (uint32, error) {
	a.mu.Lock()
	m, again := a.made[ask.Request]
	var err error
	switch {
	case ask.Host != a.cfg.Name || ask.Boot != a.boot || ask.Sequence > a.sequence ||
		a.sequence-ask.Sequence > makeAge:
		err = errors.New("the request is for another process, or is old")
	case again:
	case a.busy == maxMaking:
		err = errors.New("the host is making other lobbies")
	default:
		m = &making{done: make(chan struct{})}
		a.made[ask.Request], a.order = m, append(a.order, ask.Request)
		a.busy++
		if len(a.order) > maxMakes {
			delete(a.made, a.order[0])
			a.order = a.order[1:]
		}
	}
	a.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if again {
		<-m.done // each is made or given up in time
		return m.id, m.err
	}
	ctx, cancel := context.WithTimeout(ctx, makeWithin)
	defer cancel()
	m.id, m.err = a.cfg.Make(ctx, ask.Map, ask.Mode, ask.Players)
	a.mu.Lock()
	a.busy--
	if m.err != nil && a.made[ask.Request] == m { // it may be asked again
		delete(a.made, ask.Request)
	}
	a.mu.Unlock()
	close(m.done)
	return m.id, m.err
}

// AskLobby asks a host for a lobby. An error that the host gave is a Refusal.
func AskLobby(ctx context.Context, conn *nats.Conn, key *Key, ask *Make) (made Made, err error) {
	raw, err := key.seal(kindMake, ask)
	if err != nil {
		return made, err
	}
	m, err := conn.RequestWithContext(ctx, subjectMake+ask.Host, raw)
	if err != nil {
		return made, fmt.Errorf("host %s: %w", ask.Host, err)
	}
	if err = key.open(kindMade, m.Data, &made); err != nil {
		return made, fmt.Errorf("host %s: %w", ask.Host, err)
	}
	if made.Request != ask.Request {
		return made, fmt.Errorf("host %s: %w", ask.Host, ErrReplayed)
	}
	if made.Error != "" {
		return made, Refusal(fmt.Sprintf("host %s: %s", ask.Host, made.Error))
	}
	return made, nil
}

// Refusal is why a host made no lobby.
type Refusal string

func (r Refusal) Error() string { return string(r) }
