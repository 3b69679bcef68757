// Command arena is another game on this library: tanks, a server and two clients that meet over UDP.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/netio/session"
)

const rate, slots = 60, 32 // as many tanks fit in one packet

// Tank is what this game replicates. Its tags are the schema; structgen makes faster code of them.
type Tank struct {
	X     float32    `net:",quant=64,min=-50,max=50,predict=linear"`
	Z     float32    `net:",quant=64,min=-50,max=50,predict=linear"`
	Yaw   geom.Angle `net:",wrap=65536"`
	Flags uint16     `net:",max=999"`
}

var codec, _ = schema.Reflect[Tank]() // the test holds the tags
var model = schema.DefaultModel(codec.Schemas[schema.Everyone])

type player struct {
	Tank
	peer           *packet.Peer
	tracker        *snapshot.Tracker
	id             netid.ID
	turn, throttle int8
	ready          bool // its schema is ours: it can read snapshots
}

// step moves a tank for one tick. In the middle it takes a flag.
func (p *player) step() {
	p.Yaw += geom.Angle(int(p.turn) * 8)
	way := geom.Forward(p.Yaw, 0).Scale(float32(p.throttle) / 127 * 20 / rate)
	p.X, p.Z = min(max(p.X+way.X, -50), 50), min(max(p.Z+way.Z, -50), 50)
	if p.X*p.X+p.Z*p.Z < 25 {
		p.Flags, p.X, p.Z = p.Flags+1, -20, -20
		_ = p.peer.QueueReliable([]byte("you have a flag")) // full: the client is about to time out
	}
}

type server struct {
	*session.Listener
	players [slots]*player
	joined  uint8
	now     tick.Tick
	ring    *snapshot.Ring
	encoder *snapshot.Encoder
	packer  snapshot.Packer
}

func listen(address string) (*server, error) {
	l, err := session.Listen(address, netcode.ServerConfig{ProtocolID: 0x7a9c, Clients: slots})
	return &server{Listener: l, ring: snapshot.NewRing(model.Schema(), slots, snapshot.Window, 1),
		encoder: snapshot.NewEncoder(model, slots)}, err
}

func (s *server) tick() error {
	err := s.Poll(s.handle)
	s.now++
	frame := s.ring.Begin(s.now)
	for i, p := range s.players {
		if p != nil {
			p.step()
			frame.Set(i, p.id, codec.Capture(&p.Tank, schema.Everyone))
		}
	}
	s.encoder.Begin(frame, s.ring)
	for i, p := range s.players {
		if p != nil && p.peer.CanSend(s.Now()) {
			err = errors.Join(err, s.send(i, p))
		}
	}
	return errors.Join(err, s.Flush())
}

func (s *server) handle(e netcode.Event) {
	switch e.Kind {
	case netcode.EventConnected, netcode.EventTakeover:
		s.joined++
		p := &player{peer: packet.NewPeer(s.Now(), packet.Config{}), tracker: snapshot.NewTracker(slots, 1),
			id: netid.Make(e.Client, s.joined), Tank: Tank{X: float32(20 + e.Client)}}
		text, _ := schema.SetOf(model).AppendText(nil) // no error: the model was made of it
		s.players[e.Client], _ = p, p.peer.QueueReliable(text)
	case netcode.EventPayload:
		s.players[e.Client].receive(s, e.Payload)
	case netcode.EventDisconnect, netcode.EventTimeout, netcode.EventKick, netcode.EventExhausted:
		s.players[e.Client] = nil
	}
}

func (p *player) receive(s *server, pkt []byte) {
	rest, err := p.peer.Receive(s.Now(), pkt)
	if err == nil {
		rest, err = p.peer.Sections(rest)
	}
	for _, tag := range p.peer.Delivered() {
		p.tracker.Acked(tick.Tick(tag>>32), int(tag>>16&0xffff), int(tag&0xffff))
	}
	_, said := p.peer.NextReliable()
	p.ready = p.ready || said
	if err == nil && len(rest) == 3 && packet.SectionOf(rest) == packet.SectionCommands {
		p.turn, p.throttle = int8(rest[1]), int8(rest[2])
	}
}

