package director

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	chacha "math/rand/v2"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/httpapi"
)

const (
	maxParty    = 64 // players of a request
	maxWord     = 200
	maxTries    = 100 // writes that other directors may be faster with
	makeTimeout = 10 * time.Second
	makers      = 3 // hosts that are asked for a lobby
	// How long another director may take for a request that it has begun.
	pendingFor = 15 * time.Second
	// By how much a reservation outlives the tokens: the last player to come is announced by then.
	holdGrace = 5 * time.Second
)

// Ask is the body of POST /v1/match.
type Ask struct {
	RequestID string `json:"request_id"`
	Players   int    `json:"players"`
	Map       string `json:"map"`
	Mode      string `json:"mode"`
}

// Answer is where the players of an Ask go.
type Answer struct {
	Version    int      `json:"version"`
	RequestID  string   `json:"request_id"`
	Host       string   `json:"host"`
	Lobby      string   `json:"lobby,omitempty"` // "": the host chooses
	Servers    []string `json:"servers"`         // to dial
	ProtocolID string   `json:"protocol_id"`     // decimal
	Expires    int64    `json:"expires"`         // of tokens and places, Unix s
	Tokens     []Token  `json:"tokens"`          // one a player
}

// Token lets one player in.
type Token struct {
	ClientID string `json:"client_id"` // decimal
	Token    []byte `json:"token"`     // netcode.TokenSize bytes
}

// NoRoom is why there is no place for a request now.
type NoRoom string

func (n NoRoom) Error() string { return "no room: " + string(n) }

// Errors of Match beside NoRoom.
var (
	ErrAsk     = errors.New("bad request")
	ErrChanged = errors.New("request_id: used before, with other players, map or mode")
)

func (a *Ask) check() error {
	word := func(name, s string) error {
		if s == "" || len(s) > maxWord || !protocol.ValidText([]byte(s), maxWord) {
			return fmt.Errorf("%w: %s: expected 1 to %d bytes of printable text", ErrAsk, name, maxWord)
		}
		return nil
	}
	if a.Players < 1 || a.Players > maxParty {
		return fmt.Errorf("%w: players %d: expected 1 to %d", ErrAsk, a.Players, maxParty)
	}
	return errors.Join(word("request_id", a.RequestID), word("map", a.Map), word("mode", a.Mode))
}

// Match finds a place for the players of a request, and reserves it. The same request has the same
// answer from all directors for as long as its tokens are good. Any goroutine may call it.
func (d *Director) Match(ctx context.Context, ask Ask) (Answer, error) {
	if err := ask.check(); err != nil {
		return Answer{}, err
	}
	sum := sha256.Sum256([]byte(ask.RequestID))
	key := hex.EncodeToString(sum[:16])
	old, revision, err := d.store.placementOf(ctx, key)
	switch {
	case err != nil:
		return Answer{}, err
	case revision != 0 && old.Ask != ask:
		return Answer{}, ErrChanged
	case revision != 0 && old.Pending == 0:
		return d.answer(&old)
	case d.cfg.Allocator != nil:
		return d.allocate(ctx, key, ask, old, revision)
	}
	p, err := d.place(ctx, ask)
	if err != nil {
		return Answer{}, err
	}
	return d.settle(ctx, key, p, revision)
}

// settle stores a placement. If another director has placed the same request, its answer counts, and
// the reservation made here expires.
func (d *Director) settle(ctx context.Context, key string, p placement, revision uint64) (Answer, error) {
	p.Created = d.cfg.Now().Unix()
	p.Seed = make([]byte, 32)
	_, _ = rand.Read(p.Seed) // never fails: it ends the program
	if _, err := write(ctx, d.store.requests, key, &p, revision); err == nil {
		return d.answer(&p)
	} else if !errors.Is(err, errConflict) {
		return Answer{}, err
	}
	first, revision, err := d.store.placementOf(ctx, key)
	switch {
	case err != nil:
		return Answer{}, err
	case revision == 0 || first.Pending != 0:
		return Answer{}, NoRoom("another director is at this request: ask again")
	case first.Ask != p.Ask:
		return Answer{}, ErrChanged
	}
	return d.answer(&first)
}

// place reserves a place in a room, which a host makes if there is none.
func (d *Director) place(ctx context.Context, ask Ask) (p placement, err error) {
	for asked := 0; ; {
		p, err = d.reserve(ctx, ask)
		if !errors.Is(err, errNoRoom) {
			return p, err
		}
		if asked == makers {
			return p, NoRoom("the lobbies that hosts made were full at once: ask again")
		}
		made, err := d.makeLobby(ctx, ask)
		if err != nil {
			return p, err
		}
		if made {
			asked++
		}
	}
}

// errNoRoom says that a host must make a lobby.
var errNoRoom = errors.New("no room has place")

// reserve takes places in the fullest room, with a write that fails if another director was faster.
func (d *Director) reserve(ctx context.Context, ask Ask) (p placement, err error) {
	d.placing.Lock()
	defer d.placing.Unlock()
	for range maxTries {
		r, of, held := d.choose(ask)
		if r == nil {
			return p, errNoRoom
		}
		p = placement{Ask: ask, Host: r.host.Name, Instance: r.key.instance, Lobby: r.ID,
			Addresses: r.host.Addresses}
		if held {
			return p, nil
		}
		of.revision, err = write(ctx, d.store.rooms, r.key.text(), of.list, of.revision)
		if errors.Is(err, errConflict) {
			d.conflicts.Inc()
			if of, err = d.store.holdsOf(ctx, r.key); err == nil {
				d.hold(r.key, of)
				continue
			}
		}
		if err != nil {
			return p, fmt.Errorf("reserve in lobby %d of host %s: %w", r.ID, r.host.Name, err)
		}
		d.hold(r.key, of)
		return p, nil
	}
	return p, NoRoom("other directors were faster: ask again")
}

