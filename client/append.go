package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
)

const (
	keepAlive   = 50 * time.Millisecond // a package goes out at least so often, for its acks
	eventBudget = 512                   // bytes of a package that events may take; a window of commands is never longer than the rest
)

// Append adds the datagram that is to be sent now to dst and reports whether there is one: a step of the handshake, or a
// package with events and all commands that the server is not known to have. Call it once after each Advance.
func (c *Client) Append(now time.Duration, dst []byte) ([]byte, bool) {
	start := len(dst)
	switch c.state {
	case Connecting:
		dst = c.dialer.Update(now, dst)
		if c.dialer.State() == session.TimedOut {
			c.deny()
		}
	case Joined:
		dst = c.pack(now, dst)
	}
	n := len(dst) - start
	if n > 0 {
		c.stats.DatagramsOut++
		c.stats.BytesOut += uint64(n)
	}
	return dst, n > 0
}

func (c *Client) pack(now time.Duration, dst []byte) []byte {
	fresh := c.predict.first != 0 && c.predict.newest > c.sent
	if !c.peer.Ready(now) || !fresh && now-c.sentAt < keepAlive {
		return dst
	}
	dst, seq := c.peer.Append(now, dst)
	dst = c.peer.AppendEvents(dst, eventBudget)
	newest := tick.Tick(0)
	if cmds := c.unacked(); len(cmds) > 0 {
		dst = append(dst, byte(wire.SectionCommands))
		dst = sim.AppendCommands(dst, cmds)
		newest = cmds[len(cmds)-1].Tick
	}
	c.peer.Sent(seq, uint64(newest))
	c.sent, c.sentAt = max(c.sent, newest), now
	return dst
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

// Leave ends the session and adds the datagram that says so to dst: send it wire.DisconnectRepeats times. Nothing is
// added when there is no session.
func (c *Client) Leave(now time.Duration, dst []byte) []byte {
	if c.state > Joined {
		return dst
	}
	if c.state == Joined {
		dst = c.peer.AppendDisconnect(dst, wire.ReasonLeft)
	}
	c.end(Left, 0, nil)
	return dst
}
