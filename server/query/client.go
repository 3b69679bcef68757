package query

import (
	"errors"
	"time"
)

// Timeout is the time that Unity's client waits for an answer.
const Timeout = 3 * time.Second

// retry is the time after which a client repeats a request.
const retry = 750 * time.Millisecond

// ErrUnanswered means that the report is not complete.
var ErrUnanswered = errors.New("query: no complete answer")

// Client asks one server once. Give it only datagrams from that server.
type Client struct {
	asked   Chunks
	token   uint32
	proven  bool // the challenge was answered
	asking  bool // something was sent in this step
	sent    time.Duration
	trips   [2]time.Duration
	parts   [MaxPackets][]byte
	missing int // of the response; -1 before its first datagram
	last    uint8
	out     []byte
}

// NewClient returns a client that asks for the given chunks.
func NewClient(chunks Chunks) *Client { return &Client{asked: chunks & AllChunks, missing: -1} }

// Send returns the datagram to send now, nil for none. It is valid until the next call. Call it at
// the start, after each Receive, and from time to time: lost requests are repeated.
func (c *Client) Send(now time.Duration) []byte {
	if c.Done() || c.asking && now-c.sent < retry {
		return nil
	}
	c.asking, c.sent = true, now
	if c.proven {
		c.out = request{c.token, c.asked}.append(c.out[:0])
	} else {
		c.out = appendChallenge(c.out[:0], 0)
	}
	return c.out
}

// Receive takes a datagram and keeps no reference to it. A datagram that answers no request changes
// nothing.
func (c *Client) Receive(now time.Duration, datagram []byte) error {
	if !c.proven {
		token, err := parseChallenge(datagram)
		if err != nil {
			return err
		}
		c.token, c.proven, c.asking = token, true, false
		c.trips[0] = now - c.sent
		return nil
	}
	var h head
	payload, err := h.parse(datagram)
	if err != nil || h.token != c.token || c.missing >= 0 && h.last != c.last {
		return ErrMalformed
	}
	if c.missing < 0 {
		c.missing, c.last = int(h.last)+1, h.last
		c.trips[1] = now - c.sent
	}
	if c.parts[h.current] == nil && c.missing > 0 {
		c.parts[h.current] = append([]byte{}, payload...)
		c.missing--
	}
	return nil
}

// Done reports whether the response is complete.
func (c *Client) Done() bool { return c.missing == 0 }

// Report returns the report of the server. The error is ErrUnanswered or ErrMalformed.
func (c *Client) Report() (Report, error) {
	if !c.Done() {
		return Report{}, ErrUnanswered
	}
	var stream []byte
	for _, part := range c.parts[:int(c.last)+1] {
		stream = append(stream, part...)
	}
	return ParseReport(stream, c.asked)
}

// RTT is the mean of the two round trips.
func (c *Client) RTT() time.Duration { return (c.trips[0] + c.trips[1]) / 2 }
