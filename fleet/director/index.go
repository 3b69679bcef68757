package director

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
)

// place is what players look for.
type place struct{ mapName, mode string }

// roomKey names a room of the fleet. No two processes have the same instance but by a chance of
// 2^-32 for a pair.
type roomKey struct{ instance, room uint32 }

// room is a lobby as the index knows it.
type room struct {
	announce.Room
	key  roomKey
	host *hostEntry
	// Made by a Make, until an announcement after this one says more; 0: announced.
	provisional uint64
}

// hostEntry is a host as the index knows it.
type hostEntry struct {
	announce.Host // but for Rooms
	rooms         []*room
	until         time.Time    // end of its lease
	committed     int          // players in its rooms and on their way
	listed        []place      // where ranks have it
	machines      []netip.Addr // of its addresses
}

// rank is a host in the order of a place: the fullest first. Ranks are small, since a search reads
// many of them.
type rank struct {
	committed, free int32 // free: of its emptiest room there, or lobbies that it may still make
	host            *hostEntry
}

// anywhere is the place of hosts that may make another lobby.
var anywhere = place{"*", "*"}

// limits are the service level that a host must hold to be given players.
type limits struct {
	busy   float64
	tickUS float64
}

// index finds rooms. An announcement costs the host's own rooms and a shift in each of its lists; a
// search costs the ranks of hosts that are fuller than the one it finds. It knows no clock.
type index struct {
	limits
	hosts map[string]*hostEntry
	rooms map[roomKey]*room
	ranks map[place][]rank
	holds map[roomKey]holds    // of rooms that are announced or not
	held  map[string][]roomKey // by request
}

func newIndex(l limits) *index {
	return &index{limits: l, hosts: map[string]*hostEntry{}, rooms: map[roomKey]*room{},
		ranks: map[place][]rank{}, holds: map[roomKey]holds{}, held: map[string][]roomKey{}}
}

// committed is how many of a room's slots are taken or promised.
func (x *index) committed(r *room) int {
	return max(r.Players, x.holds[r.key].mark())
}

// free is how many players a room still takes.
func (x *index) free(r *room) int {
	if !r.Open {
		return 0
	}
	return max(0, r.Slots-x.committed(r))
}

// holdsLevel reports whether a host may be given players.
func (x *index) holdsLevel(h *hostEntry) bool {
	return !h.Draining && h.Busy < x.busy && h.TickUS < x.tickUS
}

// announce takes an announcement, which was checked.
func (x *index) announce(h *announce.Host, until time.Time) {
	e := x.hosts[h.Name]
	if e == nil {
		e = &hostEntry{}
		x.hosts[h.Name] = e
	}
	x.unlist(e)
	var kept []*room
	for _, r := range e.rooms {
		delete(x.rooms, r.key)
		if r.provisional >= h.Sequence && e.Boot == h.Boot {
			kept = append(kept, r)
		}
	}
	e.Host, e.until, e.rooms, e.machines = *h, until, kept, machinesOf(h.Addresses)
	e.Rooms = nil
	for i := range h.Rooms {
		e.rooms = append(e.rooms, &room{Room: h.Rooms[i], key: roomKey{h.Instance, h.Rooms[i].ID}, host: e})
	}
	for _, r := range e.rooms {
		x.rooms[r.key] = r
	}
	x.list(e)
}

// machinesOf returns the IPs of addresses, each once.
func machinesOf(addresses []string) (all []netip.Addr) {
	for _, text := range addresses {
		if at, err := netip.ParseAddrPort(text); err == nil && !slices.Contains(all, at.Addr()) {
			all = append(all, at.Addr())
		}
	}
	return all
}

// add adds a room that a host has just made.
func (x *index) add(e *hostEntry, r announce.Room, sequence uint64) {
	key := roomKey{e.Instance, r.ID}
	if x.hosts[e.Name] != e || x.rooms[key] != nil {
		return
	}
	x.unlist(e)
	made := &room{Room: r, key: key, host: e, provisional: sequence}
	e.rooms, x.rooms[key] = append(e.rooms, made), made
	x.list(e)
}

