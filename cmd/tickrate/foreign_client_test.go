package main

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// A client and a token maker that share no line with netio/netcode: they follow the public standard
// of netcode 1.02 alone.

const foreignVersion = "NETCODE 1.02\x00"

const (
	foreignRequest = iota
	foreignDenied
	foreignChallenge
	foreignResponse
	foreignKeepAlive
	foreignPayload
	foreignDisconnect
)

// foreignBackend mints tokens, as the matchmaker of another vendor does.
type foreignBackend struct {
	key      []byte // private, 32 B
	protocol uint64
	client   uint64
	life     uint64           // seconds
	timeout  int32            // seconds
	servers  []netip.AddrPort // to dial
	private  []netip.AddrPort // that the server compares with its own names
}

// token returns a public token of 2048 bytes.
func (b *foreignBackend) token() []byte {
	le := binary.LittleEndian
	var nonce [24]byte
	var keys [64]byte // to the server, to the client
	_, _ = rand.Read(nonce[:])
	_, _ = rand.Read(keys[:])
	now := uint64(time.Now().Unix())

	private := le.AppendUint64(nil, b.client)
	private = le.AppendUint32(private, uint32(b.timeout))
	private = foreignAddresses(private, b.private)
	private = append(private, keys[:]...)
	private = append(private, bytes.Repeat([]byte{0xab}, 256)...) // user data
	private = append(private, make([]byte, 1008-len(private))...)
	about := le.AppendUint64([]byte(foreignVersion), b.protocol)
	about = le.AppendUint64(about, now+b.life)
	seal, err := chacha20poly1305.NewX(b.key)
	if err != nil {
		panic(err)
	}

	public := le.AppendUint64([]byte(foreignVersion), b.protocol)
	public = le.AppendUint64(public, now)
	public = le.AppendUint64(public, now+b.life)
	public = append(public, nonce[:]...)
	public = seal.Seal(public, nonce[:], private, about)
	public = le.AppendUint32(public, uint32(b.timeout))
	public = foreignAddresses(public, b.servers)
	public = append(public, keys[:]...)
	return append(public, make([]byte, 2048-len(public))...)
}

// foreignAddresses writes the address list of a token. The groups of an IPv6 address are
// little-endian.
func foreignAddresses(dst []byte, list []netip.AddrPort) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
	for _, s := range list {
		if s.Addr().Is4() {
			ip := s.Addr().As4()
			dst = append(append(dst, 1), ip[:]...)
		} else {
			ip := s.Addr().As16()
			dst = append(dst, 2)
			for i := 0; i < 16; i += 2 {
				dst = append(dst, ip[i+1], ip[i])
			}
		}
		dst = binary.LittleEndian.AppendUint16(dst, s.Port())
	}
	return dst
}

// foreignClient is the client of one session.
type foreignClient struct {
	udp       *net.UDPConn // nil: the owner receives
	out       io.Writer    // takes datagrams
	protocol  uint64
	request   []byte // 1078 B
	timeout   time.Duration
	up, down  cipher.AEAD
	sequence  uint64
	challenge []byte // 308 B, nil until it came
	connected bool
	ended     bool // the server said so
	denied    bool
	slot, max uint32
	sent      time.Time
	heard     time.Time
	seen      map[uint64]bool // sequences; a test is short
	newest    uint64
	alives    int // keep-alives that came after the first
	spoilt    int // datagrams that did not open
}

// newForeignClient reads a token and connects to its first server.
func newForeignClient(token []byte) (*foreignClient, error) {
	c, first, err := readForeignToken(token)
	if err != nil {
		return nil, err
	}
	c.udp, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(first))
	c.out = c.udp
	return c, err
}

// readForeignToken returns a client without a socket, and the first server of its token.
func readForeignToken(token []byte) (c *foreignClient, first netip.AddrPort, err error) {
	le := binary.LittleEndian
	if len(token) != 2048 || string(token[:13]) != foreignVersion {
		return nil, first, errors.New("no token of netcode 1.02")
	}
	c = &foreignClient{protocol: le.Uint64(token[13:]), seen: map[uint64]bool{}, heard: time.Now()}
	c.timeout = time.Duration(int32(le.Uint32(token[1085:]))) * time.Second
	c.request = append([]byte{foreignRequest}, token[:13]...)
	c.request = append(c.request, token[13:21]...)    // protocol
	c.request = append(c.request, token[29:37]...)    // expire
	c.request = append(c.request, token[37:37+24]...) // nonce
	c.request = append(c.request, token[61:61+1024]...)
	n, at := le.Uint32(token[1089:]), 1093
	if n < 1 || n > 32 {
		return nil, first, fmt.Errorf("%d servers", n)
	}
	for i := range n {
		var ip netip.Addr
		switch token[at] {
		case 1:
			ip = netip.AddrFrom4([4]byte(token[at+1:]))
			at += 5
		case 2:
			var b [16]byte
			for k := 0; k < 16; k += 2 {
				b[k], b[k+1] = token[at+2+k], token[at+1+k]
			}
			ip = netip.AddrFrom16(b)
			at += 17
		default:
			return nil, first, fmt.Errorf("address of type %d", token[at])
		}
		if i == 0 {
			first = netip.AddrPortFrom(ip, le.Uint16(token[at:]))
		}
		at += 2
	}
	var errDown error
	c.up, err = chacha20poly1305.New(token[at : at+32])
	c.down, errDown = chacha20poly1305.New(token[at+32 : at+64])
	return c, first, errors.Join(err, errDown)
}

