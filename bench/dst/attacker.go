package dst

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// attacker is an attacker with a session: it has a valid token and breaks the rules of the
// protocol. Its link loses nothing.
type attacker struct {
	kind        Kind
	addr        netip.AddrPort
	rng         *rand.Rand
	user        uint64 // client id in its tokens
	serverStart int    // number of the server that the sessions belong to
	token       []byte // of the session
	attackSession
	out     netcode.Outbox
	steps   int       // ticks since the attack began
	forged  int       // acks of sequences never sent; a server that keeps its schedule refuses all
	actedAt tick.Tick // the server's tick of the last attack
	gone    bool
}

// attackSession is one session of an attacker.
type attackSession struct {
	dial    *netcode.Client
	peer    *packet.Peer // nil until the first packet
	queue   [][]byte     // datagrams from the server that the next step opens
	newest  tick.Tick    // newest snapshot received
	packets int          // packets received
}

// newAttacker adds the attacker of a fault to the run and begins its first session.
func newAttacker(r *run, f *fault) *attacker {
	n := len(r.attackers)
	k := &attacker{kind: f.Kind, addr: attackerAddr(n), rng: f.rng}
	k.user, k.serverStart = 1000+uint64(n), r.starts
	r.wire.attackers[k.addr] = k
	k.newToken(r)
	k.begin()
	return k
}

// newToken fetches the token of the next session. Without one the attack ends.
func (k *attacker) newToken(r *run) {
	token, err := r.Token(k.user)
	if err != nil {
		r.fail(NoPanic, "no token for an attacker: %v", err)
		k.gone = true
		return
	}
	k.token = token
}

// begin starts a session with the current token.
func (k *attacker) begin() {
	if k.gone {
		return
	}
	k.attackSession = attackSession{dial: netcode.NewClient(k.token, netcode.ClientConfig{}),
		queue: k.queue[:0]}
}

// deliver queues a datagram from the server for the attacker's next step.
func (k *attacker) deliver(data []byte) {
	if !k.gone {
		k.queue = append(k.queue, append([]byte(nil), data...))
	}
}

// step plays one tick of the attacker.
func (k *attacker) step(r *run) {
	if k.gone || k.dial == nil {
		return
	}
	k.steps++
	now := r.Now()
	for _, data := range k.queue {
		if pkt, err := k.dial.Receive(now, r.ServerAddr(), data, &k.out); err == nil && pkt != nil {
			k.receive(r, pkt)
		}
	}
	k.queue = k.queue[:0]
	k.dial.Update(now, &k.out)
	if k.dial.State() == netcode.Connected {
		k.attack(r)
	}
	k.flush(r)
	if k.kind == TokenReuse && k.steps%150 == 149 || k.dial.State() < netcode.Disconnected {
		k.dial.Disconnect(now, &k.out)
		k.flush(r)
		if k.kind != TokenReuse || k.rng.IntN(4) == 0 {
			k.newToken(r)
		}
		k.begin()
	}
}

// flush injects the datagrams of the outbox into the server's socket.
func (k *attacker) flush(r *run) {
	for i := range k.out.Len() {
		_, data := k.out.At(i)
		r.Inject(k.addr, data)
	}
	k.out.Reset()
}

// leave ends the attack, with or without a disconnect.
func (k *attacker) leave(r *run) {
	if k.gone || k.dial == nil {
		return
	}
	if k.gone = true; k.rng.IntN(2) == 0 {
		k.dial.Disconnect(r.Now(), &k.out)
		k.flush(r)
	}
}

// receive opens a packet: it answers a Welcome with Ready and notes the tick of a snapshot. Nothing
// else of the packet is read.
func (k *attacker) receive(r *run, pkt []byte) {
	if k.peer == nil {
		k.peer = packet.NewPeer(r.Now(), packet.Config{})
	}
	k.packets++
	rest, err := k.peer.Receive(r.Now(), pkt)
	if err == nil {
		rest, err = k.peer.Sections(rest)
	}
	if err != nil {
		return
	}
	for e, ok := k.peer.NextReliable(); ok; e, ok = k.peer.NextReliable() {
		if _, err := protocol.ParseWelcome(e); err == nil {
			ready := protocol.Ready{Version: protocol.Version, Name: "attacker"}
			ready.Schema, ready.Model = netstate.SchemaHash(), netstate.Trained().Hash()
			_ = k.peer.QueueReliable(ready.Append(nil))
		}
	}
	if packet.SectionOf(rest) == packet.SectionSnapshot {
		if h, _, err := netstate.ParseHeader(rest[1:]); err == nil {
			k.newest = max(k.newest, h.Tick)
		}
	}
}

