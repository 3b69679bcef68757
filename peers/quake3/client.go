package quake3

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/peers/crowd"
)

// Operations of a client's message.
const (
	opMove        = 2 // deltas against the snapshot that the message acknowledges
	opMoveNoDelta = 3
	opClientEnd   = 5
)

// Rate is how often a client sends a command, in Hz.
const Rate = 60

var outOfBand = []byte{255, 255, 255, 255}

// Client is one headless player.
type Client struct {
	name      string
	challenge string // as the server wrote it
	key       int32  // the same as a number
	qport     uint16
	connected bool
	asked     time.Duration
	sequence  uint32
	channel   Channel
	state     State
	commands  [64]string // commands of the server by number
	walker    crowd.Walker
	last      [2]UserCommand // the two newest commands
	lag       time.Duration  // own time of server time zero, at the newest snapshot
	stats     crowd.Stats
}

// New returns player n of a crowd.
func New(n int) *Client {
	return &Client{
		name: fmt.Sprintf("bot%d", n), qport: uint16(20000 + n), walker: crowd.NewWalker(n, Rate),
		asked: -time.Hour, sequence: 1,
	}
}

// Stats is what has arrived.
func (c *Client) Stats() crowd.Stats { return c.stats }

// Period is the time between two Updates.
func (c *Client) Period() time.Duration { return time.Second / Rate }

// Receive takes a datagram of the server.
func (c *Client) Receive(datagram []byte, now time.Duration) {
	if bytes.HasPrefix(datagram, outOfBand) {
		c.control(string(datagram[4:]))
		return
	}
	if !c.connected {
		return
	}
	c.stats.Bytes += len(datagram)
	message := c.channel.Receive(datagram)
	if message == nil {
		return
	}
	// The key's text is the client's last reliable command, and this client has none.
	scramble(message, serverClear, c.key^int32(c.channel.Sequence), "")
	playing := c.state.Playing
	seen, err := c.state.Parse(c.channel.Sequence, message, c.command)
	if err != nil {
		c.stats.Errors++
		c.stats.LastError = err
		return
	}
	if c.state.Playing && !playing {
		c.last = [2]UserCommand{}
	}
	if seen == nil {
		return
	}
	c.stats.Snapshots++
	c.stats.Players += seen.Players
	c.stats.PlayerBits += seen.PlayerBits
	if seen.Delta {
		c.stats.Deltas++
	}
	c.lag = now - time.Duration(c.state.Time)*time.Millisecond
}

func (c *Client) command(n int32, text string) { c.commands[uint32(n)%64] = text }

func (c *Client) control(text string) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case word == "challengeResponse" && c.challenge == "":
		c.challenge, _, _ = strings.Cut(rest, " ")
		key, _ := strconv.Atoi(c.challenge)
		c.key, c.asked = int32(key), -time.Hour
	case strings.HasPrefix(word, "connectResponse"):
		c.connected = true
	case strings.HasPrefix(text, "print"):
		c.stats.LastError = fmt.Errorf("quake3: server says %q", strings.TrimSpace(text[5:]))
	}
}

// Update appends the datagram that is due to dst; none if nothing is.
func (c *Client) Update(dst []byte, now time.Duration) []byte {
	if !c.connected {
		if now-c.asked < 300*time.Millisecond {
			return dst
		}
		c.asked = now
		dst = append(dst, outOfBand...)
		if c.challenge == "" {
			return append(dst, "getchallenge 0"...)
		}
		userinfo := `"\name\` + c.name + `\rate\99999\snaps\125\model\sarge\protocol\71\qport\` +
			strconv.Itoa(int(c.qport)) + `\cl_guid\` + fmt.Sprintf("%032X", c.qport) + `\challenge\` + c.challenge + `"`
		dst = append(dst, "connect "...)
		return append(dst, Compress([]byte(userinfo))...)
	}
	dst = appendHeader(dst, c.sequence, c.qport)
	c.sequence++
	w := NewWriter()
	w.Long(c.state.ServerID)
	w.Long(int32(c.channel.Sequence))
	w.Long(c.state.CommandSeq)
	if c.state.Playing {
		c.move(w, now)
	}
	w.Byte(opClientEnd)
	message := w.Bytes()
	scramble(message, clientClear, c.key^c.state.ServerID^int32(c.channel.Sequence),
		c.commands[uint32(c.state.CommandSeq)%64])
	return append(dst, message...)
}

// move writes the new command, and the one before it once more, as the game's clients do.
func (c *Client) move(w *Writer, now time.Duration) {
	op := byte(opMoveNoDelta)
	if c.state.Snapshot != 0 && c.state.Snapshot == c.channel.Sequence {
		op = opMove
	}
	step := c.walker.Step()
	next := UserCommand{
		Time:    max(int32((now-c.lag)/time.Millisecond), c.last[1].Time+1),
		Angles:  [3]uint16{uint16(step.Pitch * 65536), uint16(step.Yaw * 65536), 0},
		Forward: 127, Weapon: 2,
	}
	if step.Fire {
		next.Buttons = 1
	}
	if step.Jump {
		next.Up = 127
	}
	key := c.state.Feed ^ int32(c.channel.Sequence) ^
		hashText(c.commands[uint32(c.state.CommandSeq)%64], 32)
	w.Byte(op)
	w.Byte(2)
	from := UserCommand{}
	for _, to := range []UserCommand{c.last[1], next} {
		writeCommand(w, key, from, to)
		from = to
	}
	c.last[0], c.last[1] = c.last[1], next
}
