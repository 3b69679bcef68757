package client

import (
	"errors"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Receive takes a datagram that arrived now from Server, or from any address of the token while the
// client has not chosen one, and decrypts it in place. The error is a
// netcode.Drop or, for its content, a packet.Drop. Every datagram and every packet is counted once,
// as accepted or by the reason of its drop. The datagram is not kept.
func (c *Client) Receive(now time.Duration, datagram []byte) error {
	return c.ReceiveFrom(now, c.Server(), datagram)
}

// ReceiveFrom is Receive for a datagram from an address. A client whose match may move to another
// host needs it: while it connects there it has two servers.
func (c *Client) ReceiveFrom(now time.Duration, from netip.AddrPort, datagram []byte) error {
	traffic := &c.stats.traffic
	read := traffic.Total() + uint64(len(datagram))
	if c.moving.isFrom(from) {
		err := c.receiveMoving(now, datagram)
		traffic.Refused += read - traffic.Total()
		return err
	}
	pkt, err := c.decrypt(now, datagram)
	if pkt != nil {
		err = c.receivePacket(now, pkt)
		c.stats.packets.Count(err)
	}
	traffic.Refused += read - traffic.Total() // bytes that no section took
	if c.Meter != nil {
		c.Meter.add(c, datagram, pkt, err)
	}
	return err
}

func (c *Client) receivePacket(now time.Duration, pkt []byte) error {
	sections, err := c.readHeader(now, pkt)
	if err != nil {
		return err
	}
	c.uplink.resolve(c.peer, &c.clock)
	err = c.readSections(now, sections)
	why, closed := c.peer.Closed()
	switch {
	case !closed || c.state > Joined:
	case c.state == Connecting && (c.mismatch || c.fetch.refused(why)):
		c.end(Denied, why, c.mismatchError(why))
	default:
		c.end(Lost, why, errors.New("client: the server ended the session: "+why.String()))
	}
	return err
}

// readSections reads messages, fragments and a snapshot. Of several errors the last counts.
func (c *Client) readSections(now time.Duration, p []byte) (err error) {
	left, err := c.peer.Sections(p)
	if err == nil {
		c.stats.traffic.Messages += uint64(len(p) - len(left))
	}
	p = left
	bad := c.readMessages(now)
	if transfer, ok := c.peer.NextTransfer(); ok && c.state <= Joined {
		if why := c.readTransfer(now, transfer); why != nil {
			bad = why
		}
	}
	if err != nil {
		return err
	}
	switch isSnapshot := packet.SectionOf(p) == packet.SectionSnapshot; {
	case isSnapshot && c.state == Joined:
		if err = c.readSnapshot(now, p[1:]); err != nil {
			return err
		}
	case isSnapshot && c.state == Connecting && c.mapEpoch != 0:
		c.replica.stats.stale++ // of the map before
	case len(p) > 0:
		return packet.DropSection
	}
	return bad
}

// readMessages takes the reliable messages in order, then the unreliable ones of the last packet. A
// message that is not valid is skipped; the error counts for the packet that completed it. Messages
// of the match count only between the Welcome and the end.
func (c *Client) readMessages(now time.Duration) (err error) {
	for raw, ok := c.peer.NextReliable(); ok; raw, ok = c.peer.NextReliable() {
		c.events.pending = true
		if raw[0] == protocol.MessageMapChange && c.state <= Joined && c.welcome.Version != 0 && !c.mismatch {
			err = c.changeMap(now, raw)
			continue
		}
		switch c.state {
		case Connecting:
			err = c.readWelcome(now, raw)
		case Joined:
			if bad := c.readMessage(now, raw); bad != nil {
				err = bad
			}
		}
	}
	for raw, ok := c.peer.NextUnreliable(); ok && c.state == Joined; raw, ok = c.peer.NextUnreliable() {
		c.events.pending = true
		if e, bad := sim.ParseEvent(raw); bad == nil {
			c.events.ring.Push(e)
		} else {
			err = packet.DropUnreliable
		}
	}
	return err
}

// readMessage takes one reliable message of the match.
func (c *Client) readMessage(now time.Duration, raw []byte) error {
	if known, err := c.Chat.message(raw, int(c.welcome.MaxPlayers)); known {
		return err
	}
	if known, err := c.Board.message(raw, int(c.welcome.MaxPlayers)); known {
		return err
	}
	if e, err := sim.ParseEvent(raw); err == nil {
		c.events.ring.Push(e)
		c.Chat.addKill(&e)
		c.Effects.hit(&e, c.ID())
		return nil
	}
	if c.Round.message(raw) {
		return nil
	}
	if n, ok := sim.ParseRoundEvent(raw); ok {
		c.Round.ring.Push(n)
		c.Chat.addRoundEvent(n)
		return nil
	}
	if c.Spectate.message(raw) {
		return nil
	}
	if scale, err := protocol.ParseTimescale(raw); err == nil {
		c.clock.Timescale.Set(now, scale)
		return nil
	}
	if c.Objects.Message(raw) {
		return nil
	}
	if raw[0] == protocol.MessageMove {
		if c.moving == nil {
			c.moving = new(moving)
		}
		return c.moving.message(now, raw, &c.out)
	}
	return packet.DropMessage
}

// maxTick is the newest tick that is accepted: arithmetic beyond it might wrap.
const maxTick = 1<<32 - 1<<16

// readSnapshot takes one packet's part of a snapshot.
func (c *Client) readSnapshot(now time.Duration, src []byte) error {
	whole := len(src) + 1 // with the section's own byte
	h, rest, err := netstate.ParseHeader(src)
	if err != nil || h.Tick > maxTick {
		return packet.DropSnapshot
	}
	r, scaled := &c.replica, c.clock.Timescale.At(now)
	if c.beforeMap(h.Tick, c.mapEpoch) {
		r.stats.stale++
		return nil
	}
	if c.cfg.Decode == DecodeAcks {
		c.clock.Server.ArriveOffset(scaled, h.Tick)
	} else {
		c.clock.Server.Arrive(scaled, h.Tick)
	}
	if c.measured {
		c.clock.Server.Follow(scaled, c.rtt.Min/2)
	} else {
		c.clock.Server.Snap(scaled, c.rtt.Min/2)
	}
	if h.Owner && c.cfg.Decode != DecodeAcks {
		var row []int32
		if row, rest, err = r.decoder.Parse(h.Tick, rest); err != nil {
			return r.lost(now, h.Tick, err, c.peer)
		}
		if r.take(h.Tick, row) {
			c.reconcile(scaled)
		}
	}
	c.stats.traffic.Owner += uint64(whole - len(rest))
	if c.cfg.Decode == DecodeFull {
		if rest, err = c.readRows(&h, rest); err != nil {
			return r.lost(now, h.Tick, err, c.peer)
		}
	}
	c.stats.traffic.Rows += uint64(len(rest))
	if c.interp.Arrived(h.Tick) {
		r.stats.snapshots++
	}
	return nil
}

// readRows takes the rows of objects, effects and the rows of players, and returns the last. Effects
// count even if the rows of players have no baseline: the server takes them for told.
func (c *Client) readRows(h *netstate.Header, src []byte) (rows []byte, err error) {
	rows, err = c.Objects.Section(*h, src)
	if err != nil {
		return rows, err
	}
	c.stats.traffic.Objects += uint64(len(src) - len(rows))
	told := 0
	if h.Effects {
		before := len(rows)
		if told, rows, err = c.Effects.parse(h.Tick, rows); err != nil {
			return rows, err
		}
		c.stats.traffic.Effects += uint64(before - len(rows))
	}
	if h.Checked {
		err = c.interp.Decoder.CheckedSection(h.Tick, rows, h.Sum)
	} else {
		err = c.interp.Decoder.Section(h.Tick, rows)
	}
	if c.cfg.Effects {
		c.takeEffects(h.Tick, told)
	}
	return rows, err
}

// reconcile compares the newest owner row with the prediction and takes the server's report in it.
func (c *Client) reconcile(scaled time.Duration) {
	r, p := &c.replica, &c.predict
	switch {
	case p.Issued(r.tick): // otherwise the report says nothing of our commands
		c.clock.Predicted.Report(scaled, r.tick, r.self.Lead, r.starved)
	case r.tick > p.Newest:
		c.clock.Predicted.Forget()
	}
	p.Reconcile(r.tick, &r.self)
}
