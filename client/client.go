package client

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Client is one player. It belongs to one goroutine. After it has joined nothing that it does each tick allocates.
//
// What each tick reads comes first: where thousands have their turns one after the other, a client is far away in memory when its turn
// comes, and each of its lines has to be fetched.
type Client struct {
	state    State
	reason   packet.Reason
	begun    bool
	given    bool  // the caller has seen what is in out
	measured bool  // a package of ours was acked, so there is a round trip
	hears    bool  // NextEvent may have something
	reads    bool  // NextLine may have something
	world    uint8 // how often the map has changed since we came in
	rate     tick.Rate
	due      int           // commands that Advance asked for and that are not given yet
	now      time.Duration // of the last Advance
	dial     *netcode.Client
	peer     *packet.Peer // nil until the server lets us in
	sent     tick.Tick    // newest command that was sent
	arrived  tick.Tick    // newest command that the server is known to have
	sentAt   time.Duration
	looks    looking

	rtt        packet.RTT            // the peer's, at hand
	out        netcode.Outbox        // what is to be sent
	owner      *snapshot.OwnerReader // nil if bare
	decoder    *snapshot.Decoder     // nil if thin
	view       tick.View
	selfTick   tick.Tick
	self       netstate.Self
	account    *Account
	render     renderClock
	correction correction
	owed       [][]byte // events about the world that found the queue full
	cfg        Config
	missed     missed
	welcome    protocol.Welcome
	events     events
	talk       talk
	fetch      fetch
	flights    flights
	stats      Stats // of which only counters are kept here, see Client.Stats
	count      packet.Counters

	pledges   pledges
	held      held
	server    serverClock
	predicted predictedClock
	predict   predictor
	arrivals  arrivals
	draft     [packet.MaxPacketSize]byte
	window    [sim.MaxWindow]sim.Command

	err      error
	restless restless
	rules    sim.Rules // as the caller gave them
	unlike   bool      // the Welcome names other schemas or another model than ours
	theirs   []byte    // the server's text of them, as far as it has come
	rounds   rounds
	reels    []byte // the killcam that came last and nobody has asked for; empty: none
	resyncAt time.Duration
	shots    shots
	poses    poses // made with the first
}

// New returns a client that begins to connect with its first Outgoing. The error says what in cfg cannot be used.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	dial := netcode.NewClient(cfg.Token, netcode.ClientConfig{Roam: true, Linger: linger})
	if dial.State() == netcode.InvalidToken {
		return nil, ErrToken
	}
	c := &Client{cfg: cfg, dial: dial, rules: cfg.Rules}
	c.predict.blind = cfg.Bare
	return c, nil
}

// linger is how long we wait for the Close that says why the server ends a session, if its disconnects were faster: both leave it at
// once, and a link that reorders brings a disconnect first as often as not.
const linger = 200 * time.Millisecond

// Server is where Outgoing's datagrams go and Receive's come from, of the addresses that the token names.
func (c *Client) Server() netip.AddrPort { return c.dial.Server() }

// State returns how far the client has come, and for a final state why the server ended it: 0 if it was not the
// server's doing.
func (c *Client) State() (State, packet.Reason) { return c.state, c.reason }

// Err says in words why the client is Denied or Lost; nil otherwise.
func (c *Client) Err() error { return c.err }

// ID is our entity, once joined. Its index is our slot.
func (c *Client) ID() netid.ID { return netid.ID(c.welcome.NetID) }

// Welcome is what the server said when it let us in: rates, places, the arena.
func (c *Client) Welcome() protocol.Welcome { return c.welcome }

// errEnded is Err of a session that the server ended without a reason.
var errEnded = errors.New("client: the server ended the session")

func (c *Client) end(s State, why packet.Reason, err error) { c.state, c.reason, c.err = s, why, err }

// dialled follows what has become of the connection.
func (c *Client) dialled(now time.Duration) {
	if c.state > Joined {
		return
	}
	switch s := c.dial.State(); {
	case s == netcode.Connected && c.peer == nil:
		c.peer = packet.NewPeer(now, packet.Config{})
		c.sentAt = now - keepAlive
	case c.dial.Lingering(now):
	case s == netcode.Disconnected:
		c.end(Lost, 0, errEnded)
	case s == netcode.ConnectionTimedOut:
		c.end(Lost, packet.ReasonTimeout, c.dial.Err())
	case s == netcode.ConnectionDenied:
		c.end(Denied, packet.ReasonFull, c.dial.Err())
	case s < netcode.Disconnected:
		c.end(Lost, 0, c.dial.Err())
	}
}

// join takes the Welcome. Whatever we lack for the match, we are not in and say goodbye.
func (c *Client) join(now time.Duration, w protocol.Welcome) {
	c.welcome = w
	c.sentAt = now - keepAlive // our answer need not wait
	like := c.model(w.Model)
	if netstate.SchemaHash() != w.Schema || !like && !c.cfg.Fetch {
		c.ready(c.cfg.Models.Hash())
		c.unlike = true // the server answers such a Ready with what it has, and a Close
		return
	}
	if why, err := c.fits(); err != nil {
		c.deny(now, why, err)
		return
	}
	missing := c.ground()
	if missing != nil && !c.cfg.Fetch {
		c.deny(now, packet.ReasonArena, missing)
		return
	}
	if like && missing == nil {
		c.enter()
		c.pace()
		return
	}
	c.pace() // content, too, is sent by it
	if !like {
		c.request(now, protocol.ContentModel)
	}
	if missing != nil {
		c.request(now, protocol.ContentArena)
	}
}

