package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
)

// transport is the way of datagrams into a lobby and out of it. Datagrams that netcode opens become
// events; packets that it seals, and its own handshakes, become datagrams.
type transport struct {
	netcode *netcode.Server
	in      netio.Batch
	events  []netcode.Event // of the batch in hand
	egress  egress
}

// openBatch hands the batch of received datagrams to netcode and keeps its events: sessions first,
// then handshakes, so that no stranger stands in a player's way. Every datagram is counted once:
// accepted, refused for a reason, or a packet that the caller accepts or drops.
func (k *core) openBatch(now time.Duration, unix int64) {
	k.events = k.events[:0]
	handshakes, bytes := false, 0
	k.Stats.Count[metrics.Received].Add(uint64(k.in.Len()))
	for i := range k.in.Len() {
		data := k.in.Data(i)
		bytes += len(data)
		if netcode.IsHandshake(data) {
			handshakes = true
			continue
		}
		k.openDatagram(now, unix, k.in.From(i), data)
	}
	k.Stats.Count[metrics.BytesIn].Add(uint64(bytes))
	for i := 0; handshakes && i < k.in.Len(); i++ {
		if data := k.in.Data(i); netcode.IsHandshake(data) {
			k.openDatagram(now, unix, k.in.From(i), data)
		}
	}
}

func (k *core) openDatagram(now time.Duration, unix int64, from netip.AddrPort, data []byte) {
	e, err := k.netcode.Receive(now, unix, from, data, &k.egress.outbox)
	if err != nil {
		k.Stats.AuthDrops[err.(netcode.Drop)].Inc() // it has no other errors
		return
	}
	if e.Kind != netcode.EventPayload {
		k.Stats.Count[metrics.Accepted].Inc()
	} else if c := k.ofClient(e.Client); c != nil {
		c.session.stats.up += uint64(len(data))
	}
	if e.Kind != netcode.EventNone {
		k.events = append(k.events, e)
	}
}

// sendPacket seals a packet without a snapshot. It may get lost; the messages in it are due again
// then.
func (k *core) sendPacket(now time.Duration, client int, packet []byte) {
	if k.netcode.Send(now, client, packet, &k.egress.outbox) == nil && !k.timer.Off {
		_, sealed := k.egress.outbox.At(k.egress.outbox.Len() - 1)
		k.account.bandwidth.AddPacket(packet, sealed)
	}
}

// sendOutbox sends what netcode has sealed. It counts against the links of connections.
func (k *core) sendOutbox(now time.Duration, sock netio.Conn) error {
	for i := range k.egress.outbox.Len() {
		to, data := k.egress.outbox.At(i)
		if netcode.KindOf(data) != netcode.KindPayload && !k.timer.Off { // see sendPacket
			k.account.bandwidth.AddSession(data)
		}
		if client, ok := k.netcode.At(to); ok {
			if c := k.ofClient(client); c != nil {
				c.repl.pacing.bucket.Take(now, len(data))
				c.session.stats.down += uint64(len(data))
			}
		}
		if k.egress.out.Full() {
			if err := k.flush(sock); err != nil {
				return err
			}
		}
		k.commit(len(append(k.egress.out.Next(), data...)), to)
	}
	k.egress.outbox.Reset()
	return k.flush(sock)
}

// commit makes the n bytes written to out.Next a datagram of the batch.
func (k *core) commit(n int, to netip.AddrPort) {
	k.egress.outBytes += n
	k.egress.out.Commit(n, to)
}

// flush sends the batch.
func (k *core) flush(sock netio.Conn) error {
	if k.egress.out.Len() == 0 {
		return nil
	}
	k.Stats.Count[metrics.Sent].Add(uint64(k.egress.out.Len()))
	k.Stats.Count[metrics.BytesOut].Add(uint64(k.egress.outBytes))
	k.egress.outBytes = 0
	err := sock.Send(&k.egress.out)
	k.egress.out.Reset()
	return err
}
