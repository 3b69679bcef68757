package director

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/netio/netcode"
)

// place reserves places for a request on as many hosts as it asks for, of different machines. The
// first must have place; the others are left out if they have none.
func (d *Director) place(ctx context.Context, ask Ask) (p placement, err error) {
	p.Ask = ask
	var but apart
	for n := range max(1, ask.Hosts) {
		if n == 1 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, othersWithin)
			defer cancel()
		}
		at, machine, err := d.placeOne(ctx, ask, &but)
		switch {
		case err != nil && n == 0:
			return p, err
		case err != nil:
			return p, nil
		case n == 0:
			p.reserved = at
		default:
			p.Others = append(p.Others, at)
		}
		but.machines, but.addresses = append(but.machines, machine...), but.addresses+len(at.Addresses)
	}
	return p, nil
}

// apart is what the next host of a request must not share with those before it.
type apart struct {
	machines  []netip.Addr
	addresses int // that the token names already
}

// fits reports whether a host may be the next one.
func (a *apart) fits(e *hostEntry) bool {
	if a.addresses == 0 {
		return true
	}
	if a.addresses+len(e.Addresses) > netcode.MaxServers {
		return false
	}
	return !slices.ContainsFunc(e.machines, func(at netip.Addr) bool { return slices.Contains(a.machines, at) })
}

// placeOne reserves a place in a room, which a host makes if there is none. Only lobbies that are
// made for this request count against its limit, not those that it waited for.
func (d *Director) placeOne(ctx context.Context, ask Ask, but *apart) (at reserved, machine []netip.Addr,
	err error) {
	for asked := 0; asked < makers; {
		at, machine, err = d.reserve(ctx, ask, but)
		if !errors.Is(err, errNoRoom) {
			return at, machine, err
		}
		made := false
		if at, machine, made, err = d.makeLobby(ctx, ask, but, asked); made {
			asked++
		}
		if err == nil && made || err != nil && !errors.Is(err, errNoRoom) {
			return at, machine, err
		}
	}
	return at, nil, NoRoom("the lobbies that hosts made were full at once: ask again")
}

// errNoRoom says that a host must make a lobby.
var errNoRoom = errors.New("no room has place")

// reserve takes places in the fullest room.
func (d *Director) reserve(ctx context.Context, ask Ask, but *apart) (at reserved, machine []netip.Addr,
	err error) {
	d.placing.Lock()
	defer d.placing.Unlock()
	return d.take(ctx, ask, but)
}

// take is reserve for a caller that holds d.placing. Its write fails if another director was faster.
func (d *Director) take(ctx context.Context, ask Ask, but *apart) (at reserved, machine []netip.Addr,
	err error) {
	for range maxTries {
		r, of, held := d.choose(ask, but)
		if r == nil {
			return at, nil, errNoRoom
		}
		at = reserved{Host: r.host.Name, Instance: r.key.instance, Lobby: r.ID, Addresses: r.host.Addresses}
		if held {
			return at, r.host.machines, nil
		}
		of.revision, err = d.store.write(ctx, d.store.rooms, r.key.text(), of.list, of.revision)
		if errors.Is(err, errConflict) {
			d.conflicts.Inc()
			if of, err = d.store.holdsOf(ctx, r.key); err == nil {
				d.hold(r.key, of)
				continue
			}
		}
		if err != nil {
			return at, nil, fmt.Errorf("reserve in lobby %d of host %s: %w", r.ID, r.host.Name, err)
		}
		d.hold(r.key, of)
		return at, r.host.machines, nil
	}
	return at, nil, NoRoom("other directors were faster: ask again")
}

// choose returns a copy of the room for a request, and its reservations with one for the request. held
// is true if it has one already, by a director that died before it could say so.
func (d *Director) choose(ask Ask, but *apart) (r *room, of holds, held bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.cfg.Now()
	for _, key := range d.index.held[ask.RequestID] {
		if r = d.index.rooms[key]; r != nil && r.Map == ask.Map && r.Mode == ask.Mode && !r.host.Draining &&
			but.fits(r.host) {
			return r.copy(), of, true
		}
	}
	if r = d.index.find(place{ask.Map, ask.Mode}, ask.Players, but); r == nil {
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

// makeLobby asks hosts for a lobby, and reserves in it before those that wait. Requests for the same
// map and mode wait for one lobby together: made is false for those that waited, without a place yet.
// asked lobbies were made for this request: a host makes another one only for another name.
func (d *Director) makeLobby(ctx context.Context, ask Ask, but *apart, asked int) (at reserved,
	machine []netip.Addr, made bool, err error) {
	p := place{ask.Map, ask.Mode}
	d.mu.Lock()
	if other := d.making[p]; other != nil {
		d.mu.Unlock()
		select {
		case <-other:
			return at, nil, false, nil
		case <-ctx.Done():
			return at, nil, false, ctx.Err()
		}
	}
	hosts := d.index.makers(ask.Players, makers, but)
	why := d.whyNone(ask)
	name := ask.RequestID
	if asked > 0 {
		name = fmt.Sprintf("%s#%d", name, asked)
	}
	asks := make([]announce.Make, len(hosts))
	for i, h := range hosts {
		asks[i] = announce.Make{Host: h.Name, Request: name, Boot: h.Boot, Sequence: h.Sequence,
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
			d.placing.Lock()
			defer d.placing.Unlock()
			d.mu.Lock()
			d.index.add(hosts[i], answer.Room, answer.Sequence)
			d.mu.Unlock()
			at, machine, err = d.take(ctx, ask, but)
			return at, machine, true, err
		}
		why = NoRoom(err.Error())
	}
	return at, nil, false, why
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
