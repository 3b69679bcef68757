package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
)

// LobbiesConfig describes how many lobbies a host has. The zero value is one lobby alone, whose end
// is that of the host.
type LobbiesConfig struct {
	Ahead int // made before the host is ready, of Config.Lobby
	Most  int // at a time; default Ahead. Those beyond Ahead are made on demand

	// Threads that play lobbies, each with a socket of its own and each lobby on one of them, 1 to
	// MaxLobbyWorkers; default 1. Several need Linux.
	Workers int
}

// MaxLobbyWorkers is the most threads that play lobbies.
const MaxLobbyWorkers = server.MaxWorkers

// MaxLobbies is the most lobbies of a host.
const MaxLobbies = 1000

// most is the number of lobbies that a shared port is for; 0: one lobby alone.
func (c LobbiesConfig) most() int { return max(c.Ahead, c.Most) }

func (c LobbiesConfig) check() error {
	if c.Ahead < 0 || c.most() > MaxLobbies {
		return fmt.Errorf("%d lobbies ahead, %d at most: expected 0 to %d", c.Ahead, c.Most, MaxLobbies)
	}
	if c.Workers < 0 || c.Workers > MaxLobbyWorkers {
		return fmt.Errorf("%d workers of lobbies: expected 1 to %d", c.Workers, MaxLobbyWorkers)
	}
	if c.Workers > 1 && c.most() == 0 {
		return fmt.Errorf("%d workers of lobbies: expected 1 for a lobby alone", c.Workers)
	}
	return nil
}

// errAlone is the answer of a host that was not started for several lobbies.
var errAlone = errors.New("this server has one lobby alone: start it with --lobbies")

// making counts lobbies from the request on. Any goroutine may use it.
type making struct {
	mu       sync.Mutex // guards the fields below
	next     uint32     // ID of the next lobby; no two lobbies have had the same
	reserved int        // lobbies made or being made
	instance uint32     // of protocol.LobbyRef
}

// host names this process in connect tokens.
func (m *making) host() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.instance == 0 {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails: it ends the program
		m.instance = binary.LittleEndian.Uint32(b[:])
	}
	return m.instance
}

// reserve takes the ID of a new lobby. It fails if there are most of them.
func (m *making) reserve(most int) (id uint32, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved >= max(1, most) {
		return 0, httpapi.ErrMostLobbies
	}
	id = m.next
	m.next++
	m.reserved++
	return id, nil
}

// cancel gives back the room of a lobby that was not made, and its ID unless a later one is taken.
func (m *making) cancel(id uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved--
	if m.next == id+1 {
		m.next = id
	}
}

// count returns how many lobbies there are, those in the making included.
func (m *making) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reserved
}

// release gives back the room of a lobby that has ended.
func (m *making) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved--
}

// makeAhead makes the lobbies that the host begins with.
func (h *Host) makeAhead() (err error) {
	base := h.cfg.Lobby
	if base, h.pvs, err = server.PVSFor(base, cachedPVS(h.cfg.Files.PVSCache)); err != nil {
		return err
	}
	first := loadedMap{loaded: server.LoadedMap{Arena: base.Arena, Name: base.ArenaName,
		Game: base.Rules.Game, PVS: base.PVS}}
	spec := server.MapSpec{Map: base.ArenaName, Mode: modeName(&base)}
	for range max(1, h.cfg.Lobbies.Ahead) {
		c, shared := base, (*sharedMap)(nil)
		if c.Arena != nil { // else NewLobby says that there is none
			if shared, err = h.maps.load(spec, func() loadedMap { return first }); err != nil {
				return err
			}
			c = c.WithMap(&shared.loaded)
			c.CellVisible = base.CellVisible
		}
		if c.ID, err = h.making.reserve(h.cfg.Lobbies.most()); err != nil {
			return err
		}
		c.Rules.Seed += uint64(c.ID)
		w := h.leastBusy()
		x, err := h.newHosted(w, c)
		if err != nil {
			return err
		}
		x.shared = shared
		if w.port != nil {
			w.port.Add(x.lobby)
		}
		w.loop.lobbies = append(w.loop.lobbies, x)
		h.publishList(func(list []*hosted) []*hosted { return append(list, x) })
	}
	return nil
}

// publishList changes the list of lobbies that other goroutines read. Workers may call it at the same
// time.
func (h *Host) publishList(change func(list []*hosted) []*hosted) {
	for {
		old := h.list.Load()
		list := change(slices.Clone(*old))
		slices.SortFunc(list, func(a, b *hosted) int { return cmp.Compare(a.id(), b.id()) })
		if h.list.CompareAndSwap(old, &list) {
			return
		}
	}
}

