package client

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Receive takes a datagram that arrived now from Server, and decrypts it in place. The error is a netcode.Drop or, of what is
// inside, a packet.Drop, and says why it was refused; every datagram and every package is counted once, as accepted or by
// that reason. The datagram is not kept.
func (c *Client) Receive(now time.Duration, datagram []byte) error {
	read := c.stats.Traffic.Total() + uint64(len(datagram))
	pack, err := c.receive(now, datagram)
	c.stats.Traffic.Refused += read - c.stats.Traffic.Total() // whatever nobody took
	if c.account != nil {
		c.account.take(c, datagram, pack, err)
	}
	return err
}

// receive is Receive, and returns the package that was in the datagram, nil if there was none.
func (c *Client) receive(now time.Duration, datagram []byte) (pack []byte, err error) {
	c.stats.BytesIn += uint64(len(datagram))
	c.fresh()
	pack, err = c.dial.Receive(now, c.dial.Server(), datagram, &c.out)
	if err != nil {
		return nil, err
	}
	c.dialled(now)
	if pack == nil {
		c.stats.Traffic.Session += uint64(len(datagram))
		return nil, nil
	}
	c.stats.Traffic.Seal += uint64(len(datagram) - len(pack))
	c.count.Arrived()
	err = c.open(now, pack)
	c.count.Count(err)
	return pack, err
}

// open takes a package.
func (c *Client) open(now time.Duration, pack []byte) error {
	if c.state > Joined {
		return packet.DropClosed
	}
	rest, err := c.peer.Receive(now, pack)
	if err != nil {
		return err
	}
	c.rtt = c.peer.RTT()
	c.stats.Traffic.Header += uint64(len(pack) - len(rest))
	c.resolve()
	err = c.sections(now, rest)
	if why, closed := c.peer.Closed(); closed && c.state == Connecting && (c.unlike || c.fetch.refused(why)) {
		c.end(Denied, why, c.unlikeUs(why))
	} else if closed && c.state <= Joined {
		c.end(Lost, why, errors.New("client: the server ended the session: "+why.String()))
	}
	return err
}

// resolve learns from the acks which commands the server has.
func (c *Client) resolve() {
	delivered, lost := c.peer.Delivered(), c.peer.Lost()
	for _, newest := range delivered {
		c.arrived = max(c.arrived, tick.Tick(newest))
	}
	c.measured = c.measured || len(delivered) > 0
	c.predicted.resolved(len(delivered), len(lost))
}

// sections reads a payload.
func (c *Client) sections(now time.Duration, p []byte) (err error) {
	left, err := c.peer.Sections(p)
	if err == nil {
		c.stats.Traffic.Messages += uint64(len(p) - len(left))
	}
	p = left
	bad := c.drainEvents(now)
	if blob, ok := c.peer.NextTransfer(); ok && c.state <= Joined {
		if why := c.parcel(now, blob); why != nil {
			bad = why
		}
	}
	if err != nil {
		return err
	}
	if c.state == Connecting && c.world != 0 && packet.SectionOf(p) == packet.SectionSnapshot {
		c.stats.Stale++ // of the map before
		return bad
	}
	if c.state == Joined && packet.SectionOf(p) == packet.SectionSnapshot {
		if err = c.snapshot(now, p[1:]); err != nil {
			return err
		}
		return bad
	}
	if len(p) > 0 {
		return packet.DropSection
	}
	return bad
}

// lastTick is the newest tick that is believed: arithmetic beyond it might wrap.
const lastTick = 1<<32 - 1<<16

// snapshot takes in one datagram's part of a snapshot.
func (c *Client) snapshot(now time.Duration, src []byte) error {
	whole := len(src) + 1 // with the section's own byte
	h, rest, err := netstate.ParseHeader(src)
	if err != nil || h.Tick > lastTick {
		return packet.DropSnapshot
	}
	if c.old(h.Tick) {
		c.stats.Stale++
		return nil
	}
	if c.cfg.Bare {
		c.server.fastest(c.looks.at(now), h.Tick)
	} else {
		c.server.arrive(c.looks.at(now), h.Tick)
	}
	c.server.follow(c.looks.at(now), c.peer.RTT().Min/2, !c.measured)
	if h.Owner && !c.cfg.Bare {
		var row []int32
		if row, rest, err = c.owner.Parse(h.Tick, rest); err != nil {
			return c.undecoded(now, h.Tick, err)
		}
		c.owned(now, h.Tick, row)
	}
	c.stats.Traffic.Owner += uint64(whole - len(rest))
	if !c.cfg.Thin {
		rows := len(rest)
		if rest, err = c.flights.section(c, h, rest); err != nil {
			return c.undecoded(now, h.Tick, err)
		}
		c.stats.Traffic.Things += uint64(rows - len(rest))
		if h.Checked {
			err = c.decoder.CheckedSection(h.Tick, rest, h.Sum)
		} else {
			err = c.decoder.Section(h.Tick, rest)
		}
		if err != nil {
			return c.undecoded(now, h.Tick, err)
		}
	}
	c.stats.Traffic.Rows += uint64(len(rest))
	if c.held.add(h.Tick) {
		c.stats.Snapshots++
	}
	return nil
}

// owned takes in the owner row of tick t.
func (c *Client) owned(now time.Duration, t tick.Tick, row []int32) {
	if t <= c.selfTick {
		return
	}
	last := c.self.Starved
	c.self, c.selfTick = netstate.SelfOf(row), t
	starved := c.self.Starved - last
	c.stats.Starved += uint64(starved)
	switch {
	case c.predict.gave(t): // only of such a tick does the report say how our commands fare
		c.predicted.report(c.looks.at(now), t, c.self.Lead, starved != 0)
	case t > c.predict.newest:
		c.predicted.known = false
	}
	if was := c.predict.correct(t, &c.self); was.ok {
		if is := c.predict.shown(); is.ok {
			c.correction.add(was.pos, is.pos)
		}
	}
}

// undecoded deals with a section of the snapshot of tick t that could not be decoded, or not to what the server has, although its
// package is acknowledged by now: the server must be told, or it would go on to use as a baseline what is not here. A section that
// is merely too old harms nobody.
func (c *Client) undecoded(now time.Duration, t tick.Tick, err error) error {
	if err == snapshot.ErrStale {
		c.stats.Stale++
		return nil
	}
	var ask [5]byte
	event := append(ask[:0], sim.AskResync)
	if err == snapshot.ErrSum {
		c.stats.Diverged++
		event = sim.AppendDiverged(ask[:0], t)
	} else {
		c.stats.Undecoded++
	}
	if wait := 250*time.Millisecond + c.peer.RTT().Smoothed; c.stats.Resyncs == 0 || now-c.resyncAt >= wait {
		if c.peer.QueueReliable(event) == nil {
			c.stats.Resyncs++
			c.resyncAt = now
		}
	}
	if err == snapshot.ErrNoBaseline || err == snapshot.ErrSum {
		return nil // nothing is wrong with the datagram
	}
	return packet.DropSnapshot
}
