// Package announce is what the hosts of a fleet tell its directors, and what directors ask of hosts.
//
// A host's figures go in; sealed messages over NATS come out, once a second and when lobbies come or
// go. Requests for a lobby go in; the host's answer comes out. Directors and command serve use it.
package announce

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

// Subjects of NATS. The host's name ends each.
const (
	subjectHosts = "tickrate.fleet.host."
	subjectMake  = "tickrate.fleet.make."
	// SubjectAll is that of all announcements.
	SubjectAll = subjectHosts + "*"
)

const (
	// Every is the time between two announcements of a host.
	Every = time.Second
	// MaxRooms is the most lobbies of an announcement.
	MaxRooms = 1000
	// MaxSize is the longest message, in bytes.
	MaxSize = 256 << 10

	maxName   = 64
	maxText   = 255
	maxPlaces = 65536   // players of a lobby
	maxTick   = 10e6    // µs
	maxClock  = 60_000  // ms
	maxCores  = 1 << 12 // workers

	maxArrivals = 1 << 20 // a minute
)

// Room is one lobby of a Host.
type Room struct {
	ID      uint32 `json:"id"`
	Map     string `json:"map"`
	Mode    string `json:"mode"`
	Players int    `json:"players"` // with a session
	Slots   int    `json:"slots"`   // most players
	Open    bool   `json:"open"`    // another player may join
}

// Host is an announcement.
type Host struct {
	Name      string   `json:"name"`
	Boot      int64    `json:"boot"`     // start of the process, Unix ns: the larger one is the newer
	Sequence  uint64   `json:"sequence"` // grows by one per announcement of a process
	SentUnix  int64    `json:"sent"`     // Unix ms
	Instance  uint32   `json:"instance"` // protocol.LobbyRef.Host
	Addresses []string `json:"addresses"`
	MostRooms int      `json:"most_rooms"`
	MostSlots int      `json:"most_slots"` // of a lobby on demand
	Draining  bool     `json:"draining"`   // takes no more players
	Workers   int      `json:"workers"`
	Busy      float64  `json:"busy"`                      // share of its processor that the busiest worker took, 0 to 1
	TickUS    float64  `json:"tick_us"`                   // that hardly a tick takes longer than, µs, about the p99
	Arrivals  *int     `json:"arrivals_minute,omitempty"` // players that joined in the last minute; nil: not said
	Rooms     []Room   `json:"rooms"`
}

// Make asks a host for a lobby. The same Request gives the same lobby again while it plays.
type Make struct {
	Host     string `json:"host"`
	Request  string `json:"request"`
	Boot     int64  `json:"boot"`
	Sequence uint64 `json:"sequence"` // of a recent announcement of the host: a replay is too old
	Map      string `json:"map"`
	Mode     string `json:"mode"`
	Players  int    `json:"players"`
}

// Made is the answer of a host to a Make.
type Made struct {
	Request  string `json:"request"`
	Error    string `json:"error,omitempty"` // why there is no lobby
	Sequence uint64 `json:"sequence"`        // newer announcements list the lobby
	Room     Room   `json:"room"`
}

// Reasons to refuse a message.
var (
	ErrSize     = errors.New("longer than a message of the fleet")
	ErrForeign  = errors.New("not a message of this fleet")
	ErrKey      = errors.New("sealed with another fleet key")
	ErrSubject  = errors.New("sent under the name of another host")
	ErrReplayed = errors.New("not newer than the last one of its host")
	ErrClock    = errors.New("clock of the sender more than a minute off: its tokens would not work")
	ErrFigures  = errors.New("impossible figures")
	ErrHosts    = errors.New("more hosts than a director takes")
)

// ValidName reports whether a host may have a name: letters, digits, - and _.
func ValidName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Trim(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// Check returns an ErrFigures that names the figure that cannot be true, and an ErrClock.
func (h *Host) Check(now time.Time) error {
	lie := func(what string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrFigures, fmt.Sprintf(what, args...))
	}
	switch off := now.UnixMilli() - h.SentUnix; {
	case off > maxClock || off < -maxClock:
		return ErrClock
	case !ValidName(h.Name):
		return lie("name %.80q", h.Name)
	case h.Boot <= 0 || h.Sequence == 0 || h.Instance == 0:
		return lie("boot %d, sequence %d, instance %d", h.Boot, h.Sequence, h.Instance)
	case h.MostRooms < 1 || h.MostRooms > MaxRooms || len(h.Rooms) > h.MostRooms:
		return lie("%d rooms of at most %d", len(h.Rooms), h.MostRooms)
	case h.MostSlots < 1 || h.MostSlots > maxPlaces:
		return lie("lobbies of %d", h.MostSlots)
	case h.Workers < 1 || h.Workers > maxCores:
		return lie("%d workers", h.Workers)
	case !(h.Busy >= 0 && h.Busy <= 1.05): // a second is measured by two clocks
		return lie("busy %v", h.Busy)
	case !(h.TickUS >= 0 && h.TickUS <= maxTick):
		return lie("ticks of %v µs", h.TickUS)
	case h.Arrivals != nil && (*h.Arrivals < 0 || *h.Arrivals > maxArrivals):
		return lie("%d arrivals a minute", *h.Arrivals)
	case h.TickUS > 0 && len(h.Rooms) == 0:
		return lie("ticks of %v µs without a room", h.TickUS)
	}
	if _, err := ParseAddresses(h.Addresses); err != nil {
		return lie("%v", err)
	}
	seen := make(map[uint32]bool, len(h.Rooms))
	for i := range h.Rooms {
		r := &h.Rooms[i]
		if seen[r.ID] || r.Players < 0 || r.Slots < 1 || r.Slots > maxPlaces || r.Players > r.Slots ||
			len(r.Map) > maxText || len(r.Mode) > maxText {
			return lie("room %d: %d players of %d, or its second entry", r.ID, r.Players, r.Slots)
		}
		seen[r.ID] = true
	}
	return nil
}

// ParseAddresses reads the addresses of a host.
func ParseAddresses(list []string) (all []netip.AddrPort, err error) {
	if len(list) < 1 || len(list) > netcode.MaxServers {
		return nil, fmt.Errorf("%d addresses: expected 1 to %d", len(list), netcode.MaxServers)
	}
	for _, text := range list {
		at, err := netip.ParseAddrPort(text)
		if err != nil || at.Port() == 0 || at.Addr().IsUnspecified() {
			return nil, fmt.Errorf("address %.80q: expected IP:port as players dial it", text)
		}
		all = append(all, at)
	}
	return all, nil
}
