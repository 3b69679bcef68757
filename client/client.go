package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Client is one player. It belongs to one goroutine. After it has joined nothing that it does each tick allocates.
type Client struct {
	cfg    Config
	state  State
	reason wire.Reason
	err    error
	begun  bool
	now    time.Duration // of the last Advance

	dialer *session.Dialer
	peer   *session.Peer
	accept wire.Accept
	rate   tick.Rate

	server    serverClock
	predicted predictedClock
	render    renderClock
	measured  bool // a package of ours was acked, so there is a round trip

	predict predictor
	due     int       // commands that Advance asked for and that are not given yet
	sent    tick.Tick // newest command that was sent
	arrived tick.Tick // newest command that the server is known to have
	window  [sim.MaxWindow]sim.Command

	owner    *snapshot.OwnerReader
	decoder  *snapshot.Decoder // nil if thin
	self     ghost.Self
	selfTick tick.Tick
	held     held
	view     tick.View
	shots    shots
	events   events

	count    session.Counters
	stats    Stats // of which only counters are kept here, see Client.Stats
	sentAt   time.Duration
	resyncAt time.Duration
}

// New returns a client that begins to shake hands with its first Append. The error says what in cfg cannot be used.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	d, err := session.NewDialer(session.DialConfig{
		Nonce: cfg.Nonce, Name: cfg.Name, Timeout: cfg.Timeout,
		Schema: ghost.SchemaHash(), Model: cfg.Models.Hash(),
	})
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, dialer: d}, nil
}

// State returns how far the client has come, and for a final state why the server ended it: 0 if it was not the
// server's doing.
func (c *Client) State() (State, wire.Reason) { return c.state, c.reason }

// Err says in words why the client is Denied or Lost; nil otherwise.
func (c *Client) Err() error { return c.err }

// ID is our entity, once joined. Its index is our slot.
func (c *Client) ID() ecs.NetID { return ecs.NetID(c.accept.NetID) }

// Accepted is what the server said when it let us in: rates, places, the arena.
func (c *Client) Accepted() wire.Accept { return c.accept }

// errSilent is Err of a session that ended in silence.
var errSilent = errors.New("client: the server fell silent")

func (c *Client) end(s State, why wire.Reason, err error) { c.state, c.reason, c.err = s, why, err }

// join turns an Accept into a session.
func (c *Client) join(now time.Duration) {
	c.accept = c.dialer.Accept()
	if err := c.prepare(); err != nil {
		c.end(Denied, 0, err)
		return
	}
	c.peer = session.NewPeer(now, session.Config{Token: c.accept.Token, Timeout: c.cfg.Timeout})
	c.state, c.sentAt = Joined, now-keepAlive
	if c.cfg.Every > 1 || c.cfg.Kbps > 0 {
		var pace [4]byte
		_ = c.peer.Queue(sim.AppendPace(pace[:0], uint8(c.cfg.Every), uint16(c.cfg.Kbps))) // the queue is empty
	}
}

// prepare makes everything whose size the Accept tells.
func (c *Client) prepare() error {
	a := &c.accept
	c.rate = tick.Rate(a.TickRate)
	switch {
	case !c.rate.Valid():
		return fmt.Errorf("client: server runs at %d Hz: expected %d to %d", a.TickRate, tick.MinRate, tick.MaxRate)
	case a.MaxPlayers == 0 || int(a.MaxPlayers) > snapshot.MaxGroups*snapshot.GroupRows || a.Slot >= a.MaxPlayers:
		return fmt.Errorf("client: server gave place %d of %d", a.Slot, a.MaxPlayers)
	}
	ground, err := c.cfg.Arena(a.ArenaName, a.ArenaHash)
	if err != nil {
		return fmt.Errorf("client: load arena: %w", err)
	}
	if got := ground.Hash(); got != a.ArenaHash {
		return fmt.Errorf("client: arena %s has hash %x, the server's has %x", a.ArenaName, got[:4], a.ArenaHash[:4])
	}
	interval := tick.Tick(a.SendInterval)
	c.cfg.Rules.Rate = c.rate
	c.server.rate, c.predicted.rate = c.rate, c.rate
	c.predict.arena, c.predict.rules = ground, &c.cfg.Rules
	c.owner = snapshot.NewOwnerReader(c.cfg.Models.Owner, interval)
	if !c.cfg.Thin {
		c.decoder = snapshot.NewDecoder(c.cfg.Models.Public, int(a.MaxPlayers), interval)
	}
	return nil
}
