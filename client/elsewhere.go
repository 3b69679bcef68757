package client

import (
	"bytes"
	"errors"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim/netstate"
)

// elsewhere takes the event that says that another map is played from now on, or the same anew. Nothing of the old world is of use any
// more: we get what the new Welcome names, as at the beginning, and say Ready again. Meanwhile we are Connecting. Session, round trip,
// the server's clock and what was said stay.
func (c *Client) elsewhere(now time.Duration, raw []byte) error {
	world, event, err := protocol.ParseMapChange(raw)
	if err != nil {
		return err
	}
	w, err := protocol.ParseWelcome(event)
	if err != nil || world != protocol.NextMapEpoch(c.world) || w.Tick < c.welcome.Tick {
		return packet.DropMessage
	}
	if c.restless.often(now) {
		c.end(Lost, 0, errRestless)
		c.dial.Disconnect(now, &c.out)
		return packet.DropMessage
	}
	c.world, c.owed = world, nil
	c.stats.Worlds++
	c.state, c.unlike, c.theirs = Connecting, false, nil
	late := c.fetch.late
	for wants := c.fetch.wants; wants != 0; wants &= wants - 1 {
		late++
	}
	c.fetch = fetch{late: late}
	c.held, c.view.From, c.view.To, c.view.Frac = held{}, 0, 0, 0
	c.self, c.selfTick, c.due = netstate.Self{}, 0, 0
	c.predict = predictor{blind: c.predict.blind, states: c.predict.states, count: c.predict.count}
	c.predicted = predictedClock{rate: c.rate, loss: c.predicted.loss, resets: c.predicted.resets}
	c.pledges = pledges{}
	c.render = renderClock{stalls: c.render.stalls, resets: c.render.resets}
	c.talk.players, c.talk.open = c.talk.players[:0], false
	c.rounds.known = false
	c.looks.target = 0
	c.correction = correction{count: c.correction.count}
	c.flights = flights{count: c.flights.count, queue: c.flights.queue, own: c.flights.own}
	c.cfg.Rules = c.rules
	c.join(now, w)
	return nil
}

// restless counts how often a server changes the map: each time costs us the making of one.
type restless struct {
	debt, at time.Duration
}

// A server may change the map a few times at once, and then every so often.
const (
	worldsAtOnce = 8
	worldEvery   = 5 * time.Second
)

var errRestless = errors.New("client: the server changes the map too often")

// often reports whether a change at now is one too many, and counts it.
func (r *restless) often(now time.Duration) bool {
	r.debt, r.at = max(0, r.debt-max(0, now-r.at)), max(now, r.at)
	r.debt += worldEvery
	return r.debt > worldsAtOnce*worldEvery
}

// World is how often the server has changed the map under us: 0 until it does. Snapshots of another are not taken.
func (c *Client) World() uint8 { return c.world }

// queueHere queues an event about the world that we are in or load.
func (c *Client) queueHere(event []byte) {
	if c.world != 0 {
		var about [2 + protocol.MaxReady]byte
		event = append(protocol.AppendMapChange(about[:0], c.world), event...)
	}
	if len(c.owed) > 0 || c.peer.QueueReliable(event) != nil { // what was said before the map changed may fill the queue
		c.owed = append(c.owed, bytes.Clone(event))
	}
}

// repay queues what found the queue full.
func (c *Client) repay() {
	for len(c.owed) > 0 && c.peer.QueueReliable(c.owed[0]) == nil {
		c.owed = c.owed[1:]
	}
}

// old reports whether a snapshot is of a world that we have left.
func (c *Client) old(t tick.Tick) bool { return c.world != 0 && t <= tick.Tick(c.welcome.Tick) }
