package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
)

// LobbiesConfig describes how many lobbies a host has. The zero value is one lobby alone, whose end
// is that of the host.
type LobbiesConfig struct {
	Ahead int // made before the host is ready, of Config.Lobby
	Most  int // at a time; default Ahead. Those beyond Ahead are made on demand
}

// MaxLobbies is the most lobbies of a host.
const MaxLobbies = 1000

// most is the number of lobbies that a shared port is for; 0: one lobby alone.
func (c LobbiesConfig) most() int { return max(c.Ahead, c.Most) }

func (c LobbiesConfig) check() error {
	if c.Ahead < 0 || c.most() > MaxLobbies {
		return fmt.Errorf("%d lobbies ahead, %d at most: expected 0 to %d", c.Ahead, c.Most, MaxLobbies)
	}
	return nil
}

// errAlone is the answer of a host that was not started for several lobbies.
var errAlone = errors.New("this server has one lobby alone: start it with --lobbies")

// making counts lobbies from the request on. Any goroutine may use it.
type making struct {
	mu       sync.Mutex // guards the fields below
	next     uint32     // ID of the next lobby; no ID is used twice
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
	m := &server.LoadedMap{Arena: base.Arena, Name: base.ArenaName, Game: base.Rules.Game, PVS: base.PVS}
	for range max(1, h.cfg.Lobbies.Ahead) {
		c, used := base, []*sharedMap(nil)
		if c.Arena != nil { // else NewLobby says that there is none
			used = append(used, h.maps.share(m))
			c = c.WithMap(&used[0].loaded)
			c.CellVisible = base.CellVisible
		}
		if c.ID, err = h.making.reserve(h.cfg.Lobbies.most()); err != nil {
			return err
		}
		c.Rules.Seed += uint64(c.ID)
		x, err := h.newHosted(c)
		if err != nil {
			return err
		}
		x.maps = used
		if h.first == nil {
			h.first = x
		}
		if h.port != nil {
			h.port.Add(x.lobby)
		}
		h.loop.lobbies = append(h.loop.lobbies, x)
	}
	h.publishList()
	return nil
}

// publishList makes the lobbies readable for other goroutines.
func (h *Host) publishList() {
	list := slices.Clone(h.loop.lobbies)
	h.list.Store(&list)
}

// CreateLobby makes a lobby while the others play, and returns its ID. Any goroutine but that of Run
// may call it.
func (h *Host) CreateLobby(ctx context.Context, spec httpapi.LobbySpec) (id uint32, err error) {
	if h.port == nil {
		return 0, errAlone
	}
	c, shared, err := h.lobbyConfig(spec)
	if err != nil {
		return 0, err
	}
	if c.ID, err = h.making.reserve(h.cfg.Lobbies.most()); err != nil {
		h.maps.release(shared)
		return 0, err
	}
	c.Rules.Seed += uint64(c.ID)
	x, err := h.newHosted(c)
	if err == nil {
		x.maps = shared
		err = h.console.do(ctx, func(now time.Duration) {
			h.port.Add(x.lobby)
			h.loop.insert(now, x)
			h.publishList()
			x.start()
			fmt.Fprintf(h.log, "lobby %s made\n", x.name())
		})
	}
	if err != nil {
		h.maps.release(shared)
		h.making.release()
	}
	return c.ID, err
}

