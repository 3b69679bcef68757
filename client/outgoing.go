package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

const (
	keepAlive   = 50 * time.Millisecond // a package goes out at least so often, for its acks
	eventBudget = 512                   // bytes of a package that events may take; a window of commands is never longer than the rest
)

// Outgoing returns the datagrams that are to be sent now, all of them to Server: steps of the handshake, and a package with
// events and all commands that the server is not known to have. Call it once after each Advance. They are the client's
// memory, valid until its next call.
func (c *Client) Outgoing(now time.Duration) *netcode.Outbox {
	c.fresh()
	c.given = true
	if c.state <= Joined { // after the end there is nothing to say but the goodbyes that wait
		c.dial.Update(now, &c.out)
		c.dialled(now)
		c.awaited(now)
	}
	if c.state <= Joined && c.dial.State() == netcode.Connected {
		c.pack(now)
	}
	c.stats.DatagramsOut += uint64(c.out.Len())
	for i := range c.out.Len() {
		_, data := c.out.At(i)
		c.stats.BytesOut += uint64(len(data))
	}
	return &c.out
}

// mostWaiting bounds what a server can make us say between two calls of Outgoing.
const mostWaiting = 64

// fresh forgets what the caller has seen.
func (c *Client) fresh() {
	if c.given || c.out.Len() >= mostWaiting {
		c.out.Reset()
		c.given = false
	}
}

func (c *Client) pack(now time.Duration) {
	c.repay()
	fresh := c.predict.first != 0 && c.predict.newest > c.sent
	if !c.peer.CanSend(now) || !fresh && now-c.sentAt < keepAlive {
		return
	}
	pack, seq := c.peer.Append(now, c.draft[:0])
	pack = c.peer.AppendReliable(pack, eventBudget)
	c.confess(now)
	pack = c.peer.AppendUnreliable(pack, noteBudget)
	newest := tick.Tick(0)
	if cmds := c.unacked(); len(cmds) > 0 {
		pack = append(pack, byte(packet.SectionCommands))
		pack = sim.AppendCommands(pack, cmds)
		pack = sim.AppendArrivals(pack, c.pledges.delay, c.arrivals.since(cmds, c.peer.AckState()))
		newest = cmds[len(cmds)-1].Tick
	}
	c.peer.SetAckTag(seq, uint64(newest))
	c.sent, c.sentAt = max(c.sent, newest), now
	_ = c.dial.Send(now, pack, &c.out) // connected; what cannot be sent is lost like any other package
}

// unacked gathers the commands that the server is not known to have, oldest first: the newest ones without a gap.
func (c *Client) unacked() []sim.Command {
	at := len(c.window)
	for t := c.predict.newest; at > 0 && t > c.arrived && c.predict.gave(t); t-- {
		at--
		c.window[at] = c.predict.at(t).cmd
	}
	return c.window[at:]
}

// Leave ends the session. The next Outgoing has the goodbyes, several as any may be lost.
func (c *Client) Leave(now time.Duration) {
	if c.state > Joined {
		return
	}
	c.fresh()
	c.dial.Disconnect(now, &c.out)
	c.end(Left, 0, nil)
}
