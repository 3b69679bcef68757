package client

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/client/interpolate"
	"github.com/tickrate/tickrate/client/objects"
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Client is one player's end of a session. It belongs to one goroutine. Once it has joined, a tick
// allocates nothing.
//
// Parts that every tick reads come first: among thousands of clients, each cache line is a miss.
type Client struct {
	conn                  // session with the server: State, Err, Server, MapEpoch, Jitter
	match                 // what the Welcome names: Welcome, ID, Arena, Kit, Game, Progress
	uplink   uplink       // commands that the server may lack
	clock    clock.Clocks // server, predicted and render clock
	replica  replica      // own rows, and requests for lost baselines
	interp   interpolate.Interpolator
	predict  predict.Predictor
	Shots    Shots       // predicted shots
	Objects  objects.Set // everything on the map that is no player
	Chat     Chat        // lines and names
	Board    Board       // kills, deaths, ping and loss of every player
	Round    Round       // status and events of the round
	Spectate Spectate    // viewpoint of a spectator
	Effects  Effects     // shots, footsteps, impacts, damage; with Config.Effects
	Meter    *Meter      // counts the bits of datagrams; nil: none
	events   events      // of the match
	killcam  killcam
}

// New returns a client that starts to connect with its first Outgoing. Errors name the field of cfg
// that is not valid.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	dial := netcode.NewClient(cfg.Token, netcode.ClientConfig{Roam: true, Linger: linger, Nearest: !cfg.Ordered})
	if dial.State() == netcode.InvalidToken {
		return nil, ErrToken
	}
	c := &Client{
		conn:    conn{dial: dial},
		match:   match{cfg: cfg, rules: cfg.Rules, changes: newChangeLimit()},
		Shots:   Shots{ringbuf.New[Shot](maxShots)},
		Objects: objects.NewSet(),
		Chat:    Chat{linesOnly: cfg.Decode != DecodeFull, ring: ringbuf.New[Line](maxLines)},
		Round:   Round{ring: ringbuf.New[sim.RoundEvent](maxRoundEvents)},
		Effects: Effects{ring: ringbuf.New[effect.Effect](maxEffects)},
		events:  events{ring: ringbuf.New[sim.Event](maxEvents)},
	}
	c.Chat.conn, c.Spectate.conn = &c.conn, &c.conn
	c.Board.chat = &c.Chat
	c.predict.CommandsOnly = cfg.Decode == DecodeAcks
	if cfg.Corrections > 0 {
		log := ringbuf.New[predict.Correction](cfg.Corrections)
		c.predict.Log = &log
	}
	return c, nil
}

// linger is how long a client waits for the Close with the reason after a disconnect. The server
// sends both at once, and a path that reorders may deliver the disconnect first.
const linger = 200 * time.Millisecond

// enter starts the match and says Ready: everything that the Welcome names is here.
func (c *Client) enter() {
	c.start()
	c.ready(&c.conn)
	if c.killcam.wanted = c.cfg.Killcam; c.killcam.wanted {
		c.requestKillcams()
	}
	c.state = Joined
}

// start makes everything with a size from the Welcome.
func (c *Client) start() {
	w := &c.welcome
	send := tick.Tick(w.SendInterval)
	c.predict.Arena, c.predict.Kit = c.arena, c.kit
	own := send * tick.Tick(c.cfg.SnapshotEvery)
	c.clock.Start(c.rate, own)
	if c.cfg.Decode != DecodeAcks {
		c.replica.decoder = snapshot.NewOwnerReader(c.cfg.Models.Owner, send)
	}
	if c.cfg.Decode != DecodeFull {
		c.interp.Start(nil, own)
		return
	}
	c.Effects.start(c)
	c.interp.Start(snapshot.NewDecoder(c.cfg.Models.Public, int(w.MaxPlayers), send), own)
	c.Objects.Start(objects.Match{
		View: &c.interp.View, Clocks: &c.clock, Kit: c.kit, Arena: c.arena,
		Rows: c.cfg.Models.Objects, Self: c.ID(), Players: int(w.MaxPlayers),
		Interval: send, MaxGap: c.interp.MaxGap(),
	})
}

