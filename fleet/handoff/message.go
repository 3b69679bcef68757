package handoff

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/server/host"
)

// subject of NATS; the name of the host that is to read the messages ends it.
const subject = "tickrate.fleet.move."

// MaxState is the longest state of a lobby, in bytes, packed and unpacked.
const MaxState = 64 << 20

const (
	partSize = 128 << 10 // of a packed state, in one message
	maxParts = MaxState / partSize
)

// messageKind says which event of the other host's a message tells.
type messageKind string

const (
	messageOffer    messageKind = "offer"
	messagePrepared messageKind = "prepared"
	messageRefused  messageKind = "refused"
	messageReady    messageKind = "ready"
	messageState    messageKind = "state"
	messageTaken    messageKind = "taken"
	messageCancel   messageKind = "cancel"
)

// message is what hosts tell each other about a move. All but ID, Kind and From depends on the
// kind.
type message struct {
	ID   string      `json:"id"` // of the move
	Kind messageKind `json:"kind"`
	From string      `json:"from"` // host
	To   string      `json:"to"`   // host
	Sent int64       `json:"sent"` // Unix ms
	Why  string      `json:"why,omitempty"`

	Offer *host.Offer `json:"offer,omitempty"`

	Instance  uint32   `json:"instance,omitempty"` // prepared: names the lobby in tokens
	Lobby     uint32   `json:"lobby,omitempty"`
	Addresses []string `json:"addresses,omitempty"`

	Ready int `json:"ready,omitempty"`

	Record   string `json:"record,omitempty"` // state: key of the record, and its revision
	Revision uint64 `json:"revision,omitempty"`
	Part     int    `json:"part,omitempty"`
	Parts    int    `json:"parts,omitempty"`
	Bytes    []byte `json:"bytes,omitempty"` // part of the packed state
}

// errMessage is the error of a message that no host of this build sends.
var errMessage = errors.New("not a message about a move")

// maxAge is how far the time of a message may be from this host's, so that a recorded one is of no
// use later.
const maxAge = time.Minute

// check refuses what no honest host says. to is the name of this host.
func (m *message) check(to string, now time.Time) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s", errMessage, what) }
	switch {
	case m.To != to || !announce.ValidName(m.From) || m.From == to:
		return bad("from " + m.From + " to " + m.To)
	case now.Sub(time.UnixMilli(m.Sent)).Abs() > maxAge:
		return bad("sent more than a minute ago, or in the future")
	case !announce.ValidName(m.ID):
		return bad("id")
	case m.Ready < 0:
		return bad("ready clients")
	}
	switch m.Kind {
	case messageOffer:
		if m.Offer == nil || len(m.Offer.Seats) > announce.MaxSize/16 {
			return bad("offer")
		}
	case messagePrepared:
		if m.Instance == 0 {
			return bad("lobby")
		}
		if _, err := announce.ParseAddresses(m.Addresses); err != nil {
			return bad("addresses")
		}
	case messageState:
		if m.Parts < 1 || m.Parts > maxParts || m.Part < 0 || m.Part >= m.Parts || m.Revision == 0 ||
			len(m.Bytes) > partSize || !validRecord(m.Record) {
			return bad("state")
		}
	case messageRefused, messageReady, messageTaken, messageCancel:
	default:
		return bad("kind")
	}
	return nil
}

// validRecord reports whether a key of a record is one that a host makes.
func validRecord(key string) bool {
	return key != "" && len(key) <= 64 && strings.Trim(key, "0123456789.") == ""
}

// addresses are the addresses of a checked message.
func (m *message) addresses() []netip.AddrPort {
	all, _ := announce.ParseAddresses(m.Addresses)
	return all
}

// The coders of states. Making one takes milliseconds, in which a lobby would stand still.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic("handoff: " + err.Error()) // of the options above
		}
		return w
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxState))
		if err != nil {
			panic("handoff: " + err.Error())
		}
		return r
	})
)

// pack compresses the state of a lobby.
func pack(state []byte) []byte { return encoder().EncodeAll(state, nil) }

// unpack is the reverse of pack. It makes no more than MaxState bytes.
func unpack(packed []byte) ([]byte, error) { return decoder().DecodeAll(packed, nil) }

// parcel gathers the parts of a state, in any order.
type parcel struct {
	parts [][]byte
	have  int
}

// add adds a part, and returns the whole once it is complete.
func (p *parcel) add(m *message) (packed []byte, whole bool) {
	if len(p.parts) != m.Parts {
		*p = parcel{parts: make([][]byte, m.Parts)}
	}
	if p.parts[m.Part] == nil {
		p.parts[m.Part] = append([]byte{}, m.Bytes...)
		p.have++
	}
	if p.have < m.Parts {
		return nil, false
	}
	for _, part := range p.parts {
		packed = append(packed, part...)
	}
	return packed, true
}
