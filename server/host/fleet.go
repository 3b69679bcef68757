package host

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tickrate/tickrate/server/overload"
)

// Load is how busy a host is and which lobbies it has, as of the last second.
type Load struct {
	Instance  uint32           // names the process, see protocol.LobbyRef
	Addresses []netip.AddrPort // as tokens name the host
	Most      int              // lobbies that it may have
	Slots     int              // players of a lobby on demand, at most
	Workers   int              // threads that play lobbies
	Busy      float64          // share of its processor that the busiest of them took, 0 to 1
	Tick      time.Duration    // that hardly a tick of any lobby takes longer than: mean and 3 deviations
	Arrivals  int              // players that joined in the last minute
	Draining  bool             // takes no more players
	Lobbies   []LobbyLoad      // by ID
}

// LobbyLoad is one lobby of a Load.
type LobbyLoad struct {
	ID             uint32
	Map, Mode      string
	Players, Slots int
	Open           bool // another player may join
}

// ClientIDs returns the client ids of all sessions as of the last second, in order. Any goroutine may
// call it.
func (h *Host) ClientIDs() (all []uint64) {
	for _, x := range *h.list.Load() {
		if people := x.people.Load(); people != nil {
			all = append(all, *people...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all) // one may have changed lobbies between their seconds
}

// Load returns the figures that a fleet needs of a host of several lobbies. Any goroutine may call it.
func (h *Host) Load() Load {
	list := *h.list.Load()
	l := Load{Instance: h.making.host(), Addresses: h.sessions.Addresses, Most: max(1, h.cfg.Lobbies.most()),
		Slots: orDefault(h.cfg.Lobby.Players, defaultPlayers), Workers: len(h.workers), Draining: h.Draining(),
		Arrivals: h.arrivals.lastMinute(h.since()),
		Lobbies:  make([]LobbyLoad, len(list))}
	for _, w := range h.workers {
		l.Busy = max(l.Busy, min(1, w.busyShare()))
	}
	for i, x := range list {
		status, census := x.status.Load(), x.lobby.Summary().Census
		l.Tick = max(l.Tick, time.Duration(x.tick.Load()))
		l.Lobbies[i] = LobbyLoad{ID: x.id(), Map: status.Map, Mode: status.Mode, Players: census.Players,
			Slots: x.slots, Open: !x.over() && !x.moving.Load() && x.schedule.Level() < overload.NoNewPlayers &&
				(census.AcceptsNewcomer || census.PlayerSlots == 0)} // no figures before its first second
	}
	return l
}
