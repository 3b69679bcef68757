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
	// In which the hosts beyond the first of a request must have made their lobbies.
	othersWithin = 4 * time.Second
	makers       = 3 // hosts that are asked for a lobby
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
	// Hosts on different machines that each token names, so that its player joins the nearest: up to
	// MaxHosts; 0 means 1.
	Hosts int `json:"hosts,omitempty"`
}

// MaxHosts is the most hosts of an Ask.
const MaxHosts = protocol.MaxLobbyRefs

// Answer is where the players of an Ask go.
type Answer struct {
	Version    int      `json:"version"`
	RequestID  string   `json:"request_id"`
	Host       string   `json:"host"`
	Lobby      string   `json:"lobby,omitempty"` // "": the host chooses
	Servers    []string `json:"servers"`         // to dial, of all hosts
	Hosts      []Place  `json:"hosts"`           // that have places for the players; the first is Host
	ProtocolID string   `json:"protocol_id"`     // decimal
	Expires    int64    `json:"expires"`         // of tokens and places, Unix s
	Tokens     []Token  `json:"tokens"`          // one a player
}

// Place is a host that has places for the players of an Ask.
type Place struct {
	Host    string   `json:"host"`
	Lobby   string   `json:"lobby,omitempty"` // "": the host chooses
	Servers []string `json:"servers"`
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
	ErrChanged = errors.New("request_id: used before, with other players, map, mode or hosts")
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
	if a.Hosts < 0 || a.Hosts > MaxHosts {
		return fmt.Errorf("%w: hosts %d: expected 1 to %d, or 0 for 1", ErrAsk, a.Hosts, MaxHosts)
	}
	return errors.Join(word("request_id", a.RequestID), word("map", a.Map), word("mode", a.Mode))
}

// Match finds a place for the players of a request, and reserves it. The same request has the same
// answer from all directors for as long as its tokens are good. Any goroutine may call it.
func (d *Director) Match(ctx context.Context, ask Ask) (Answer, error) {
	if err := ask.check(); err != nil {
		return Answer{}, err
	}
	if ask.Hosts == 1 {
		ask.Hosts = 0 // the same request
	}
	sum := sha256.Sum256([]byte(ask.RequestID))
	key := hex.EncodeToString(sum[:16])
	old, revision, err := d.store.placementOf(ctx, key)
	switch {
	case err != nil:
		return Answer{}, err
	case old.RequestID != "" && old.Ask != ask:
		return Answer{}, ErrChanged
	case old.RequestID != "" && old.Pending == 0:
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
	if _, err := d.store.write(ctx, d.store.requests, key, &p, revision); err == nil {
		return d.answer(&p)
	} else if !errors.Is(err, errConflict) {
		return Answer{}, err
	}
	first, _, err := d.store.placementOf(ctx, key)
	switch {
	case err != nil:
		return Answer{}, err
	case first.RequestID == "" || first.Pending != 0:
		return Answer{}, NoRoom("another director is at this request: ask again")
	case first.Ask != p.Ask:
		return Answer{}, ErrChanged
	}
	return d.answer(&first)
}

// answer mints the tokens of a placement, the same each time.
func (d *Director) answer(p *placement) (a Answer, err error) {
	expire := p.Created + int64(d.cfg.TokenLifetime/time.Second)
	a = Answer{Version: httpapi.Version, RequestID: p.RequestID, Host: p.Host,
		ProtocolID: strconv.FormatUint(d.cfg.ProtocolID, 10), Expires: expire}
	m := netcode.Mint{ProtocolID: d.cfg.ProtocolID, Create: uint64(p.Created), Expire: uint64(expire),
		TimeoutSeconds: httpapi.TimeoutSeconds(d.cfg.SessionTimeout)}
	var lobbies []protocol.LobbyRef
	for _, at := range append([]reserved{p.reserved}, p.Others...) {
		one := Place{Host: at.Host, Servers: at.Addresses}
		if at.Instance != 0 {
			one.Lobby = strconv.FormatUint(uint64(at.Lobby), 10)
			lobbies = append(lobbies, protocol.LobbyRef{Host: at.Instance, Lobby: at.Lobby})
		}
		servers, err := announce.ParseAddresses(at.Addresses)
		if err != nil {
			return a, fmt.Errorf("host %s: %w", at.Host, err)
		}
		m.Servers = append(m.Servers, servers...)
		a.Servers, a.Hosts = append(a.Servers, at.Addresses...), append(a.Hosts, one)
	}
	if lobbies != nil {
		protocol.MarkLobbies(m.UserData[:], lobbies)
		a.Lobby = a.Hosts[0].Lobby
	}
	a.Tokens, err = d.mint(&m, p)
	return a, err
}

// mint makes a token for each player of a placement.
func (d *Director) mint(m *netcode.Mint, p *placement) (all []Token, err error) {
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
			return nil, err
		}
		all = append(all, Token{strconv.FormatUint(m.ClientID, 10), raw})
	}
	return all, nil
}
