package ddnet

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// Rate is how often a client sends its input, in Hz; it is the server's tick rate.
const Rate = 50

// Messages, of the system or of the game.
const (
	systemExtended    = 0
	systemInfo        = 1
	systemMapChange   = 2
	systemConReady    = 4
	systemSnap        = 5
	systemSnapEmpty   = 6
	systemSnapSingle  = 7
	systemReady       = 14
	systemEnterGame   = 15
	systemInput       = 16
	systemPing        = 22
	systemPingReply   = 23
	gameReadyToEnter  = 8
	gameStartInfo     = 20
	version           = "0.6 626fce9a778df4d4"
	clientVersion     = 16040 // of DDNet: from here on a client sees 64 players
	clientVersionUUID = "\x8c\x00\x13\x04\x84\x61\x3e\x47\x87\x87\xf6\x72\xb3\x83\x5b\xd4"
)

// Bounds of what a client keeps for its server. Chunks of both fit a packet.
const (
	maxUnacked = 8
	maxQueue   = 32
)

var errUnacked = errors.New("ddnet: server acknowledges no vital chunks")

// Client is one headless player.
type Client struct {
	n         int
	token     []byte // nil: not connected
	sent      time.Duration
	sequence  int // of the newest vital chunk sent
	ack       int // of the newest vital chunk received
	resend    bool
	unacked   []chunk
	resendAt  time.Duration // when all unacked chunks were last sent again
	queue     []chunk       // for the next packet
	accepting bool          // the server waits for an accept
	joined    bool
	snapshots snapshots
	walker    crowd.Walker
	fires     int32
	firing    bool
	stats     crowd.Stats
	room      [maxPacket]byte
}

// New returns player n of a crowd.
func New(n int) *Client {
	return &Client{n: n, sent: -time.Hour, walker: crowd.NewWalker(n, Rate), snapshots: newSnapshots()}
}

// Stats is what has arrived.
func (c *Client) Stats() crowd.Stats { return c.stats }

// Period is the time between two Updates.
func (c *Client) Period() time.Duration { return time.Second / Rate }

// Receive takes a datagram of the server.
func (c *Client) Receive(datagram []byte, now time.Duration) {
	p, err := parsePacket(datagram, c.room[:])
	if err != nil {
		c.fail(err)
		return
	}
	if p.flags&flagControl != 0 {
		c.control(p.data)
		return
	}
	if c.token == nil || len(p.data) < tokenSize || string(p.data[len(p.data)-tokenSize:]) != string(c.token) {
		return
	}
	c.stats.Bytes += len(datagram)
	c.acked(p.ack)
	if p.flags&flagResend != 0 {
		c.resendAt = -time.Hour
	}
	rest := p.data[:len(p.data)-tokenSize]
	for range p.count {
		var k chunk
		if k, rest, err = nextChunk(rest); err != nil {
			c.fail(err)
			return
		}
		if k.vital {
			if k.sequence != (c.ack+1)%sequences {
				c.resend = c.resend || (k.sequence-c.ack+sequences)%sequences < sequences/2 && k.sequence != c.ack
				continue
			}
			c.ack = k.sequence
		}
		if err := c.message(k.data, now); err != nil {
			c.fail(err)
		}
	}
}

func (c *Client) fail(err error) {
	c.stats.Errors++
	c.stats.LastError = err
}

func (c *Client) control(data []byte) {
	if len(data) == 0 {
		return
	}
	switch data[0] {
	case controlAccepted:
		if c.token == nil && len(data) >= 9 && string(data[1:5]) == "TKEN" {
			c.token, c.accepting = append([]byte(nil), data[5:9]...), true
			id := make([]byte, 16)
			id[0] = byte(c.n)
			hello := append(AppendInt(nil, systemExtended<<1|1), clientVersionUUID...)
			hello = AppendInt(append(hello, id...), clientVersion)
			c.vital(appendText(hello, "DDNet 16.4"))
			info := AppendInt(nil, systemInfo<<1|1)
			c.vital(appendText(appendText(info, version), ""))
		}
	case controlClose:
		c.stats.LastError = fmt.Errorf("ddnet: server closed: %q", data[1:])
	}
}