// deny ends an attempt because of what the server is or sends.
func (c *Client) deny(now time.Duration, why packet.Reason, err error) {
	c.end(Denied, why, err)
	c.dial.Disconnect(now, &c.out)
}

// ready queues our Ready.
func (c *Client) ready(model uint64) {
	var event [protocol.MaxReady]byte
	r := protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(), Model: model, Name: c.cfg.Name}
	c.queueHere(r.Append(event[:0]))
}

// pace queues the pace that we ask for, if it is not the server's.
func (c *Client) pace() {
	if c.cfg.Every > 1 || c.cfg.Kbps > 0 {
		var event [4]byte
		_ = c.peer.QueueReliable(sim.AppendSnapshotRate(event[:0], uint8(c.cfg.Every), uint16(c.cfg.Kbps)))
	}
}

// model sees to it that we have the models of a hash, if they are here at all.
func (c *Client) model(hash uint64) bool {
	for _, m := range []netstate.Models{c.cfg.Models, c.cfg.Model(hash)} {
		if m == (netstate.Models{}) {
			continue
		}
		if m = m.WithHash(hash); m.Hash() == hash { // whichever codec the lobby uses
			c.cfg.Models = m
			return true
		}
	}
	return false
}

// ground sees to it that we have the arena of the Welcome, or says why not.
func (c *Client) ground() error {
	w := &c.welcome
	ground, err := c.cfg.Arena(w.ArenaName, w.ArenaHash)
	if (err != nil || ground == nil) && c.cfg.Content != nil { // a map of the pack may have a name of its own
		if a, ok, bad := c.cfg.Content.Ground(w.ArenaName); ok {
			ground, err = a, bad
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("client: load arena: %w", err)
	case ground == nil:
		return fmt.Errorf("client: load arena: %w", ErrUnknownArena)
	case ground.Hash() != w.ArenaHash:
		got := ground.Hash()
		return fmt.Errorf("client: arena %s has hash %x, the server's has %x", w.ArenaName, got[:4], w.ArenaHash[:4])
	}
	c.predict.arena = ground
	return nil
}

// fits says what of the Welcome cannot be, or is not here.
func (c *Client) fits() (packet.Reason, error) {
	w := &c.welcome
	c.rate = tick.Rate(w.TickRate)
	slot := netid.ID(w.NetID).Index()
	switch {
	case !c.rate.Valid():
		return 0, fmt.Errorf("client: server runs at %d Hz: expected %d to %d", w.TickRate, tick.MinRate, tick.MaxRate)
	case slot >= int(w.MaxPlayers):
		return 0, fmt.Errorf("client: server gave place %d of %d", slot, w.MaxPlayers)
	}
	game, err := c.game()
	if err != nil {
		return packet.ReasonContent, err
	}
	c.cfg.Rules.Rate, c.cfg.Rules.Game = c.rate, game
	kit, err := c.cfg.Rules.Compile()
	if err != nil {
		return 0, fmt.Errorf("client: %w", err)
	}
	c.predict.kit = kit
	return 0, nil
}

// game is what is played: what the caller gave us, or what our content has of what the Welcome names. It must be of the same
// content as the server's.
func (c *Client) game() (*sim.Game, error) {
	w, game := &c.welcome, c.cfg.Rules.Game
	if game == nil && w.Mode == "" {
		return sim.DefaultGame(), nil
	}
	if game != nil {
		if game.Pack != w.Content || w.Mode != "" && game.Mode.Name != w.Mode {
			return nil, fmt.Errorf("client: server plays %s of content %x, we have %s of content %x", w.Mode, w.Content[:4], game.Mode.Name, game.Pack[:4])
		}
		return game, nil
	}
	if c.cfg.Content == nil {
		c.cfg.Content = builtIn()
	}
	if ours := c.cfg.Content.Shared(); ours != w.Content {
		return nil, fmt.Errorf("client: server plays content %x, our pack %s is content %x", w.Content[:4], c.cfg.Content.Name, ours[:4])
	}
	game, err := sim.GameForArena(c.cfg.Content, w.ArenaName, w.Mode)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return game, nil
}

// enter says Ready: we have all that the Welcome names.
func (c *Client) enter() {
	c.equip()
	c.ready(c.cfg.Models.Hash())
	c.film()
	c.state = Joined
}

// equip makes everything whose size the Welcome tells.
func (c *Client) equip() {
	interval := tick.Tick(c.welcome.SendInterval)
	c.server.rate, c.predicted.rate = c.rate, c.rate
	if !c.cfg.Bare {
		c.owner = snapshot.NewOwnerReader(c.cfg.Models.Owner, interval)
	}
	if !c.cfg.Thin {
		c.decoder = snapshot.NewDecoder(c.cfg.Models.Public, int(c.welcome.MaxPlayers), interval)
		c.poses = nil // they are of another world
		c.flights.paces = netstate.DefaultUpdateIntervals
	}
}

// Arena is the map of the match, nil before we have it.
func (c *Client) Arena() *arena.Arena { return c.predict.arena }
