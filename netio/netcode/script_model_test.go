package netcode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// scriptPayload names its session and its number.
func scriptPayload(a *actor, n uint32, length byte) []byte {
	b := binary.LittleEndian.AppendUint32(a.tag[:len(a.tag):len(a.tag)], n)
	return append(b, pattern(make([]byte, length), int(n), int(a.tag[0]))...)
}

// isPayload returns the number of a payload if it is one of an actor.
func isPayload(a *actor, b []byte) (n uint32, ok bool) {
	if len(b) < 20 {
		return 0, false
	}
	n = binary.LittleEndian.Uint32(b[16:])
	return n, bytes.Equal(b, scriptPayload(a, n, byte(len(b)-20)))
}

// sealed records what was sealed; a repeated nonce is an error.
func (w *script) sealed(a *actor, down bool, data []byte) error {
	h, why := parseHeader(data)
	if why != DropNone {
		return nil // a request
	}
	n := sealing{a.tag, down, h.sequence}
	if w.nonces[n] {
		return fmt.Errorf("sealed twice: %+v", n)
	}
	w.nonces[n] = true
	return nil
}

// up sends the outbox of a client.
func (w *script) up(a *actor, out *Outbox) error {
	for i := range out.Len() {
		to, d := out.At(i)
		if err := w.sealed(a, false, d); err != nil {
			return err
		}
		if err := w.send(inFlight{a.at, to, a, bytes.Clone(d)}); err != nil {
			return err
		}
	}
	return nil
}

// down sends the outbox of the server, after it has found the session of each datagram.
func (w *script) down(out *Outbox) error {
	for i := range out.Len() {
		to, d := out.At(i)
		var owner *actor
		for _, a := range w.all {
			if a.opens(d) {
				if owner != nil {
					return errors.New("two clients share a key")
				}
				owner = a
			}
		}
		if owner == nil {
			return fmt.Errorf("a %v for nobody", KindOf(d))
		}
		if err := w.sealed(owner, true, d); err != nil {
			return err
		}
		if err := w.send(inFlight{testServer, to, owner, bytes.Clone(d)}); err != nil {
			return err
		}
	}
	return nil
}

// opens reports whether a datagram of the server is for this client.
func (a *actor) opens(d []byte) bool {
	h, why := parseHeader(d)
	if why != DropNone {
		return false
	}
	d = bytes.Clone(d)
	if id, fits := pathID(h, d); h.kind == KindPath {
		_, ok := a.c.sealer.openPath(a.c.open, h, id, d)
		return ok && fits
	}
	_, ok := a.c.sealer.open(a.c.open, h, d)
	return ok
}

func (w *script) send(f inFlight) error {
	if w.air = append(w.air, f); len(w.air) > flyingMax {
		w.air = slices.Delete(w.air, 0, 1)
	}
	if f.to == testServer {
		if w.history = append(w.history, f); len(w.history) > historyMax {
			w.history = slices.Delete(w.history, 0, 1)
		}
	}
	return nil
}

