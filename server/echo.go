package server

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Echo sends every payload back to its sender, so that netcode 1.02 clients that know nothing of the game can be tried
// against this server. Batches go in and out; it opens no socket and reads no clock. A value belongs to one goroutine.
type Echo struct {
	// Told, if set, hears of sessions that begin, move and end. A session that has ended is no longer the server's to show.
	Told func(kind netcode.EventKind, client int)

	server   *netcode.Server
	in, wire netio.Batch
	out      netcode.Outbox
	sent     int // datagrams of out
	tooLong  uint64
}

// echoBatches is how many batches one tick takes in at most: what is due must not wait for a flood's end.
const echoBatches = 256

// NewEcho returns an echo server without clients.
func NewEcho(cfg netcode.ServerConfig) (*Echo, error) {
	s, err := netcode.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	return &Echo{server: s}, nil
}

// Server is the echo's netcode, for looking between ticks.
func (e *Echo) Server() *netcode.Server { return e.server }

// TooLong counts datagrams that could not be sent because conn takes none of their length.
func (e *Echo) TooLong() uint64 { return e.tooLong }

// Tick answers what has arrived on conn by now and sends what is due. It returns how many datagrams came. unix is the wall
// clock in seconds, which only tokens are compared with. Errors are conn's.
func (e *Echo) Tick(now time.Duration, unix int64, sock netio.Conn) (received int, err error) {
	for range echoBatches {
		n, errIn := sock.Receive(&e.in)
		received += n
		if n == 0 || errIn != nil {
			err = errIn
			break
		}
		e.take(now, unix, false) // who is in comes before who knocks
		e.take(now, unix, true)
		if errOut := e.flush(sock); errOut != nil {
			return received, errOut
		}
	}
	for _, v := range e.server.Update(now, unix, &e.out) {
		e.tell(v)
	}
	return received, errors.Join(err, e.flush(sock))
}

// take goes through the batch for datagrams of strangers, or for the others.
func (e *Echo) take(now time.Duration, unix int64, strangers bool) {
	for i := range e.in.Len() {
		d := e.in.At(i)
		if netcode.IsHandshake(d.Data) != strangers {
			continue
		}
		v, err := e.server.Receive(now, unix, d.Addr, d.Data, &e.out)
		switch {
		case err != nil: // counted by the server
		case v.Kind == netcode.EventPayload:
			_ = e.server.Send(now, v.Client, v.Payload, &e.out) // fails only when the session is about to end
		default:
			e.tell(v)
		}
	}
}

func (e *Echo) tell(v netcode.Event) {
	if v.Kind != netcode.EventNone && e.Told != nil {
		e.Told(v.Kind, v.Client)
	}
}

// flush sends all of out.
func (e *Echo) flush(sock netio.Conn) error {
	for {
		left, err := e.Flush(sock)
		if left == 0 || err != nil {
			return err
		}
	}
}

// Flush sends a batch of what waits to be sent and returns how much is left.
func (e *Echo) Flush(sock netio.Conn) (left int, err error) {
	e.wire.Reset()
	for e.sent < e.out.Len() && !e.wire.Full() {
		to, d := e.out.At(e.sent)
		e.sent++
		if len(d) > netio.MaxDatagram {
			e.tooLong++
			continue
		}
		e.wire.Add(d, to)
	}
	if e.sent == e.out.Len() {
		e.out.Reset()
		e.sent = 0
	}
	if e.wire.Len() > 0 {
		err = sock.Send(&e.wire)
	}
	return e.out.Len() - e.sent, err
}

// Close disconnects everybody: ten datagrams each, which Flush sends at the pace of its caller.
func (e *Echo) Close(now time.Duration) { e.server.Close(now, &e.out) }
