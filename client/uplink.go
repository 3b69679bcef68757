package client

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// uplink sends commands: each packet has every command that the server is not known to have.
type uplink struct {
	sent     tick.Tick // newest command that was sent
	acked    tick.Tick // newest command that the server has
	due      int       // commands that Advance asked for and that are not issued yet
	report   predict.Report
	receipts receipts
	window   [sim.MaxWindow]sim.Command
}

// resolve takes the acks and losses of the last packet.
func (u *uplink) resolve(peer *packet.Peer, clocks *clock.Clocks) {
	delivered, lost := peer.Delivered(), peer.Lost()
	for _, newest := range delivered {
		u.acked = max(u.acked, tick.Tick(newest))
	}
	clocks.Predicted.CountPackets(len(delivered), len(lost))
}

// unacked gathers the commands that the server is not known to have, oldest first: the newest
// without a gap, at most sim.MaxWindow.
func (u *uplink) unacked(p *predict.Predictor) []sim.Command {
	at := len(u.window)
	for t := p.Newest; at > 0 && t > u.acked; t-- {
		cmd, ok := p.Command(t)
		if !ok {
			break
		}
		at--
		u.window[at] = cmd
	}
	return u.window[at:]
}

// Outgoing returns the datagrams to send now: pings to the addresses of a token that has several,
// then to Server steps of the handshake, and a packet with messages and commands. Each says where
// it goes. Call it once after each Advance. They are the client's memory, valid until its next
// call.
func (c *Client) Outgoing(now time.Duration) *netcode.Outbox {
	c.resetOut()
	c.outTaken = true
	if c.state <= Joined { // after the end only disconnects are left to send
		c.dial.Update(now, &c.out)
		c.followDial(now)
		c.expireFetch(now, &c.conn)
	}
	if c.state <= Joined && c.dial.State() == netcode.Connected {
		c.sendPacket(now)
	}
	if c.state == Joined {
		c.outgoingMoving(now)
	}
	c.stats.datagramsOut += uint64(c.out.Len())
	for i := range c.out.Len() {
		_, data := c.out.At(i)
		c.stats.bytesOut += uint64(len(data))
	}
	return &c.out
}

// sendPacket adds a packet to out if there are new commands or a keep-alive is due.
func (c *Client) sendPacket(now time.Duration) {
	c.queueDeferred()
	u, p := &c.uplink, &c.predict
	fresh := p.First != 0 && p.Newest > u.sent
	if !c.peer.CanSend(now) || !fresh && now-c.sentAt < keepAlive {
		return
	}
	pkt, seq := c.peer.Append(now, c.draft[:0])
	pkt = c.peer.AppendReliable(pkt, messageBudget)
	if u.report.Due(now, p.Stats.Mispredictions) {
		var note [5]byte
		// It is the only unreliable message, so there is room.
		_ = c.peer.QueueUnreliable(sim.AppendMispredictions(note[:0], uint32(u.report.Count)))
	}
	pkt = c.peer.AppendUnreliable(pkt, noteBudget)
	newest := tick.Tick(0)
	if cmds := u.unacked(p); len(cmds) > 0 {
		pkt = append(pkt, byte(packet.SectionCommands))
		pkt = sim.AppendCommands(pkt, cmds)
		pkt = sim.AppendArrivals(pkt, c.interp.Delay(), u.receipts.since(cmds, c.peer.AckState()))
		newest = cmds[len(cmds)-1].Tick
	}
	c.peer.SetAckTag(seq, uint64(newest))
	u.sent, c.sentAt = max(u.sent, newest), now
	_ = c.dial.Send(now, pkt, &c.out) // connected; an error is a lost packet
}

// receipts remembers which packets had arrived when each command was issued, by tick.
type receipts struct {
	ring [clock.History]packet.AckState
	list [sim.MaxArrivals]sim.Arrival
}

// issued records the packets that had arrived when the command of tick t was issued.
func (r *receipts) issued(t tick.Tick, has packet.AckState) { r.ring[t%clock.History] = has }

// since lists, for a window of commands, the packets that arrived after some of those with a view
// were issued, newest packet first. has never shrinks, so it includes the packets of each command.
func (r *receipts) since(cmds []sim.Command, has packet.AckState) []sim.Arrival {
	if has.Newest == 0 {
		return nil
	}
	if has.Newest <= 64 {
		has.Bits &= 1<<(has.Newest-1) - 1 // sequences begin at 1
	}
	found, newest := uint64(0), false // packets before the newest, and the newest
	var came [64]uint8                // by bit of found: commands after the one that it follows
	last := 0                         // likewise of the newest
	for i := len(cmds) - 1; i >= 0; i-- {
		if cmds[i].View == (tick.View{}) { // as most
			continue
		}
		had := r.ring[cmds[i].Tick%clock.History]
		if back := has.Newest - had.Newest; back > 0 {
			had.Bits = had.Bits<<back | 1<<(back-1)
			if !newest {
				newest, last = true, len(cmds)-1-i
			}
		}
		fresh := has.Bits &^ had.Bits &^ found
		found |= fresh
		for ; fresh != 0; fresh &= fresh - 1 {
			came[bits.TrailingZeros64(fresh)] = uint8(len(cmds) - 1 - i)
		}
	}
	n := 0
	if newest {
		r.list[0] = sim.Arrival{Since: uint8(last)}
		n = 1
	}
	for ; found != 0; found &= found - 1 {
		back := bits.TrailingZeros64(found)
		r.list[n] = sim.Arrival{Back: uint8(back + 1), Since: came[back]}
		n++
	}
	return r.list[:n]
}