// arrive delivers one of the datagrams under way.
func (w *script) arrive(i int, gone bool) error {
	if len(w.air) == 0 {
		return nil
	}
	i %= len(w.air)
	f := w.air[i]
	if gone {
		w.air = slices.Delete(w.air, i, i+1)
	}
	if f.to == testServer {
		return w.server(f)
	}
	for _, a := range w.actors {
		if a.at == f.to {
			if err := w.client(a, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// client delivers a datagram of the server.
func (w *script) client(a *actor, f inFlight) error {
	var out Outbox
	before := a.c.counters.Received
	payload, err := a.c.Receive(w.now, f.from, bytes.Clone(f.data), &out)
	switch {
	case !a.c.counters.Balanced() || a.c.counters.Received != before+1:
		return fmt.Errorf("client counts %+v", a.c.counters)
	case err == nil && f.by != a:
		return fmt.Errorf("a client takes a %v that was for another", KindOf(f.data))
	case a.c.State() == Connected && !a.entered:
		return errors.New("a client believes to be in")
	case payload != nil:
		n, ok := isPayload(a, payload)
		if !ok || !a.promised[n] {
			return fmt.Errorf("client got payload %d twice, or damaged", n)
		}
		delete(a.promised, n)
		w.counts.received++
	}
	return w.up(a, &out)
}

// server delivers a datagram to the server and compares the result with the model.
func (w *script) server(f inFlight) error {
	var out Outbox
	w.pay(f.from, 0, len(f.data), false)
	proven := w.proven(f.from)
	before, old := w.s.counters, w.connected()
	e, err := w.s.Receive(w.now, w.unix(), f.from, bytes.Clone(f.data), &out)
	if n := &w.s.counters; n.Received != before.Received+1 || !n.Balanced() {
		return fmt.Errorf("server counts %+v", n)
	}
	if err != nil && e.Kind != EventNone {
		return fmt.Errorf("%v with an event %v", err, e.Kind)
	}
	switch e.Kind {
	case EventConnected, EventTakeover:
		if (e.Kind == EventTakeover) != (old[e.Client] != nil) || f.by.entered {
			return fmt.Errorf("%v in slot %d, where there was %v; its token has had a session: %v", e.Kind,
				e.Client, old[e.Client], f.by.entered)
		}
		if e.Kind == EventTakeover {
			if b := old[e.Client]; b.c.token.Private == f.by.c.token.Private {
				return errors.New("a session takes itself over")
			}
			if w.now-old[e.Client].heard < takeoverAfter {
				return errors.New("a session is taken over that was just heard")
			}
			w.counts.takeovers++
		}
		f.by.entered, f.by.heard = true, w.now
		w.slots[e.Client] = f.by
		w.counts.connected++
	case EventPayload:
		n, ok := isPayload(f.by, e.Payload)
		if !ok || !f.by.owed[n] || w.slots[e.Client] != f.by {
			return fmt.Errorf("slot %d delivers payload %d of another, twice, or damaged", e.Client, n)
		}
		delete(f.by.owed, n)
		w.counts.delivered++
	case EventDisconnect, EventKick:
		if w.slots[e.Client] != f.by {
			return fmt.Errorf("a %v ends the session of another", KindOf(f.data))
		}
		if e.Kind == EventDisconnect { // a kicked one ends with the next Update
			w.end(e.Client)
		}
	case EventMigrated:
		if w.slots[e.Client] != f.by {
			return errors.New("a session was moved by another")
		}
		w.counts.moved++
	}
	if err := w.fair(f, old, err); err != nil {
		return err
	}
	for i := range out.Len() {
		to, d := out.At(i)
		if w.pay(to, 1, len(d), proven && to == f.from); w.over(to) {
			return fmt.Errorf("%v got %v bytes before it was proven", to, w.bytes[to])
		}
	}
	return w.down(&out)
}

// fair returns an error if a datagram was accepted that must be refused, or refused that must be
// accepted.
func (w *script) fair(f inFlight, old [4]*actor, err error) error {
	kind := KindOf(f.data)
	if kind == KindRequest && err == nil && f.by.entered {
		return errors.New("a token is good again after its session")
	}
	h, why := parseHeader(f.data)
	slot := slices.Index(old[:], f.by)
	if why != DropNone || slot < 0 || kind < KindKeepAlive || kind > KindDisconnect {
		return nil
	}
	if err == nil || err == DropRate {
		f.by.heard = w.now
	} else if s := &w.s.slots[slot]; h.sequence > f.by.newest &&
		canonical(s.address) == canonical(f.from) && err != DropBody {
		return fmt.Errorf("a new %v of a session was refused: %w", kind, err)
	}
	if err == nil || err == DropRate || err == DropBody {
		f.by.newest = max(f.by.newest, h.sequence)
	}
	return nil
}

// tamper changes a datagram that was sent to the server and delivers it: it must be refused
// without an answer.
func (w *script) tamper(i int, change func(b []byte) []byte) error {
	if len(w.history) == 0 {
		return nil
	}
	f := w.history[i%len(w.history)]
	b := change(bytes.Clone(f.data))
	var out Outbox
	before := w.s.counters
	w.pay(f.from, 0, len(b), false)
	e, err := w.s.Receive(w.now, w.unix(), f.from, b, &out)
	why, dropped := err.(Drop)
	w.counts.tampered++
	if !dropped || e.Kind != EventNone || out.Len() != 0 || w.s.counters.Drops[why] != before.Drops[why]+1 ||
		w.s.counters.Received != before.Received+1 || !w.s.counters.Balanced() {
		return fmt.Errorf("a changed %v: %v, event %v, %d answers", KindOf(f.data), err, e.Kind, out.Len())
	}
	return nil
}

func (w *script) update() error {
	var out Outbox
	for _, e := range w.s.Update(w.now, w.unix(), &out) {
		if e.Kind != EventTimeout && e.Kind != EventDisconnect || w.slots[e.Client] == nil {
			return fmt.Errorf("event %v of slot %d", e.Kind, e.Client)
		}
		w.end(e.Client)
	}
	return w.down(&out)
}

func (w *script) end(slot int) {
	delete(w.slots, slot)
	w.counts.ended++
}

func (w *script) proven(a netip.AddrPort) bool {
	_, in := w.s.slotAt.get(addressKey(a))
	return in
}

// pay counts the bytes from or to an address without a session.
func (w *script) pay(a netip.AddrPort, way, n int, proven bool) {
	if proven || w.proven(a) {
		return
	}
	b := w.bytes[a]
	b[way] += n
	w.bytes[a] = b
}

func (w *script) over(a netip.AddrPort) bool {
	b := w.bytes[a]
	return float64(b[1]) > amplification*float64(b[0])
}

func (w *script) connected() (list [4]*actor) {
	for i, a := range w.slots {
		list[i] = a
	}
	return list
}

// check compares the whole server with the model, and its tables with each other.
func (w *script) check() error {
	s := w.s
	ids := 0
	for i := range s.slots {
		c, a := &s.slots[i], w.slots[i]
		if c.used != (a != nil) {
			return fmt.Errorf("slot %d used: %v", i, c.used)
		}
		if slices.Contains(s.freeSlots, int32(i)) == c.used {
			return fmt.Errorf("slot %d used: %v, yet free", i, c.used)
		}
		if !c.used {
			continue
		}
		byA, _ := s.slotAt.get(addressKey(c.address))
		byC, _ := s.slotOfClient.get(numberKey(c.clientID))
		e := s.tokens.find(c.token)
		if byA != i || byC != i || c.token != a.tag || c.clientID != a.c.token.clientOf(w) {
			return fmt.Errorf("slot %d is found as %d by its address and as %d by its client", i, byA, byC)
		}
		if c.expire > uint64(w.unix()) && (e == nil || !e.used) {
			return fmt.Errorf("the token of slot %d is not spent", i)
		}
		if id := s.paths[i].id; id != 0 {
			ids++
			if byI, _ := s.slotOfPath.get(numberKey(id)); byI != i {
				return fmt.Errorf("slot %d is found as %d by its session", i, byI)
			}
		}
	}
	handshakes := 0
	for i := range s.handshakes {
		if p := &s.handshakes[i]; p.used {
			handshakes++
			if by, _ := s.handshakeAt.get(addressKey(p.address)); by != i {
				return fmt.Errorf("handshake %d is found as %d", i, by)
			}
		}
	}
	n := len(w.slots)
	if s.Connected() != n || s.slotAt.length != n || s.slotOfClient.length != n ||
		s.slotOfPath.length != ids || len(s.freeSlots) != len(s.slots)-n ||
		handshakes != s.PendingHandshakes() || handshakes != s.handshakeAt.length ||
		len(s.freeHandshakes) != len(s.handshakes)-handshakes {
		return fmt.Errorf("%d sessions: %d addresses, %d clients, %d of %d session ids; %d handshakes: %d",
			n, s.slotAt.length,
			s.slotOfClient.length, s.slotOfPath.length, ids, handshakes, s.handshakeAt.length)
	}
	if s.counters.Amplification != 0 || !s.counters.Balanced() {
		return fmt.Errorf("counters %+v", s.counters)
	}
	return nil
}

// clientOf returns the client id, which only the server can read.
func (t *PublicToken) clientOf(w *script) uint64 {
	plaintext, err := privateAEAD(&testKey).Open(nil, t.Nonce[:], t.Private[:],
		privateData(nil, t.ProtocolID, t.Expire))
	if err != nil {
		panic(err)
	}
	return binary.LittleEndian.Uint64(plaintext)
}
