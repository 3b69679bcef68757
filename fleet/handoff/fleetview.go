package handoff

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
)

// lease is how long an announcement counts.
const lease = 3500 * time.Millisecond

// maxHosts is the most hosts that a fleetView keeps.
const maxHosts = 10_000

// mostBusy is the share of a processor from which a host is given no lobby.
const mostBusy = 0.75

// fleetView is what the other hosts have announced. Any goroutine may use it.
type fleetView struct {
	mu    sync.Mutex // guards hosts
	hosts map[string]*seenHost
}

// seenHost is the newest announcement of a host.
type seenHost struct {
	announce.Host
	until time.Time
}

// take takes an announcement, which was checked.
func (v *fleetView) take(h *announce.Host, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hosts == nil {
		v.hosts = map[string]*seenHost{}
	}
	old := v.hosts[h.Name]
	if old == nil && len(v.hosts) >= maxHosts ||
		old != nil && cmp.Or(cmp.Compare(h.Boot, old.Boot), cmp.Compare(h.Sequence, old.Sequence)) <= 0 {
		return
	}
	v.hosts[h.Name] = &seenHost{*h, now.Add(lease)}
}

// choose returns the hosts that have room for a lobby of that many slots, the one with the most players
// first. not is this host.
func (v *fleetView) choose(not string, slots int, now time.Time) (names []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	players := map[string]int{}
	for name, h := range v.hosts {
		if !now.Before(h.until) {
			delete(v.hosts, name)
			continue
		}
		if name == not || h.Draining || h.Busy >= mostBusy || len(h.Rooms) >= h.MostRooms || h.MostSlots < slots {
			continue
		}
		for i := range h.Rooms {
			players[name] += h.Rooms[i].Players
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(players[b], players[a]), cmp.Compare(a, b))
	})
	return names
}
