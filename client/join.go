package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

var errNoWelcome = errors.New("client: the server's first message is not a Welcome")

// readWelcome takes the first message, which must be the Welcome, and the messages until the match
// is complete.
func (c *Client) readWelcome(now time.Duration, raw []byte) error {
	if c.mismatch || c.fetch.wants != 0 {
		return c.readSchemas(raw)
	}
	w, err := protocol.ParseWelcome(raw)
	switch err {
	case nil:
		c.joinMatch(now, w)
		return nil
	case packet.DropVersion:
		c.end(Denied, packet.ReasonVersion,
			fmt.Errorf("client: server has protocol version %d, the client has %d",
				w.Version, protocol.Version))
	default:
		c.end(Lost, 0, errNoWelcome)
	}
	c.dial.Disconnect(now, &c.out)
	return err
}

// joinMatch joins the match of a Welcome, or starts to fetch what is missing.
func (c *Client) joinMatch(now time.Duration, w protocol.Welcome) {
	if c.join(now, w, &c.conn) {
		c.enter()
		c.queueSnapshotRate(&c.conn)
	}
}

// changeMap takes the message that another map is played from now on, or the same one again. The
// client gets what the new Welcome names, as at the start, and says Ready again; meanwhile it is
// Connecting. Session, round trip, the server clock and the chat stay.
func (c *Client) changeMap(now time.Duration, raw []byte) error {
	epoch, message, err := protocol.ParseMapChange(raw)
	if err != nil {
		return err
	}
	w, err := protocol.ParseWelcome(message)
	if err != nil || epoch != protocol.NextMapEpoch(c.mapEpoch) || w.Tick < c.welcome.Tick {
		return packet.DropMessage
	}
	if c.changes.exceeded(now) {
		c.end(Lost, 0, errTooManyChanges)
		c.dial.Disconnect(now, &c.out)
		return packet.DropMessage
	}
	c.state, c.mapEpoch, c.deferred = Connecting, epoch, nil
	c.match.reset()
	c.replica.reset()
	c.clock.Reset()
	c.interp.Reset()
	c.predict.Reset()
	c.Objects.Reset()
	c.Effects.reset()
	c.Chat.reset()
	c.Board.reset()
	c.Round.reset()
	c.Spectate.reset()
	c.uplink.due = 0
	c.joinMatch(now, w)
	return nil
}

// changeLimit bounds how often a server changes the map: each change costs the client the making of
// one.
type changeLimit struct {
	bucket ratelimit.Bucket // of seconds
	count  uint64           // changes so far
}

const (
	changeBurst   = 8
	changeSeconds = 5 // between two changes, on average
)

func newChangeLimit() changeLimit {
	return changeLimit{bucket: ratelimit.NewBurst(1, changeBurst*changeSeconds)}
}

var errTooManyChanges = errors.New("client: the server changes the map too often")

// exceeded counts a change at now and reports whether it is one too many.
func (l *changeLimit) exceeded(now time.Duration) bool {
	if !l.bucket.Allow(now, changeSeconds) {
		return true
	}
	l.count++
	return false
}