// attack sends the packets of the attacker's kind.
func (k *attacker) attack(r *run) {
	if k.peer == nil {
		k.peer = packet.NewPeer(r.Now(), packet.Config{})
	}
	d := k.rng
	pkt, _ := k.peer.Append(r.Now(), nil)
	pkt = k.peer.AppendReliable(pkt, 512)
	switch k.kind {
	case Flooder:
		for range 30 {
			more, _ := k.peer.Append(r.Now(), nil)
			k.send(r, more)
		}
	case AckForger:
		if k.steps > 60 {
			k.forgeAck(r, pkt)
		}
		pkt = k.commands(pkt, 1)
	case SpeedHacker:
		pkt = k.commands(pkt, 1+d.IntN(sim.MaxWindow))
		more, _ := k.peer.Append(r.Now(), nil)
		k.send(r, k.commands(more, 1+d.IntN(sim.MaxWindow)))
	case Backtracker, TokenReuse:
		pkt = k.commands(pkt, 4)
	case Garbage:
		for range d.IntN(300) {
			pkt = append(pkt, byte(d.Uint32()))
		}
		if d.IntN(2) == 0 && len(pkt) > packet.HeaderSize {
			pkt[packet.HeaderSize] = byte(d.IntN(8))
		}
	}
	k.send(r, pkt)
	k.actedAt = r.Lobby.Match().Tick()
}

// forgeAck changes the ack fields in the header of pkt.
func (k *attacker) forgeAck(r *run, pkt []byte) {
	d, le := k.rng, binary.LittleEndian
	ack, ackBits := pkt[2:], pkt[4:]
	kinds := 1
	if k.packets > 280 { // no server can detect the kinds above 0 at once
		kinds = 4
	}
	switch d.IntN(kinds) {
	case 0: // acks a sequence that was never sent
		le.PutUint16(ack, le.Uint16(ack)+uint16(1+d.IntN(30000)))
		// A stalled server refuses packets above the session's budget before it reads their acks.
		if k.newest > 0 && k.actedAt != r.Lobby.Match().Tick() {
			k.forged++
		}
	case 1: // acks all 64 sequences before, received or not
		le.PutUint64(ackBits, ^uint64(0))
	case 2: // acks an old sequence
		le.PutUint16(ack, le.Uint16(ack)-uint16(d.IntN(200)))
	}
}

// send seals a packet into the outbox.
func (k *attacker) send(r *run, pkt []byte) { _ = k.dial.Send(r.Now(), pkt, &k.out) }

// commands appends a window of n commands that no honest client makes: conflicting commands for
// one tick, commands far ahead, and arbitrary views.
func (k *attacker) commands(pkt []byte, n int) []byte {
	if k.newest == 0 {
		return pkt
	}
	d := k.rng
	newest := k.newest + 6
	if k.kind == SpeedHacker {
		newest += tick.Tick(d.IntN(120))
	}
	n = min(n, int(newest))
	cmds := make([]sim.Command, n)
	for i := range cmds {
		c := &cmds[i]
		c.Tick = newest - tick.Tick(n-1-i)
		c.Yaw, c.Pitch = geom.Angle(d.Uint32()), geom.Angle(d.Uint32())
		c.MoveYaw, c.MoveMag = uint8(d.Uint32()), 255
		c.Buttons = sim.Sprint | sim.Buttons(d.Uint32()&0xffff)
		if k.kind == Backtracker || d.IntN(2) == 0 {
			c.Buttons |= sim.Fire
			from := k.newest - min(k.newest-1, tick.Tick(d.IntN(90)))
			c.View = tick.View{From: from, To: from + tick.Tick(d.IntN(4)), Frac: uint8(d.Uint32())}
		}
	}
	pkt = append(pkt, byte(packet.SectionCommands))
	pkt = sim.AppendCommands(pkt, cmds)
	if k.kind == Backtracker || d.IntN(2) == 0 {
		pkt = append(pkt, uint8(d.Uint32()))
	}
	return pkt
}
