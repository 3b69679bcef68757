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
	user        uint64
	serverStart int // number of the server that the session belongs to
	token       []byte
	dial        *netcode.Client
	peer        *packet.Peer
	out         netcode.Outbox
	queue       [][]byte
	newest      tick.Tick
	steps       int
	packets     int       // of this session
	forged      int       // packets that acked a sequence never sent, while the server was playing ticks
	actedAt     tick.Tick // the server's tick of the last attack
	gone        bool
}

func newAttacker(w *world, f *fault) *attacker {
	n := len(w.attackers)
	k := &attacker{kind: f.Kind, addr: attackerAddr(n), rng: f.rng, user: 1000 + uint64(n), serverStart: w.starts}
	w.wire.attackers[k.addr] = k
	k.begin(w, false)
	return k
}

// begin starts a session with the token of the last one or with a new one.
func (k *attacker) begin(w *world, again bool) {
	if !again {
		token, err := w.Token(k.user)
		if err != nil {
			w.fail(NoPanic, "no token for an attacker: %v", err)
			return
		}
		k.token = token
	}
	k.dial, k.peer, k.newest, k.packets, k.queue = netcode.NewClient(k.token, netcode.ClientConfig{}), nil, 0, 0, k.queue[:0]
}

// deliver queues a datagram from the server for the attacker's next step.
func (k *attacker) deliver(data []byte) {
	if !k.gone {
		k.queue = append(k.queue, append([]byte(nil), data...))
	}
}

// step plays one tick of the attacker.
func (k *attacker) step(w *world) {
	if k.gone || k.dial == nil {
		return
	}
	k.steps++
	now := w.Now()
	for _, data := range k.queue {
		if pack, err := k.dial.Receive(now, w.ServerAddr(), data, &k.out); err == nil && pack != nil {
			k.receive(w, pack)
		}
	}
	k.queue = k.queue[:0]
	k.dial.Update(now, &k.out)
	if k.dial.State() == netcode.Connected {
		k.attack(w)
	}
	k.flush(w)
	if k.kind == TokenReuse && k.steps%150 == 149 || k.dial.State() < netcode.Disconnected {
		k.dial.Disconnect(now, &k.out)
		k.flush(w)
		k.begin(w, k.kind == TokenReuse && k.rng.IntN(4) != 0)
	}
}

func (k *attacker) flush(w *world) {
	for i := range k.out.Len() {
		_, data := k.out.At(i)
		w.Inject(k.addr, data)
	}
	k.out.Reset()
}

// leave ends the attack, with or without a disconnect.
func (k *attacker) leave(w *world) {
	if k.gone || k.dial == nil {
		return
	}
	if k.gone = true; k.rng.IntN(2) == 0 {
		k.dial.Disconnect(w.Now(), &k.out)
		k.flush(w)
	}
}

func (k *attacker) receive(w *world, pack []byte) {
	if k.peer == nil {
		k.peer = packet.NewPeer(w.Now(), packet.Config{})
	}
	k.packets++
	rest, err := k.peer.Receive(w.Now(), pack)
	if err == nil {
		rest, err = k.peer.Sections(rest)
	}
	if err != nil {
		return
	}
	for e, ok := k.peer.NextReliable(); ok; e, ok = k.peer.NextReliable() {
		if _, err := protocol.ParseWelcome(e); err == nil {
			r := protocol.Ready{Version: protocol.Version, Schema: netstate.SchemaHash(), Model: netstate.Trained().Hash(), Name: "attacker"}
			_ = k.peer.QueueReliable(r.Append(nil))
		}
	}
	if packet.SectionOf(rest) == packet.SectionSnapshot {
		if h, _, err := netstate.ParseHeader(rest[1:]); err == nil {
			k.newest = max(k.newest, h.Tick)
		}
	}
}

// attack sends the packets of the attacker's kind.
func (k *attacker) attack(w *world) {
	if k.peer == nil {
		k.peer = packet.NewPeer(w.Now(), packet.Config{})
	}
	d := k.rng
	pack, _ := k.peer.Append(w.Now(), nil)
	pack = k.peer.AppendReliable(pack, 512)
	switch k.kind {
	case Flooder:
		for range 30 {
			more, _ := k.peer.Append(w.Now(), nil)
			k.send(w, more)
		}
	case AckForger:
		if k.steps > 60 {
			kinds := 1
			if k.packets > 280 { // the other kinds are lies that a server cannot tell from the truth until later
				kinds = 4
			}
			switch d.IntN(kinds) {
			case 0: // acks a sequence that was never sent
				binary.LittleEndian.PutUint16(pack[2:], binary.LittleEndian.Uint16(pack[2:])+uint16(1+d.IntN(30000)))
				if k.newest > 0 && k.actedAt != w.Lobby.Match().Tick() { // a stalled server refuses more than the session's budget at once
					k.forged++
				}
			case 1: // acks everything before, received or not
				binary.LittleEndian.PutUint64(pack[4:], ^uint64(0))
			case 2: // acks an old sequence
				binary.LittleEndian.PutUint16(pack[2:], binary.LittleEndian.Uint16(pack[2:])-uint16(d.IntN(200)))
			}
		}
		pack = k.commands(pack, 1)
	case SpeedHacker:
		pack = k.commands(pack, 1+d.IntN(sim.MaxWindow))
		more, _ := k.peer.Append(w.Now(), nil)
		k.send(w, k.commands(more, 1+d.IntN(sim.MaxWindow)))
	case Backtracker, TokenReuse:
		pack = k.commands(pack, 4)
	case Garbage:
		for range d.IntN(300) {
			pack = append(pack, byte(d.Uint32()))
		}
		if d.IntN(2) == 0 && len(pack) > packet.HeaderSize {
			pack[packet.HeaderSize] = byte(d.IntN(8))
		}
	}
	k.send(w, pack)
	k.actedAt = w.Lobby.Match().Tick()
}

func (k *attacker) send(w *world, pack []byte) { _ = k.dial.Send(w.Now(), pack, &k.out) }

// commands appends a window of n commands that no honest client makes: conflicting commands for
// one tick, commands far ahead, and arbitrary views.
func (k *attacker) commands(pack []byte, n int) []byte {
	if k.newest == 0 {
		return pack
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
	pack = append(pack, byte(packet.SectionCommands))
	pack = sim.AppendCommands(pack, cmds)
	if k.kind == Backtracker || d.IntN(2) == 0 {
		pack = append(pack, uint8(d.Uint32()))
	}
	return pack
}