func foreignNonce(sequence uint64) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 4, 12), sequence)
}

// about returns the associated data of a sealed packet.
func (c *foreignClient) about(prefix byte) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte(foreignVersion), c.protocol), prefix)
}

// send seals and sends one packet.
func (c *foreignClient) send(kind byte, body []byte) {
	c.sent = time.Now()
	sequence := c.sequence
	c.sequence++
	if kind == foreignRequest {
		_, _ = c.out.Write(c.request) // what is refused is lost
		return
	}
	n := 1
	for s := sequence >> 8; s > 0; s >>= 8 {
		n++
	}
	d := []byte{byte(n)<<4 | kind}
	d = append(d, binary.LittleEndian.AppendUint64(nil, sequence)[:n]...)
	d = c.up.Seal(d, foreignNonce(sequence), body, c.about(d[0]))
	_, _ = c.out.Write(d)
}

// due sends the datagram that the state requires, ten times a second.
func (c *foreignClient) due() {
	switch {
	case c.ended || c.denied || time.Since(c.sent) < 100*time.Millisecond:
	case c.connected:
		c.send(foreignKeepAlive, make([]byte, 8))
	case c.challenge != nil:
		c.send(foreignResponse, c.challenge)
	default:
		c.send(foreignRequest, nil)
	}
}

// receive takes a datagram and returns its payload, nil for none.
func (c *foreignClient) receive(d []byte) []byte {
	if len(d) < 18 {
		return nil
	}
	kind, n := d[0]&15, int(d[0]>>4)
	if kind == foreignRequest || kind == foreignResponse || kind > foreignDisconnect ||
		n < 1 || n > 8 || len(d) < 1+n+16 {
		return nil
	}
	var b [8]byte
	copy(b[:], d[1:1+n])
	sequence := binary.LittleEndian.Uint64(b[:])
	replayed := c.newest >= 256 && sequence <= c.newest-256 || c.seen[sequence]
	if kind >= foreignKeepAlive && replayed {
		return nil
	}
	body, err := c.down.Open(nil, foreignNonce(sequence), d[1+n:], c.about(d[0]))
	if err != nil {
		c.spoilt++
		return nil
	}
	if kind >= foreignKeepAlive {
		c.seen[sequence], c.newest = true, max(c.newest, sequence)
	}
	return c.opened(kind, body)
}

func (c *foreignClient) opened(kind byte, body []byte) []byte {
	switch {
	case kind == foreignDenied && len(body) == 0 && !c.connected:
		c.denied = true
	case kind == foreignChallenge && len(body) == 308 && c.challenge == nil:
		c.challenge, c.heard = body, time.Now()
		c.sent = time.Time{} // the answer need not wait
	case kind == foreignKeepAlive && len(body) == 8 && c.challenge != nil:
		if c.connected {
			c.alives++
		} else {
			c.slot, c.max = binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint32(body[4:])
		}
		c.connected, c.heard = true, time.Now()
	case kind == foreignPayload && c.connected && len(body) >= 1 && len(body) <= 1200:
		c.heard = time.Now()
		return body
	case kind == foreignDisconnect && len(body) == 0 && c.connected:
		c.ended = true
	}
	return nil
}

// live runs the client until done returns true for a payload; done gets nil at least every five
// milliseconds. The error says that the time was over or that the server was silent.
func (c *foreignClient) live(most time.Duration, done func(payload []byte) bool) error {
	buf := make([]byte, 2000)
	for end := time.Now().Add(most); time.Now().Before(end); {
		c.due()
		if err := c.udp.SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
			return err
		}
		var payload []byte
		if n, err := c.udp.Read(buf); err == nil {
			payload = c.receive(buf[:n])
		}
		if done(payload) {
			return nil
		}
		if time.Since(c.heard) > c.timeout {
			return fmt.Errorf("nothing heard for %v", c.timeout)
		}
	}
	return fmt.Errorf("not done after %v: connected %v, denied %v, ended %v",
		most, c.connected, c.denied, c.ended)
}

// disconnect sends the disconnects of the standard.
func (c *foreignClient) disconnect() {
	for range 10 {
		c.send(foreignDisconnect, nil)
	}
}