// hold takes the reservations of a room, which may not be announced yet.
func (x *index) hold(key roomKey, of holds) {
	r := x.rooms[key]
	if r != nil {
		x.unlist(r.host)
	}
	for _, old := range x.holds[key].list {
		if keys := slices.DeleteFunc(x.held[old.Request], func(k roomKey) bool { return k == key }); len(keys) > 0 {
			x.held[old.Request] = keys
		} else {
			delete(x.held, old.Request)
		}
	}
	for _, now := range of.list {
		x.held[now.Request] = append(x.held[now.Request], key)
	}
	if len(of.list) == 0 && of.revision == 0 {
		delete(x.holds, key)
	} else {
		x.holds[key] = of
	}
	if r != nil {
		x.list(r.host)
	}
}

// expire forgets hosts that are silent, and reservations that nobody came for. Holds of revision
// are kept: they say which write is the next.
func (x *index) expire(now time.Time) (gone []*hostEntry) {
	for name, e := range x.hosts {
		if !now.Before(e.until) {
			x.unlist(e)
			for _, r := range e.rooms {
				delete(x.rooms, r.key)
			}
			delete(x.hosts, name)
			gone = append(gone, e)
		}
	}
	for key, of := range x.holds {
		if live := of.live(now); len(live.list) != len(of.list) {
			x.hold(key, live)
		} else if len(of.list) == 0 && x.rooms[key] == nil {
			delete(x.holds, key)
		}
	}
	return gone
}

// compareRanks orders the fullest host first, then by name.
func compareRanks(a, b rank) int {
	if a.committed != b.committed {
		return cmp.Compare(b.committed, a.committed)
	}
	return strings.Compare(a.host.Name, b.host.Name)
}

// unlist takes a host out of all ranks.
func (x *index) unlist(e *hostEntry) {
	for _, p := range e.listed {
		ranks := x.ranks[p]
		at, found := slices.BinarySearchFunc(ranks, rank{int32(e.committed), 0, e}, compareRanks)
		if found {
			ranks = slices.Delete(ranks, at, at+1)
		}
		if len(ranks) == 0 {
			delete(x.ranks, p)
		} else {
			x.ranks[p] = ranks
		}
	}
	e.listed = e.listed[:0]
}

// list puts a host into the ranks of all places where it has room.
func (x *index) list(e *hostEntry) {
	e.committed = 0
	for _, r := range e.rooms {
		e.committed += x.committed(r)
	}
	if !x.holdsLevel(e) {
		return
	}
	for _, r := range e.rooms {
		x.enter(e, place{r.Map, r.Mode}, x.free(r))
	}
	x.enter(e, anywhere, e.MostRooms-len(e.rooms))
}

// enter raises what a host has free at a place.
func (x *index) enter(e *hostEntry, p place, free int) {
	if free <= 0 {
		return
	}
	in := rank{int32(e.committed), int32(free), e}
	ranks := x.ranks[p]
	at, found := slices.BinarySearchFunc(ranks, in, compareRanks)
	if found {
		ranks[at].free = max(ranks[at].free, in.free)
		return
	}
	x.ranks[p] = slices.Insert(ranks, at, in)
	e.listed = append(e.listed, p)
}

// find returns the fullest room of the fullest host apart from others that takes a party, nil if there
// is none.
func (x *index) find(p place, party int, but *apart) *room {
	for _, in := range x.ranks[p] {
		if int(in.free) >= party && but.fits(in.host) {
			return x.fullest(in.host, p, party)
		}
	}
	return nil
}

// fullest returns the room of a host with the least left that takes a party; of several the oldest.
func (x *index) fullest(e *hostEntry, p place, party int) (best *room) {
	least := 0
	for _, r := range e.rooms {
		if r.Map != p.mapName || r.Mode != p.mode {
			continue
		}
		free := x.free(r)
		if free >= party && (best == nil || free < least || free == least && r.ID < best.ID) {
			best, least = r, free
		}
	}
	return best
}

// makers returns hosts apart from others that may make another lobby for a party, the fullest first, at
// most n.
func (x *index) makers(party, n int, but *apart) (all []*hostEntry) {
	for _, in := range x.ranks[anywhere] {
		if in.host.MostSlots >= party && len(all) < n && but.fits(in.host) {
			all = append(all, in.host)
		}
	}
	return all
}