// find returns a lobby by its ID, nil if there is none. Any goroutine may call it.
func (h *Host) find(id uint32) *hosted {
	for _, x := range *h.list.Load() {
		if x.id() == id {
			return x
		}
	}
	return nil
}

// CreateLobby makes a lobby while the others play, and returns its ID. Any goroutine but those that
// play may call it. A panic in what makes the lobby is an httpapi.ErrFault.
func (h *Host) CreateLobby(ctx context.Context, spec httpapi.LobbySpec) (id uint32, err error) {
	return h.createLobby(ctx, spec, nil)
}

// createLobby makes a lobby, for the match of another host unless offer is nil.
func (h *Host) createLobby(ctx context.Context, spec httpapi.LobbySpec, offer *Offer) (id uint32, err error) {
	if h.alone() {
		return 0, errAlone
	}
	if h.Draining() {
		return 0, httpapi.ErrDraining
	}
	c, least, err := h.lobbyConfig(spec)
	if err != nil {
		return 0, err
	}
	if c.ID, err = h.making.reserve(h.cfg.Lobbies.most()); err != nil {
		return 0, err
	}
	if offer != nil {
		c.Rules.Seed = offer.Seed
	} else if spec.Seed == 0 {
		c.Rules.Seed += uint64(c.ID)
	}
	var shared *sharedMap
	added := false
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(h.log, "lobby %d was not made: %v\n%s", c.ID, fault, debug.Stack())
			err = fmt.Errorf("%w: %v", httpapi.ErrFault, fault)
		}
		if !added {
			h.maps.release(shared)
			h.making.cancel(c.ID)
		}
	}()
	m := h.mapOf(spec, &c)
	if shared, err = h.maps.load(m, func() loadedMap { return h.loadMap(m) }); err != nil {
		return 0, fmt.Errorf("map %.80q, mode %.80q: %w", m.Map, m.Mode, err)
	}
	c = c.WithMap(&shared.loaded)
	if err = c.Check(); err != nil {
		return 0, err
	}
	w := h.leastBusy()
	x, err := h.newHosted(w, c)
	if err != nil {
		return 0, err
	}
	x.shared, x.content = shared, m.Content
	x.startAt(least)
	if offer != nil {
		x.lobby.Await(offer.Seats)
		x.moving.Store(true)
	}
	return c.ID, w.requests.do(ctx, func(now time.Duration) {
		added = true
		w.add(now, x)
	})
}

// EndLobby ends a lobby: its players are told that it closes. It returns when they are, and when its
// memory is free for the next. Any goroutine but those that play may call it.
func (h *Host) EndLobby(ctx context.Context, id uint32) error {
	if h.alone() {
		return errAlone
	}
	x := h.find(id)
	if x == nil {
		return httpapi.ErrNoLobby
	}
	switch err := h.on(ctx, x, func(w *worker, _ time.Duration) {
		x.pace.leaving = packet.ReasonClosing
		w.depart(x)
	}); {
	case err == nil:
	case errors.Is(err, httpapi.ErrEnded) && x.over():
		return httpapi.ErrNoLobby
	default:
		return err
	}
	select {
	case <-x.ended:
		return nil
	case <-ctx.Done():
		return httpapi.ErrBusy
	}
}

// directory is what the HTTP port serves of a host.
func (h *Host) directory() httpapi.Directory {
	d := httpapi.Directory{
		Lobbies: func() (all []*httpapi.LobbyPages) {
			for _, x := range *h.list.Load() {
				all = append(all, x.pages)
			}
			return all
		},
		Most: h.cfg.Lobbies.most(), Stages: h.labels, Faults: h.faults.Load,
		Drain: h.Drain, Draining: h.Draining, Reset: h.cfg.Capture.Allow,
	}
	if !h.alone() {
		for _, w := range h.workers {
			d.Ports = append(d.Ports, w.portFigures())
		}
		d.Create, d.End, d.Host = h.CreateLobby, h.EndLobby, h.making.host()
	}
	return d
}

// plays reports whether a lobby plays. Any goroutine may call it.
func (h *Host) plays(id uint32) bool { return h.find(id) != nil }

// portFigures are what the HTTP port shows of a worker.
func (w *worker) portFigures() *httpapi.PortFigures {
	return &httpapi.PortFigures{Stats: &w.figures.stats, Socket: w.sock.Stats, Busy: w.busyShare,
		Moved: w.shares.moved.Load, Handed: func() (n server.HandOvers) {
			if w.host.steering != nil {
				n = w.host.steering.HandOvers(w.index)
			}
			return n
		}}
}
