package host

import (
	"errors"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Echo sends every payload back to its sender, to try netcode 1.02 clients that know nothing of the
// game. Batches go in and out; it opens no socket and reads no clock. A value belongs to one
// goroutine.
type Echo struct {
	// OnEvent, if set, gets the sessions that begin, move and end. The server no longer has a
	// session that ended.
	OnEvent func(kind netcode.EventKind, client int)

	server  *netcode.Server
	lobbies echoLobbies
	in, out netio.Batch
	outbox  netcode.Outbox
	sent    int // datagrams of outbox
	tooLong uint64
}

// maxEchoBatches bounds what one tick reads, so that a flood delays nothing for long.
const maxEchoBatches = 256

// NewEcho returns an echo server without clients, whose slots are divided among lobbies.
func NewEcho(cfg netcode.ServerConfig, lobbies int) (*Echo, error) {
	s, err := netcode.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	return &Echo{server: s, lobbies: newEchoLobbies(lobbies, s.Clients())}, nil
}

// Server is the netcode server of the echo, for reading between ticks.
func (e *Echo) Server() *netcode.Server { return e.server }

// TooLong counts datagrams that sock could not send because of their length.
func (e *Echo) TooLong() uint64 { return e.tooLong }

// Tick answers what has arrived on sock and sends what is due. It returns the number of datagrams
// that came. unix is the wall clock in seconds, for the expiry of tokens. Errors are those of sock.
func (e *Echo) Tick(now time.Duration, unix int64, sock netio.Conn) (received int, err error) {
	for range maxEchoBatches {
		n, errIn := sock.Receive(&e.in)
		received += n
		if n == 0 || errIn != nil {
			err = errIn
			break
		}
		e.receiveSessions(now, unix) // sessions come before handshakes
		e.receiveHandshakes(now, unix)
		if errOut := e.flush(sock); errOut != nil {
			return received, errOut
		}
	}
	for _, v := range e.server.Update(now, unix, &e.outbox) {
		e.event(now, v)
	}
	return received, errors.Join(err, e.flush(sock))
}

func (e *Echo) receiveSessions(now time.Duration, unix int64) {
	for i := range e.in.Len() {
		if d := e.in.At(i); !netcode.IsHandshake(d.Data) {
			e.receive(now, unix, d)
		}
	}
}

func (e *Echo) receiveHandshakes(now time.Duration, unix int64) {
	for i := range e.in.Len() {
		if d := e.in.At(i); netcode.IsHandshake(d.Data) {
			e.receive(now, unix, d)
		}
	}
}

func (e *Echo) receive(now time.Duration, unix int64, d netio.Datagram) {
	v, err := e.server.Receive(now, unix, d.Addr, d.Data, &e.outbox)
	switch {
	case err != nil: // counted by the server
	case v.Kind == netcode.EventPayload:
		// Fails only if the session is about to end.
		_ = e.server.Send(now, v.Client, v.Payload, &e.outbox)
	default:
		e.event(now, v)
	}
}

// event keeps the lobbies and tells the owner. A session without a lobby ends at once.
func (e *Echo) event(now time.Duration, v netcode.Event) {
	refused := false
	switch v.Kind {
	case netcode.EventNone:
		return
	case netcode.EventConnected, netcode.EventTakeover:
		s, _ := e.server.Session(v.Client)
		refused = !e.lobbies.enter(v.Client, s.UserData[:])
	case netcode.EventDisconnect, netcode.EventTimeout, netcode.EventExhausted:
		e.lobbies.leave(v.Client)
	}
	if e.OnEvent != nil {
		e.OnEvent(v.Kind, v.Client)
	}
	if refused {
		_ = e.server.Disconnect(now, v.Client, &e.outbox) // it has begun just now
		e.event(now, netcode.Event{Kind: netcode.EventDisconnect, Client: v.Client})
	}
}

// flush sends all of the outbox.
func (e *Echo) flush(sock netio.Conn) error {
	for {
		left, err := e.Flush(sock)
		if left == 0 || err != nil {
			return err
		}
	}
}

// Flush sends a batch of what waits to be sent and returns the number of datagrams that are left.
func (e *Echo) Flush(sock netio.Conn) (left int, err error) {
	e.out.Reset()
	for e.sent < e.outbox.Len() && !e.out.Full() {
		to, d := e.outbox.At(e.sent)
		e.sent++
		if len(d) > netio.MaxDatagram {
			e.tooLong++
			continue
		}
		e.out.Add(d, to)
	}
	if e.sent == e.outbox.Len() {
		e.outbox.Reset()
		e.sent = 0
	}
	if e.out.Len() > 0 {
		err = sock.Send(&e.out)
	}
	return e.outbox.Len() - e.sent, err
}

// Close disconnects all clients with ten datagrams each, which Flush sends as its caller paces
// them.
func (e *Echo) Close(now time.Duration) { e.server.Close(now, &e.outbox) }
