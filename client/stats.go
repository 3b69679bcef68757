package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// Stats is what a client knows of its connection and of itself. Counters only grow.
type Stats struct {
	Datagrams    netcode.Counters // Received = the sum of Accepted + that of Drops
	Packages     packet.Counters  // what was in those of kind payload: Received = Accepted + the sum of Drops
	BytesIn      uint64
	DatagramsOut uint64
	BytesOut     uint64
	Traffic      Traffic // BytesIn by section

	Snapshots uint64 // distinct ticks
	Stale     uint64 // sections too old to be kept
	Undecoded uint64 // sections that could not be decoded
	Diverged  uint64 // sections that were decoded to other rows than the server has, by their checksum; nothing of them is shown
	Worlds    uint64 // times the server changed the map
	Resyncs   uint64 // times the server was asked to begin anew
	Events    uint64 // events received
	Overrun   uint64 // events overwritten because NextEvent was not called
	Lines     uint64 // lines received, and made of what happened to names
	Unread    uint64 // lines overwritten because NextLine was not called
	Shots     uint64 // rounds fired, as predicted
	Killcams  uint64 // that came whole

	Flights Flights // of our own

	RTT, RTTMin time.Duration // smoothed, and the least of two seconds
	Jitter      time.Duration // how late the latest twentieth of the snapshots are
	Loss        float32       // share of our packages that is lost, smoothed
	SnapshotAge time.Duration // at the last Advance: the server's clock less the newest snapshot's instant
	InterpDelay time.Duration // from the newest snapshot that could be here to what is looked at

	Lead       int8          // ticks by which our newest command on the server was ahead, in the newest owner row; below 0: too late
	LeadWanted time.Duration // what the predicted clock steers for
	Starved    uint64        // ticks the server had to play without our command

	HardResets   uint64 // of the predicted clock
	RenderResets uint64 // of the render clock
	RenderStalls uint64 // Advances at which the render clock had to wait for a snapshot

	Prediction  Prediction
	Corrections Corrections // what was done to hide the mispredictions, knock-backs and so on that moved us
}

// Stats returns the numbers as they are now. It allocates nothing.
func (c *Client) Stats() Stats {
	s := c.stats
	s.Datagrams, s.Packages = *c.dial.Counters(), c.count
	s.Events, s.Overrun = c.events.received, c.events.overrun
	s.Lines, s.Unread = c.talk.in, c.talk.overrun
	s.Shots = c.shots.fired
	s.Jitter = c.server.jitter
	s.Loss = float32(c.predicted.loss) / 65536
	s.Lead = c.self.Lead
	s.HardResets, s.RenderResets, s.RenderStalls = c.predicted.resets, c.render.resets, c.render.stalls
	s.Prediction, s.Corrections = c.predict.count, c.correction.count
	s.Flights = c.flights.count
	if c.peer != nil {
		rtt := c.peer.RTT()
		s.RTT, s.RTTMin = rtt.Smoothed, rtt.Min
	}
	if c.predicted.rate != 0 { // the Welcome has told it
		s.LeadWanted = c.predicted.want()
		s.InterpDelay = c.delay()
	}
	return s
}

// Jitter returns percentiles of the newest 256 round trips over the fastest of them, and of the ways here alone. It costs two sorts:
// it is for a report each second, and not in Stats. Both are zero before the server has let us in.
func (c *Client) Jitter() (round, here packet.Jitter) {
	if c.peer == nil {
		return
	}
	return c.peer.RTTJitter(), c.peer.Jitter()
}

// Clocks returns the three clocks at the last Advance, as time since the server's tick 0. All are 0 until they run.
func (c *Client) Clocks() (server, predicted, render time.Duration) {
	if c.held.n == 0 {
		return 0, 0, 0
	}
	return c.serverTime(), c.predicted.at, c.render.at
}

// Predicted is what we are after the newest command, and its tick. False until there is anything to predict from.
func (c *Client) Predicted() (s sim.Self, t tick.Tick, ok bool) {
	if !c.predict.foresees() {
		return s, 0, false
	}
	at := c.predict.state(c.predict.newest)
	return at.Self, c.predict.newest, at.known
}

// Given returns the command that was given for a tick, with the view that it carries. False for a tick that had none, or is longer ago
// than the two seconds that are remembered.
func (c *Client) Given(t tick.Tick) (sim.Command, bool) {
	if !c.predict.gave(t) {
		return sim.Command{}, false
	}
	return c.predict.at(t).cmd, true
}