// choose returns a copy of the room for a request, and its reservations with one for the request. held
// is true if it has one already, by a director that died before it could say so.
func (d *Director) choose(ask Ask) (r *room, of holds, held bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.cfg.Now()
	if key, ok := d.index.held[ask.RequestID]; ok {
		if r = d.index.rooms[key]; r != nil && r.Map == ask.Map && r.Mode == ask.Mode && !r.host.Draining {
			return r.copy(), of, true
		}
	}
	if r = d.index.find(place{ask.Map, ask.Mode}, ask.Players); r == nil {
		return nil, of, false
	}
	of = d.index.holds[r.key].live(now).with(hold{ask.RequestID,
		now.Add(d.cfg.TokenLifetime + holdGrace).UnixMilli(), d.index.committed(r) + ask.Players})
	return r.copy(), of, false
}

// copy returns a room that the index does not change.
func (r *room) copy() *room {
	room, host := *r, *r.host
	room.host = &host
	return &room
}

// hold tells the index of reservations, unless it knows newer ones.
func (d *Director) hold(key roomKey, of holds) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of.revision == 0 || of.revision >= d.index.holds[key].revision {
		d.index.hold(key, of.live(d.cfg.Now()))
	}
}

// makeLobby asks hosts for a lobby. Requests for the same map and mode wait for one lobby together:
// made is false for those that waited.
func (d *Director) makeLobby(ctx context.Context, ask Ask) (made bool, err error) {
	p := place{ask.Map, ask.Mode}
	d.mu.Lock()
	if other := d.making[p]; other != nil {
		d.mu.Unlock()
		select {
		case <-other:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	hosts := d.index.makers(ask.Players, makers)
	why := d.whyNone(ask)
	asks := make([]announce.Make, len(hosts))
	for i, h := range hosts {
		asks[i] = announce.Make{Host: h.Name, Request: ask.RequestID, Boot: h.Boot, Sequence: h.Sequence,
			Map: ask.Map, Mode: ask.Mode}
	}
	done := make(chan struct{})
	d.making[p] = done
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.making, p)
		d.mu.Unlock()
		close(done)
	}()
	for i := range asks {
		answer, err := d.askHost(ctx, &asks[i])
		if err == nil {
			d.made.Inc()
			d.mu.Lock()
			d.index.add(hosts[i], answer.Room, answer.Sequence)
			d.mu.Unlock()
			return true, nil
		}
		why = NoRoom(err.Error())
	}
	return false, why
}

func (d *Director) askHost(ctx context.Context, ask *announce.Make) (announce.Made, error) {
	ctx, cancel := context.WithTimeout(ctx, makeTimeout)
	defer cancel()
	return announce.AskLobby(ctx, d.cfg.Bus.Conn, &d.cfg.Key, ask)
}

// whyNone says why no host can make a lobby. The caller holds d.mu.
func (d *Director) whyNone(ask Ask) NoRoom {
	all, draining, busy, small := len(d.index.hosts), 0, 0, 0
	for _, h := range d.index.hosts {
		switch {
		case h.Draining:
			draining++
		case !d.index.holdsLevel(h):
			busy++
		case h.MostSlots < ask.Players:
			small++
		}
	}
	return NoRoom(fmt.Sprintf("of %d hosts %d drain, %d are at their limit of load, %d have lobbies of fewer "+
		"than %d players, and %d have all their lobbies", all, draining, busy, small, ask.Players,
		all-draining-busy-small))
}

// answer mints the tokens of a placement, the same each time.
func (d *Director) answer(p *placement) (a Answer, err error) {
	expire := p.Created + int64(d.cfg.TokenLifetime/time.Second)
	a = Answer{Version: httpapi.Version, RequestID: p.RequestID, Host: p.Host, Servers: p.Addresses,
		ProtocolID: strconv.FormatUint(d.cfg.ProtocolID, 10), Expires: expire}
	m := netcode.Mint{ProtocolID: d.cfg.ProtocolID, Create: uint64(p.Created), Expire: uint64(expire),
		TimeoutSeconds: httpapi.TimeoutSeconds(d.cfg.SessionTimeout)}
	if m.Servers, err = announce.ParseAddresses(p.Addresses); err != nil {
		return a, fmt.Errorf("host %s: %w", p.Host, err)
	}
	if p.Instance != 0 {
		protocol.LobbyRef{Host: p.Instance, Lobby: p.Lobby}.Mark(m.UserData[:])
		a.Lobby = strconv.FormatUint(uint64(p.Lobby), 10)
	}
	mac := hmac.New(sha256.New, d.cfg.Key[:])
	mac.Write([]byte("tickrate tokens\x00"))
	mac.Write(p.Seed)
	mac.Write([]byte(p.RequestID))
	random := chacha.NewChaCha8([32]byte(mac.Sum(nil)))
	for range p.Players {
		var id [8]byte
		_, _ = random.Read(id[:]) // never fails
		m.ClientID = binary.LittleEndian.Uint64(id[:])
		raw, err := m.Append(nil, &d.cfg.Netcode, random)
		if err != nil {
			return a, err
		}
		a.Tokens = append(a.Tokens, Token{strconv.FormatUint(m.ClientID, 10), raw})
	}
	return a, nil
}