// Leave ends the session. The next Outgoing has the disconnects, several because any may be lost.
func (c *Client) Leave(now time.Duration) {
	if c.state > Joined {
		return
	}
	c.resetOut()
	c.dial.Disconnect(now, &c.out)
	c.end(Left, 0, nil)
}

// View is the instant that is shown since the last Advance. A command that fires carries it.
func (c *Client) View() tick.View { return c.interp.View }

// Pose is the pose of a slot in the view, interpolated between two snapshots exactly as the server
// does to judge shots. False if the slot was empty, or Config.Decode is not DecodeFull.
func (c *Client) Pose(slot int) (rig.Pose, bool) { return c.interp.Pose(slot) }

// PresentedPose is Pose for a picture: while snapshots fail to arrive, a moving player goes on for
// at most 100 ms, then stops. Shots are judged by Pose.
func (c *Client) PresentedPose(slot int) (rig.Pose, bool) {
	return c.interp.Extrapolated(slot, &c.clock)
}

// Frame is every decoded row of snapshot tick t, nil if there is none. It is the client's memory,
// to be read until the next Receive.
func (c *Client) Frame(t tick.Tick) *snapshot.Frame {
	if c.interp.Decoder == nil {
		return nil
	}
	return c.interp.Decoder.At(t)
}

// Row copies the decoded row of a slot at snapshot tick t into dst, netstate.PublicFields long, and
// returns the player's id, 0 for an empty slot. False if the row is not known.
func (c *Client) Row(t tick.Tick, slot int, dst []int32) (id netid.ID, ok bool) {
	f := c.Frame(t)
	if f == nil || !f.HasRow(slot) {
		return 0, false
	}
	return f.Row(slot, dst), true
}

// Newest returns the tick of the newest snapshot that has arrived, in part or whole; 0 before the
// first.
func (c *Client) Newest() tick.Tick { return c.interp.Newest() }

// Self is the newest owner row and its tick; tick 0 before the first.
func (c *Client) Self() (netstate.Self, tick.Tick) { return c.replica.self, c.replica.tick }

// Predicted is the player's state after the newest command, and its tick. False before the first
// owner row.
func (c *Client) Predicted() (s sim.Self, t tick.Tick, ok bool) {
	if !c.predict.Ready() {
		return s, 0, false
	}
	at := c.predict.State(c.predict.Newest)
	return at.Self, c.predict.Newest, at.Known
}

// Issued is the command of tick t with the view that it carries. False if none was issued, or it is
// older than two seconds.
func (c *Client) Issued(t tick.Tick) (sim.Command, bool) { return c.predict.Command(t) }

// NextCorrection returns the next owner row that differed from the prediction, each once and in
// order. The oldest of more than Config.Corrections are lost.
func (c *Client) NextCorrection() (predict.Correction, bool) {
	if c.predict.Log == nil {
		return predict.Correction{}, false
	}
	return c.predict.Log.Pop()
}

// SecondsLeft is what is left of the round's phase by the server's clock, rounded up; 0 if unknown.
func (c *Client) SecondsLeft() uint32 {
	status, known := c.Round.Status()
	if !known {
		return 0
	}
	return status.Seconds(c.Newest(), c.rate)
}

// Server is the address of the server, out of those in the token: Outgoing's datagrams go there and
// Receive's come from there. While the client has not chosen among several, Outgoing's go to all.
func (c *conn) Server() netip.AddrPort { return c.dial.Server() }

// State is how far the client has come. For a final state the reason is why the server ended it, or
// 0 if it was not the server.
func (c *conn) State() (State, packet.Reason) { return c.state, c.reason }

// Err says why the client is Denied or Lost; nil otherwise.
func (c *conn) Err() error { return c.err }

// SelectHero asks the server for another hero, by id. The server changes it in a base of the
// player's team, or at the next spawn.
func (c *conn) SelectHero(hero uint8) error {
	var message [2]byte
	return c.request(sim.AppendHero(message[:0], hero))
}