// acked drops the vital chunks up to a number.
func (c *Client) acked(ack int) {
	for len(c.unacked) > 0 && (ack-c.unacked[0].sequence+sequences)%sequences < sequences/2 {
		c.unacked = c.unacked[1:]
	}
}

// vital queues a chunk that is sent until the server acknowledges it.
func (c *Client) vital(data []byte) {
	if len(c.unacked) == maxUnacked || len(c.queue) >= maxQueue+maxUnacked {
		c.fail(errUnacked)
		return
	}
	c.sequence = (c.sequence + 1) % sequences
	k := chunk{vital: true, sequence: c.sequence, data: data}
	c.unacked, c.queue = append(c.unacked, k), append(c.queue, k)
}

func (c *Client) message(data []byte, now time.Duration) error {
	u := unpacker{data: data}
	head := u.int()
	if id := head >> 1; head&1 == 0 {
		if id == gameReadyToEnter && !c.joined {
			c.joined = true
			c.vital(AppendInt(nil, systemEnterGame<<1|1))
		}
		return nil
	} else {
		switch id {
		case systemMapChange:
			c.vital(AppendInt(nil, systemReady<<1|1))
		case systemConReady:
			m := AppendInt(nil, gameStartInfo<<1)
			m = appendText(appendText(m, fmt.Sprintf("bot%d", c.n)), "")
			m = appendText(AppendInt(m, -1), "default")
			c.vital(AppendInt(AppendInt(AppendInt(m, 0), 0), 0))
		case systemPing:
			if len(c.queue) < maxQueue {
				c.queue = append(c.queue, chunk{data: AppendInt(nil, systemPingReply<<1|1)})
			}
		case systemSnap, systemSnapEmpty, systemSnapSingle:
			return c.snapshots.receive(id, &u, now, &c.stats)
		}
	}
	return nil
}

// Update appends the packet that is due to dst; none if nothing is.
func (c *Client) Update(dst []byte, now time.Duration) []byte {
	if c.token == nil {
		if now-c.sent < 500*time.Millisecond {
			return dst
		}
		c.sent = now
		return appendPacket(dst, flagControl, 0, 0, []byte("\x01TKEN\xff\xff\xff\xff"))
	}
	if c.accepting {
		c.accepting = false
		return appendPacket(dst, flagControl, 0, 0, append([]byte{controlAccept}, c.token...))
	}
	if len(c.unacked) > 0 && now-c.resendAt > time.Second {
		c.resendAt = now
		c.queue = append(c.queue[:0], c.unacked...)
	}
	if c.joined {
		c.queue = append(c.queue, chunk{data: c.input(now)})
	}
	if len(c.queue) == 0 {
		if now-c.sent < 250*time.Millisecond {
			return dst
		}
		c.sent = now
		return appendPacket(dst, flagControl, c.ack, 0, append([]byte{controlAlive}, c.token...))
	}
	c.sent = now
	var body []byte
	for _, k := range c.queue {
		body = k.append(body)
	}
	count, flags := len(c.queue), byte(0)
	if c.resend {
		flags, c.resend = flagResend, false
	}
	c.queue = c.queue[:0]
	return appendPacket(dst, flags, c.ack, count, append(body, c.token...))
}

// input is the message with the walker's next step: it runs left or right as its direction is
// west or east, and aims there.
func (c *Client) input(now time.Duration) []byte {
	step := c.walker.Step()
	if step.Fire != c.firing {
		c.firing = step.Fire
		c.fires++ // odd while the button is down
	}
	run, jump := int32(1), int32(0)
	if step.Yaw > 0.25 && step.Yaw < 0.75 {
		run = -1
	}
	if step.Jump {
		jump = 1
	}
	sin, cos := math.Sincos(step.Yaw * 2 * math.Pi)
	m := AppendInt(nil, systemInput<<1|1)
	m = AppendInt(m, c.snapshots.acked)
	m = AppendInt(m, c.snapshots.tick(now)+2)
	numbers := []int32{run, int32(200 * cos), int32(200 * sin), jump, c.fires & 63, 0, 1, 0, 0, 0}
	m = AppendInt(m, int32(4*len(numbers)))
	for _, v := range numbers {
		m = AppendInt(m, v)
	}
	return m
}
