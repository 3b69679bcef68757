package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim"
)

// Offer describes a lobby that is to go on at another host: how to make it there, and who plays.
type Offer struct {
	Spec  httpapi.LobbySpec `json:"spec"`
	Seed  uint64            `json:"seed"` // of the match
	Seats []server.Seat     `json:"seats"`
}

// ErrUnsettled: a lobby cannot be saved while a player comes or goes. It can a tick later.
var ErrUnsettled = errors.New("a player comes or goes: try again after a tick")

// lobbyNow runs f on a lobby, between two ticks of it. Errors are httpapi.ErrNoLobby,
// httpapi.ErrBusy, httpapi.ErrEnded, and that of a host that was started for one lobby only.
func (h *Host) lobbyNow(ctx context.Context, id uint32, f func(w *worker, now time.Duration, x *hosted)) error {
	if h.alone() {
		return errAlone
	}
	x := h.find(id)
	if x == nil {
		return httpapi.ErrNoLobby
	}
	return h.on(ctx, x, func(w *worker, now time.Duration) {
		w.loop.brisk = now + briskFor
		f(w, now, x)
	})
}

// Offer describes a lobby for AwaitLobby of another host. Any goroutine may call it.
func (h *Host) Offer(ctx context.Context, id uint32) (o Offer, err error) {
	err = h.lobbyNow(ctx, id, func(_ *worker, _ time.Duration, x *hosted) {
		c := x.lobby.Config()
		o = Offer{Seed: c.Rules.Seed, Seats: x.lobby.Seats(), Spec: httpapi.LobbySpec{Name: c.Name,
			Map: c.ArenaName, Mode: modeName(c), Content: contentHash(c), Players: c.Players - c.Spectators,
			RateHz: int(c.Rules.Rate), SendInterval: c.SendInterval, Codec: c.Codec.String(),
			Kbps: c.Kbps, ViewDistance: c.ViewDistance}}
	})
	return o, err
}

// AwaitLobby makes a lobby that waits for the state of the one that was offered, and returns its
// ID. Errors are those of CreateLobby.
func (h *Host) AwaitLobby(ctx context.Context, o *Offer) (id uint32, err error) {
	return h.createLobby(ctx, o.Spec, o)
}

// Instance names the process in connect tokens, see protocol.LobbyRef.
func (h *Host) Instance() uint32 { return h.making.host() }

// Addresses returns the UDP addresses that tokens for this host have.
func (h *Host) Addresses() []netip.AddrPort { return slices.Clone(h.sessions.Addresses) }

// TellMove sends each client of a lobby a token for the lobby that another host has made for it,
// and returns how many clients were told. A token has the client id and the role of its client.
func (h *Host) TellMove(ctx context.Context, id uint32, to []netip.AddrPort, ref protocol.LobbyRef) (told int,
	err error) {
	mint := netcode.Mint{ProtocolID: h.sessions.ProtocolID, Create: uint64(time.Now().Unix()),
		TimeoutSeconds: int32(httpapi.DefaultSessionTimeout / time.Second), Servers: to}
	if mint.ProtocolID == 0 {
		mint.ProtocolID = protocol.ProtocolID
	}
	// Hosts take a token as issued one lifetime before it expires.
	mint.Expire = mint.Create + uint64(cmp.Or(h.sessions.TokenLifetime, httpapi.DefaultTokenLifetime)/time.Second)
	bad := h.lobbyNow(ctx, id, func(_ *worker, _ time.Duration, x *hosted) {
		for _, s := range x.lobby.Seats() {
			if !s.Connected {
				continue
			}
			mint.ClientID, mint.UserData = s.User, [netcode.UserDataSize]byte{}
			if s.Spectator {
				protocol.MarkSpectator(mint.UserData[:])
			}
			ref.Mark(mint.UserData[:])
			token, bad := mint.Append(nil, &h.sessions.PrivateKey, rand.Reader)
			if bad != nil {
				err = fmt.Errorf("token for player %d: %w", s.User, bad)
				return
			}
			if x.lobby.TellMove(s.Slot, token) {
				told++
			}
		}
	})
	return told, errors.Join(err, bad)
}

// Awaited returns how many of the clients of an awaited lobby have connected and said Ready.
func (h *Host) Awaited(ctx context.Context, id uint32) (ready int, err error) {
	err = h.lobbyNow(ctx, id, func(_ *worker, _ time.Duration, x *hosted) { ready = x.lobby.Awaited() })
	return ready, err
}

// Freeze makes a lobby stand still, and returns its state: nothing is sent to its clients until
// Thaw. With ErrUnsettled nothing has changed.
func (h *Host) Freeze(ctx context.Context, id uint32) (state []byte, err error) {
	bad := h.lobbyNow(ctx, id, func(_ *worker, _ time.Duration, x *hosted) {
		state, err = x.lobby.Save(nil)
		if errors.Is(err, sim.ErrPending) {
			err = ErrUnsettled
		}
		x.pace.frozen = err == nil
		x.moving.Store(err == nil)
	})
	return state, errors.Join(err, bad)
}

// ReadLobby gives a lobby that waits for its state the bytes of Freeze of another host. The lobby
// then plays no tick until Thaw. An error says what does not fit, and the lobby goes on waiting.
func (h *Host) ReadLobby(ctx context.Context, id uint32, state []byte) (err error) {
	x := h.find(id)
	if x == nil {
		return httpapi.ErrNoLobby
	}
	s, err := x.lobby.ReadState(state)
	if err != nil {
		return err
	}
	bad := h.lobbyNow(ctx, id, func(_ *worker, now time.Duration, x *hosted) {
		if err = x.lobby.Resume(now, s); err == nil {
			x.pace.frozen = true
		}
	})
	return errors.Join(err, bad)
}

// Thaw ends the standstill of a lobby after Freeze or ReadLobby: it plays on.
func (h *Host) Thaw(ctx context.Context, id uint32) error {
	return h.lobbyNow(ctx, id, func(w *worker, now time.Duration, x *hosted) {
		if !x.pace.frozen {
			return
		}
		x.pace.frozen = false
		x.moving.Store(false)
		w.loop.setSoonest(x, now)
		if i := slices.Index(w.loop.lobbies, x); i >= 0 {
			w.loop.due[i] = x.pace.ticks.Due()
		}
		x.publishStatus()
	})
}
