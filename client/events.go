package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// eventRing is how many events wait for NextEvent.
const eventRing = 256

// EventReset is the Kind of the one event that no server tells: a clock of ours was so far off that it was set anew, and not steered. Actor
// is we ourselves, Tick where the clock is, Amount how often it happened since the last such event. Part is ResetPredicted, where commands
// were made for other ticks than before, or ResetRender, where the picture jumped.
const EventReset sim.EventKind = 0xff

// What an EventReset is of.
const (
	ResetPredicted rig.Part = iota
	ResetRender
)

// reset is the EventReset that is due.
func (c *Client) reset() (sim.Event, bool) {
	for part, clock := range [...]struct {
		resets uint64
		at     time.Duration
	}{ResetPredicted: {c.predicted.resets, c.predicted.at}, ResetRender: {c.render.resets, c.render.at}} {
		if told := &c.events.resets[part]; clock.resets != *told {
			t, _ := c.rate.Since(clock.at)
			e := sim.Event{Kind: EventReset, Part: rig.Part(part), Tick: t, Actor: c.ID(), Amount: uint16(min(clock.resets-*told, 1<<16-1))}
			*told = clock.resets
			return e, true
		}
	}
	c.hears = false
	return sim.Event{}, false
}

// events is a queue of what the server told us.
type events struct {
	in, out  uint64
	ring     []sim.Event // made with the first
	overrun  uint64      // oldest ones that were overwritten, because nobody asked for them
	received uint64
	resets   [2]uint64 // of the clocks, as EventReset has told
}

// NextEvent returns the next thing that happened, each once and in the order in which the server told it; and, where a clock was set anew,
// an EventReset.
func (c *Client) NextEvent() (sim.Event, bool) {
	if !c.hears {
		return sim.Event{}, false
	}
	q := &c.events
	if q.in == q.out {
		return c.reset()
	}
	e := q.ring[q.out%eventRing]
	q.out++
	return e, true
}

func (q *events) add(e sim.Event) {
	if q.in-q.out == eventRing {
		q.out++
		q.overrun++
	}
	if q.ring == nil {
		q.ring = make([]sim.Event, eventRing)
	}
	q.ring[q.in%eventRing] = e
	q.in++
	q.received++
}

// drainEvents takes over what the peer has put in order, and then the notes that the last package brought. An event that makes
// no sense is left out; the error is for the package that completed it. Nothing of the game is heard before the Welcome, nor
// after the end.
func (c *Client) drainEvents(now time.Duration) (err error) {
	for raw, ok := c.peer.NextReliable(); ok; raw, ok = c.peer.NextReliable() {
		c.hears = true
		if raw[0] == protocol.MessageMapChange && c.state <= Joined && c.welcome.Version != 0 && !c.unlike {
			err = c.elsewhere(now, raw)
			continue
		}
		switch c.state {
		case Connecting:
			err = c.welcomed(now, raw)
		case Joined:
			if is, bad := c.social(raw); is {
				if bad != nil {
					err = bad
				}
			} else if e, bad := sim.ParseEvent(raw); bad == nil {
				c.events.add(e)
				c.happened(e)
			} else if !c.round(raw) && !c.looks.take(now, raw) && !c.flights.take(raw) {
				err = packet.DropMessage
			}
		}
	}
	for raw, ok := c.peer.NextUnreliable(); ok && c.state == Joined; raw, ok = c.peer.NextUnreliable() {
		c.hears = true
		if e, bad := sim.ParseEvent(raw); bad == nil {
			c.events.add(e)
		} else {
			err = packet.DropUnreliable
		}
	}
	return err
}

// AskHero asks the server to make us another hero, by its id: it does so at home, in a base of our team, or when we spawn next. The
// error is that of a queue that is full, or that there is no session yet.
func (c *Client) AskHero(hero uint8) error {
	if c.state != Joined {
		return ErrNotJoined
	}
	var event [2]byte
	return c.peer.QueueReliable(sim.AppendHero(event[:0], hero))
}

// ErrNotJoined is returned for what only a client that has joined may ask.
var ErrNotJoined = errors.New("client: not joined")

// maxSchemas is the longest text of schemas that is taken in, in bytes.
const maxSchemas = 8 << 10

// unlikeUs says what differs between the server's schemas and model and ours.
func (c *Client) unlikeUs(why packet.Reason) error {
	if why != packet.ReasonSchema && why != packet.ReasonModel {
		return fmt.Errorf("client: %v", why)
	}
	return fmt.Errorf("client: %v: %s", why, c.cfg.Models.Mismatch(c.theirs))
}

// welcomed takes the first event, which is the Welcome, or the server is none of ours; and where that does not match, those
// that tell how it does not.
func (c *Client) welcomed(now time.Duration, raw []byte) error {
	if c.unlike || c.fetch.wants != 0 {
		if _, err := sim.ParseEvent(raw); err == nil && !c.unlike {
			return nil // the match goes on, and is not shown to us yet
		}
		if raw[0] != protocol.MessageSchemas || len(c.theirs)+len(raw) > maxSchemas {
			return packet.DropMessage
		}
		c.theirs = append(c.theirs, raw[1:]...)
		return nil
	}
	w, err := protocol.ParseWelcome(raw)
	switch err {
	case nil:
		c.join(now, w)
		return nil
	case packet.DropVersion:
		c.end(Denied, packet.ReasonVersion, fmt.Errorf("client: server speaks version %d, we speak %d", w.Version, protocol.Version))
	default:
		c.end(Lost, 0, errNoWelcome)
	}
	c.dial.Disconnect(now, &c.out)
	return err
}

var errNoWelcome = errors.New("client: the server's first event is no welcome")
