package netcode

import (
	"encoding/binary"
	"time"
)

const (
	hellos     = 5 // at most: a server of the standard never answers
	helloEvery = time.Second
)

// roaming is the state of a client that keeps its session when its address changes.
type roaming struct {
	id     uint64 // session id; 0: none granted
	hellos int
	at     time.Duration // when the newest hello or probe was sent
}

// roam asks for a session id. When the server has been silent, it sends probes, because our
// address may have changed.
func (c *Client) roam(now time.Duration, out *Outbox) {
	r := &c.roaming
	switch {
	case r.id == 0 && r.hellos < hellos && (r.hellos == 0 || now-r.at >= helloEvery):
		r.hellos++
		r.at = now
		c.sendPath(now, append(c.sealer.body[:0], pathHello), out)
	case r.id != 0 && now-c.received >= c.cfg.ProbeAfter && now-r.at >= sendEvery:
		r.at = now
		body := append(c.sealer.body[:0], pathProbe)
		header := len(appendHeader(out.bytes, KindPath, c.sequence)) - len(out.bytes)
		c.sendPath(now, append(body, zeros[:probeBody(header)-1]...), out)
	}
}

func (c *Client) sendPath(now time.Duration, body []byte, out *Outbox) {
	out.commit(c.sealer.sealPath(c.seal, out.bytes, c.sequence, c.roaming.id, body), c.Server())
	c.sequence++
	c.sent = now
	c.counters.Sent[KindPath]++
}

// path takes a grant of a session id, or echoes a challenge.
func (c *Client) path(now time.Duration, h header, datagram []byte, out *Outbox) Drop {
	id, fits := pathID(h, datagram)
	if !fits {
		return DropSize
	}
	body, ok := c.sealer.openPath(c.open, h, id, datagram)
	if !ok {
		return DropAuth
	}
	c.window.Record(h.sequence)
	if !pathFits(body[0], len(body)) {
		return DropBody
	}
	switch {
	case body[0] == pathGrant && id == 0:
		c.roaming.id = binary.LittleEndian.Uint64(body[1:])
	case body[0] == pathChallenge && id == c.roaming.id && id != 0:
		echo := append(append(c.sealer.body[:0], pathEcho), body[1:]...)
		c.sendPath(now, echo, out)
	default:
		return DropMigration
	}
	c.received = now
	return DropNone
}