// lobbyConfig is the configuration of a lobby on demand: that of the host with what was asked for.
func (h *Host) lobbyConfig(spec httpapi.LobbySpec) (c server.Config, shared []*sharedMap, err error) {
	c = h.cfg.Lobby
	if want := spec.Content; want != "" && want != hex.EncodeToString(c.Rules.WithDefaults().Game.Pack[:]) {
		return c, nil, fmt.Errorf("content %.64q: this server has another pack", want)
	}
	if most := orDefault(c.Players, defaultPlayers); spec.Players < 0 || spec.Players > most {
		return c, nil, fmt.Errorf("%d players: expected 1 to %d, as the server was started for", spec.Players, most)
	} else if spec.Players > 0 {
		c.Players = spec.Players
	}
	if spec.RateHz > 0 {
		c.Rules.Rate, c.SendInterval = tick.Rate(spec.RateHz), 0
	}
	if spec.SendInterval > 0 {
		c.SendInterval = spec.SendInterval
	}
	if spec.Name != "" {
		c.Name = spec.Name
	}
	if spec.Seed != 0 {
		c.Rules.Seed = spec.Seed
	}
	m := server.MapSpec{Map: spec.Map, Mode: spec.Mode}
	if m.Map == "" {
		m.Map = c.ArenaName
	}
	if m.Mode == "" && c.Rules.Game != nil {
		m.Mode = c.Rules.Game.Mode.Name
	}
	one, err := h.maps.load(h, m)
	if err != nil {
		return c, nil, err
	}
	c = c.WithMap(&one.loaded)
	if err = c.Check(); err != nil {
		h.maps.release([]*sharedMap{one})
	}
	return c, []*sharedMap{one}, err
}

// EndLobby ends a lobby: its players are told that it closes. It returns when they are, and when its
// memory is free for the next. Any goroutine but that of Run may call it.
func (h *Host) EndLobby(ctx context.Context, id uint32) error {
	if h.port == nil {
		return errAlone
	}
	var x *hosted
	if err := h.console.do(ctx, func(time.Duration) {
		if x = h.find(id); x != nil && x.pace.leaving == 0 {
			x.pace.leaving = packet.ReasonClosing
		}
	}); err != nil {
		return err
	}
	if x == nil {
		return httpapi.ErrNoLobby
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
		Most: h.cfg.Lobbies.most(), Stages: h.labels, Faults: h.figures.faults.Load,
	}
	if h.port != nil {
		d.Create, d.End, d.Host = h.CreateLobby, h.EndLobby, h.making.host()
	}
	return d
}

// plays reports whether a lobby plays. Any goroutine may call it.
func (h *Host) plays(id uint32) bool {
	return slices.ContainsFunc(*h.list.Load(), func(x *hosted) bool { return x.id() == id })
}

// sharedMaps are the maps of a host. Lobbies on one map share what is made of it: the arena, its
// packed form and its visible sets. Any goroutine may use it.
type sharedMaps struct {
	mu   sync.Mutex // guards all; loading one map at a time packs none twice
	maps []*sharedMap
}

// sharedMap is a map that lobbies play, and is forgotten with the last of them.
type sharedMap struct {
	spec   server.MapSpec
	loaded server.LoadedMap // read-only
	users  int              // lobbies
}

// share adds a map that is loaded, unless it is there, and counts one more lobby on it.
func (s *sharedMaps) share(m *server.LoadedMap) *sharedMap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(server.MapSpec{Map: m.Name, Mode: modeOf(m)}, m)
}

func modeOf(m *server.LoadedMap) string {
	if m.Game == nil {
		return ""
	}
	return m.Game.Mode.Name
}

func (s *sharedMaps) add(spec server.MapSpec, m *server.LoadedMap) *sharedMap {
	if one := s.find(spec); one != nil {
		one.users++
		return one
	}
	one := &sharedMap{spec: spec, loaded: *m, users: 1}
	one.loaded.Pack()
	s.maps = append(s.maps, one)
	return one
}

func (s *sharedMaps) find(spec server.MapSpec) *sharedMap {
	for _, one := range s.maps {
		if one.spec == spec {
			return one
		}
	}
	return nil
}

// load returns a map for one more lobby. A map that no lobby plays is loaded.
func (s *sharedMaps) load(h *Host, spec server.MapSpec) (*sharedMap, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.find(spec); one != nil {
		one.users++
		return one, nil
	}
	m := h.loadMap(spec)
	if m.err != nil {
		return nil, m.err
	}
	return s.add(spec, &m.loaded), nil
}

// release takes a lobby from the maps that it has played.
func (s *sharedMaps) release(used []*sharedMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range used {
		one.users--
	}
	s.maps = slices.DeleteFunc(s.maps, func(one *sharedMap) bool { return one.users <= 0 })
}
