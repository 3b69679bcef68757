package netcode

import (
	"crypto/cipher"
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
	"time"
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

// ClientConfig configures a Client.
type ClientConfig struct {
	// keep the session when our address changes; a server that cannot do that ignores it
	Roam bool
	// of silence, before a probe; at least two send intervals of the server; 0: 250 ms
	ProbeAfter time.Duration
	Linger     time.Duration // time to open late payloads after a disconnect; 0: none
	// Nearest pings the addresses of a token that has several, and dials them in the order of their
	// round trips, see Nearest. Without it they are dialled in the token's order. Once it has sent a
	// response it asks no other server: that one may have begun a session, and servers of one token
	// seal with the same keys and sequences.
	Nearest bool
}

// Client brings one token's session up and keeps it. Datagrams go to Receive, and Update is
// called at least every 50 ms. A Client is good for one attempt and a token for one Client,
// because the same keys must not seal twice.
type Client struct {
	state         State
	endedByServer bool
	endedAt       time.Duration // when the server ended the session
	cfg           ClientConfig
	channel
	attempt
	pinging  pinging
	roaming  roaming
	counters Counters
	index    uint32 // our slot at the server
	slots    uint32 // how many the server has
	token    PublicToken
}

// channel seals and opens the datagrams of a session, and says when the last ones were sent and
// received.
type channel struct {
	open       cipher.AEAD
	seal       cipher.AEAD
	sequence   uint64 // next one to seal
	sent       time.Duration
	received   time.Duration
	timeout    time.Duration // ends a silent session; 0 never
	serverAddr netip.AddrPort
	window     ReplayWindow
	sealer     sealer
}

// attempt is the way to a session: which server is asked, since when, and what it asks back.
type attempt struct {
	started     bool
	start       time.Duration
	serverIndex int            // in the token's list
	resendAt    time.Duration  // when the next request or response is due
	answer      [bodySize]byte // the challenge, to be sent back
}

// NewClient takes a token of TokenSize bytes. If it is malformed, the client's state is
// InvalidToken.
func NewClient(token []byte, cfg ClientConfig) *Client {
	if cfg.ProbeAfter == 0 {
		cfg.ProbeAfter = 250 * time.Millisecond
	}
	c := &Client{cfg: cfg, state: SendingRequest}
	if c.token.Parse(token) != nil {
		c.token, c.state = PublicToken{}, InvalidToken
		return c
	}
	c.serverAddr, c.timeout = c.token.Servers[0], timeoutDuration(c.token.TimeoutSeconds)
	c.sealer = newSealer(c.token.ProtocolID)
	c.open, c.seal = packetAEAD(&c.token.ServerToClient), packetAEAD(&c.token.ClientToServer)
	return c
}

// Update sends what is due and ends the session or the attempt when its time is up.
func (c *Client) Update(now time.Duration, out *Outbox) {
	if c.state <= Disconnected {
		return
	}
	if !c.started {
		c.begin(now)
	}
	if c.state == SendingRequest && c.pinging.Nearest != nil && c.nearest(now, out) {
		return
	}
	silent := c.timeout > 0 && c.received+c.timeout < now
	switch {
	case c.state == Connected && silent:
		c.state = ConnectionTimedOut
	case c.state != Connected && now-c.start >= c.lifetime():
		c.state = TokenExpired
	case c.state == SendingResponse && silent && c.cfg.Nearest: // the server may have a session by now
		c.state = ResponseTimedOut
	case c.state == SendingResponse && silent:
		c.nextServerOr(now, ResponseTimedOut)
	case c.state == SendingRequest && silent:
		c.nextServerOr(now, RequestTimedOut)
	}
	c.send(now, out)
}

// begin starts the attempt: with pings if there is a choice to make.
func (c *Client) begin(now time.Duration) {
	c.started, c.start = true, now
	c.dial(now, 0)
	if c.cfg.Nearest && c.token.NumServers > 1 {
		addresses := c.token.Servers[:c.token.NumServers]
		c.pinging = pinging{NewNearest(now, addresses), pingSecret(&c.token)}
	}
}

// lifetime returns how long the attempt may take by the client's clock.
func (c *Client) lifetime() time.Duration {
	const longest = uint64(math.MaxInt64 / int64(time.Second))
	return time.Duration(min(c.token.Expire-c.token.Create, longest)) * time.Second
}

// dial starts with a server of the token. Sequences continue, because all servers of a token
// share its keys.
func (c *Client) dial(now time.Duration, server int) {
	c.serverIndex, c.serverAddr = server, c.token.Servers[server]
	c.state = SendingRequest
	c.received, c.resendAt = now, now
	c.window = ReplayWindow{}
}

// nextServerOr dials the next server of the token, or fails with a state.
func (c *Client) nextServerOr(now time.Duration, s State) {
	if c.serverIndex+1 < c.token.NumServers {
		c.dial(now, c.serverIndex+1)
		return
	}
	c.state = s
}

func (c *Client) send(now time.Duration, out *Outbox) {
	switch c.state {
	case SendingRequest:
		if now >= c.resendAt {
			c.request(now, out)
		}
	case SendingResponse:
		if now >= c.resendAt {
			c.sendSealed(now, KindResponse, c.answer[:], out)
			c.resendAt = now + sendEvery
		}
	case Connected:
		if c.sequence >= sequenceLimit-2*disconnectRepeats {
			c.Disconnect(now, out)
			return
		}
		if c.cfg.Roam {
			c.roam(now, out)
		}
		if now-c.sent >= sendEvery {
			c.sendSealed(now, KindKeepAlive, zeros[:8], out)
		}
	}
}

// request sends a connection request, see Server.request. It uses up a sequence, although it is
// not sealed.
func (c *Client) request(now time.Duration, out *Outbox) {
	b := append(out.bytes, byte(KindRequest))
	b = append(b, version...)
	b = binary.LittleEndian.AppendUint64(b, c.token.ProtocolID)
	b = binary.LittleEndian.AppendUint64(b, c.token.Expire)
	b = append(b, c.token.Nonce[:]...)
	b = append(b, c.token.Private[:]...)
	out.commit(b, c.Server())
	c.counters.Sent[KindRequest]++
	c.sequence++
	c.sent, c.resendAt = now, now+sendEvery
}

func (c *Client) sendSealed(now time.Duration, kind Kind, body []byte, out *Outbox) {
	out.commit(c.sealNext(now, kind, body, out.bytes), c.Server())
}

// sealNext appends the next datagram to dst.
func (c *Client) sealNext(now time.Duration, kind Kind, body, dst []byte) []byte {
	dst = c.sealer.seal(c.seal, dst, kind, c.sequence, body)
	c.sequence++
	c.sent = now
	c.counters.Sent[kind]++
	return dst
}

// Seal appends a payload to dst as one datagram for Server, at most MaxDatagram bytes. The
// payload must not overlap the room after dst.
func (c *Client) Seal(now time.Duration, payload, dst []byte) ([]byte, error) {
	switch {
	case c.state != Connected:
		return dst, ErrNoSession
	case len(payload) < 1 || len(payload) > MaxPayload:
		return dst, ErrPayload
	case c.sequence >= sequenceLimit-2*disconnectRepeats:
		return dst, ErrExhausted
	}
	return c.sealNext(now, KindPayload, payload, dst), nil
}

// Send appends a payload to out.
func (c *Client) Send(now time.Duration, payload []byte, out *Outbox) error {
	b, err := c.Seal(now, payload, out.bytes)
	if err == nil {
		out.commit(b, c.Server())
	}
	return err
}

// Disconnect ends the session or the attempt, and sends ten disconnects if the server may know of
// it.
func (c *Client) Disconnect(now time.Duration, out *Outbox) {
	if c.state == Connected || c.state == SendingResponse {
		for range disconnectRepeats {
			c.sendSealed(now, KindDisconnect, nil, out)
		}
	}
	c.state = min(c.state, Disconnected)
}

// Lingering reports whether the server has ended the session and late payloads may still come,
// see ClientConfig.Linger.
func (c *Client) Lingering(now time.Duration) bool {
	return c.endedByServer && now-c.endedAt < c.cfg.Linger
}

// State returns the client's state.
func (c *Client) State() State { return c.state }

// Err returns why the client failed, as a StateError; nil while it has not failed and after a
// disconnect.
func (c *Client) Err() error {
	if c.state < Disconnected {
		return StateError(c.state)
	}
	return nil
}

// Server returns the address that the client dials or is connected to. It is invalid without a
// valid token.
func (c *Client) Server() netip.AddrPort { return c.serverAddr }

// Addresses returns the addresses that the client's token names, in the order in which it dials them.
// It allocates.
func (c *Client) Addresses() []netip.AddrPort {
	return slices.Clone(c.token.Servers[:c.token.NumServers])
}

// Index returns the client's slot at the server, once Connected.
func (c *Client) Index() uint32 { return c.index }

// Slots returns the number of slots of the server.
func (c *Client) Slots() uint32 { return c.slots }

// Counters returns the client's counters; read them between calls.
func (c *Client) Counters() *Counters { return &c.counters }

// Prefetch asks for the memory that every datagram reads.
func (c *Client) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(c), unsafe.Offsetof(c.attempt)+unsafe.Offsetof(c.attempt.answer))
}