func (s *server) send(i int, p *player) error {
	p.tracker.Advance(s.now)
	pkt, seq := p.peer.Append(s.Now(), nil)
	if pkt = p.peer.AppendReliable(pkt, 600); p.ready {
		s.packer.Begin(s.encoder, p.tracker, 0, s.ring.Groups())
		pkt = binary.LittleEndian.AppendUint32(append(pkt, byte(packet.SectionSnapshot)), uint32(s.now))
		out, first, count, err := s.packer.Next(pkt, packet.MaxPacketSize-len(pkt))
		p.peer.SetAckTag(seq, uint64(s.now)<<32|uint64(first)<<16|uint64(count))
		return errors.Join(err, s.Send(i, out))
	}
	return s.Send(i, pkt)
}

type client struct {
	*session.Conn
	set     schema.Set // of this build
	peer    *packet.Peer
	decoder *snapshot.Decoder
	said    []string // by the server: first its schemas
	err     error    // of a packet
}

func dial(token []byte, failed error) (*client, error) {
	conn, err := session.Dial(token)
	return &client{Conn: conn, set: schema.SetOf(model), peer: packet.NewPeer(0, packet.Config{}),
		decoder: snapshot.NewDecoder(model, slots, 1)}, errors.Join(failed, err)
}

func (c *client) tick(turn, throttle int8) error {
	err := errors.Join(c.Poll(c.receive), c.err)
	if err == nil && c.Connected() && c.peer.CanSend(c.Now()) {
		pkt, _ := c.peer.Append(c.Now(), nil)
		pkt = append(c.peer.AppendReliable(pkt, 600), byte(packet.SectionCommands), byte(turn), byte(throttle))
		err = c.Send(pkt)
	}
	return errors.Join(err, c.Flush())
}

func (c *client) receive(pkt []byte) {
	rest, err := c.peer.Receive(c.Now(), pkt)
	if err == nil {
		rest, err = c.peer.Sections(rest)
	}
	for m, ok := c.peer.NextReliable(); ok; m, ok = c.peer.NextReliable() {
		if c.said = append(c.said, string(m)); len(c.said) == 1 {
			if c.err = c.set.Match(m); c.err == nil {
				_ = c.peer.QueueReliable([]byte("ready"))
			}
		}
	}
	if err == nil && len(rest) >= 5 && packet.SectionOf(rest) == packet.SectionSnapshot {
		at := tick.Tick(binary.LittleEndian.Uint32(rest[1:]))
		c.err = errors.Join(c.err, c.decoder.Section(at, rest[5:]))
	}
}

// tank is what the newest snapshot has in a slot, and whether a tank is there.
func (c *client) tank(slot int) (t Tank, ok bool) {
	f, row := c.decoder.At(c.decoder.Newest(slot)), make([]int32, len(model.Schema().Fields))
	if ok = f != nil && f.Row(slot, row) != 0; ok {
		codec.Restore(&t, schema.Everyone, row)
	}
	return t, ok
}

func main() {
	s, err := listen("127.0.0.1:0")
	var clients [2]*client
	for i := 0; i < len(clients) && err == nil; i++ {
		clients[i], err = dial(s.Token(uint64(i + 1)))
	}
	for n := 0; n < 10*rate && err == nil; n++ {
		err = errors.Join(s.tick(), clients[0].tick(24, 127), clients[1].tick(-24, 100))
		if t, ok := clients[0].tank(n % 2); ok && n%10 < 2 {
			fmt.Printf("%3d: tank %d at %6.2f, %6.2f with %d flags\n", n, n%2, t.X, t.Z, t.Flags)
		}
		time.Sleep(time.Second / rate)
	}
	if err != nil {
		log.Fatal(err)
	}
}
