package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

// cookiePeriod: a cookie is good for one to two of these.
const cookiePeriod = 10 * time.Second

// Door answers strangers. It keeps nothing about anybody: a flood of Hellos costs a hash each and no memory, and nobody
// gets more bytes than he sent before he has proved that he hears us.
type Door struct {
	Schema  uint64   // what a Hello must name, see wire.Hello
	Model   uint64   // likewise
	Arena   [32]byte // likewise; the arena may change from match to match
	Closing bool     // deny everybody

	mac  hash.Hash
	text [macSize]byte
	sum  [sha256.Size]byte
	join Join
}

// Join is a stranger who has proved his address and speaks as we do. Its owner gives him a place and sends an Accept
// with its Nonce and Token, or a Deny.
//
// A client repeats its Response until it hears the answer, so the same Join comes again: if a peer at From has this Token, send
// the Accept again. If a peer at From has another, it is from an earlier attempt: replace it once it has been silent for
// a second, and until then ignore the Join, which may be a stray copy of an old datagram.
type Join struct {
	From  netip.AddrPort
	Nonce uint64
	Token uint64 // for the session; never 0, the same for the same From and Nonce
	Name  []byte // valid text of up to wire.MaxName bytes; a part of the datagram, copy it to keep it
}

// NewDoor returns a door that signs with secret, which must be random and new at every start.
func NewDoor(secret [32]byte) *Door {
	return &Door{mac: hmac.New(sha256.New, secret[:])}
}

// Handle takes every datagram that is not for a Peer. What is to be sent back is appended to dst; send it whether or not there is
// an error. A good Response gives a Join, which is valid until the next call. The error is a wire.Drop.
func (d *Door) Handle(now time.Duration, from netip.AddrPort, datagram, dst []byte) (reply []byte, join *Join, err error) {
	switch {
	case len(datagram) == 0 || len(datagram) > wire.MaxDatagram:
		return dst, nil, wire.DropSize
	case wire.KindOf(datagram) == wire.KindHello:
		reply, err = d.hello(now, from, datagram, dst)
		return reply, nil, err
	case wire.KindOf(datagram) == wire.KindResponse:
		return d.response(now, from, datagram, dst)
	case wire.KindOf(datagram) == wire.KindPayload || wire.KindOf(datagram) == wire.KindDisconnect:
		return dst, nil, wire.DropUnknown
	}
	return dst, nil, wire.DropKind
}

// hello answers with a Challenge, or says what does not match.
func (d *Door) hello(now time.Duration, from netip.AddrPort, datagram, dst []byte) ([]byte, error) {
	h, err := wire.ParseHello(datagram)
	if err != nil && err != wire.DropVersion {
		return dst, err
	}
	if why := d.objection(&h, err); why != 0 {
		return Deny(dst, h.Nonce, why), why.Drop()
	}
	c := wire.Challenge{Nonce: h.Nonce, Cookie: d.cookie(from, h.Nonce, period(now))}
	return c.Append(dst), nil
}

func (d *Door) objection(h *wire.Hello, err error) wire.Reason {
	switch {
	case err == wire.DropVersion:
		return wire.ReasonVersion
	case d.Closing:
		return wire.ReasonClosing
	case h.Schema != d.Schema:
		return wire.ReasonSchema
	case h.Model != d.Model:
		return wire.ReasonModel
	case h.Arena != [32]byte{} && h.Arena != d.Arena:
		return wire.ReasonArena
	}
	return 0
}

// response checks the cookie. Its lowest bit says in which of the two periods it was made, so that a forged one costs a
// single hash.
func (d *Door) response(now time.Duration, from netip.AddrPort, datagram, dst []byte) ([]byte, *Join, error) {
	r, err := wire.ParseResponse(datagram)
	if err != nil {
		return dst, nil, err
	}
	made := period(now)
	if byte(made)&1 != r.Cookie[0]&1 {
		made--
	}
	want := d.cookie(from, r.Nonce, made)
	if subtle.ConstantTimeCompare(want[:], r.Cookie[:]) != 1 {
		return dst, nil, wire.DropCookie
	}
	if d.Closing {
		return Deny(dst, r.Nonce, wire.ReasonClosing), nil, wire.DropClosing
	}
	d.join = Join{From: from, Nonce: r.Nonce, Token: d.token(from, r.Nonce), Name: r.Name}
	return dst, &d.join, nil
}

// Deny appends a Deny for the attempt nonce to dst.
func Deny(dst []byte, nonce uint64, why wire.Reason) []byte {
	return (&wire.Deny{Nonce: nonce, Reason: why}).Append(dst)
}

// What is signed: 1 purpose, 16 address, 2 port, 8 nonce, 8 period.
const macSize = 1 + 16 + 2 + 8 + 8

func (d *Door) cookie(from netip.AddrPort, nonce, made uint64) (c wire.Cookie) {
	d.sign('c', from, nonce, made)
	copy(c[:], d.sum[:])
	c[0] = c[0]&^1 | byte(made)&1
	return c
}

func (d *Door) token(from netip.AddrPort, nonce uint64) uint64 {
	d.sign('t', from, nonce, 0)
	return max(1, binary.LittleEndian.Uint64(d.sum[:]))
}

// sign puts the HMAC-SHA256 of its arguments into d.sum.
func (d *Door) sign(purpose byte, from netip.AddrPort, nonce, made uint64) {
	ip := from.Addr().As16()
	b := append(d.text[:0], purpose)
	b = append(b, ip[:]...)
	b = binary.LittleEndian.AppendUint16(b, from.Port())
	b = binary.LittleEndian.AppendUint64(b, nonce)
	b = binary.LittleEndian.AppendUint64(b, made)
	d.mac.Reset()
	d.mac.Write(b)
	d.mac.Sum(d.sum[:0])
}

func period(now time.Duration) uint64 { return uint64(now / cookiePeriod) }
