package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/server"
)

// errNoMaps is the answer to a map change of a host without Config.Maps.
var errNoMaps = errors.New("this server was started without other maps")

// loadedMap is the result of a search for a map.
type loadedMap struct {
	loaded server.LoadedMap
	shared *sharedMap // what it is of; nil: of one lobby alone
	err    error
}

// loader returns the function with which a lobby asks for another map. The map is read, its
// visible sets are computed and all that a change needs is made on a goroutine of its own, which
// ends with that; the lobby asks for one map at a time.
func (h *Host) loader(x *hosted) server.MapLoader {
	if h.cfg.Maps == nil {
		return func(server.MapSpec) (func() (*server.LoadedMap, error), error) { return nil, errNoMaps }
	}
	return func(c server.MapSpec) (func() (*server.LoadedMap, error), error) {
		c.Content = x.content
		done := make(chan loadedMap, 1)
		x.loading = done
		go func() { done <- h.prepareMap(x, c) }()
		return func() (*server.LoadedMap, error) {
			select {
			case m := <-done:
				x.loading = nil
				if m.err != nil {
					return nil, m.err
				}
				h.maps.release(x.shared)
				x.shared = m.shared // the lobby installs it at once
				return &m.loaded, nil
			default:
				return nil, nil
			}
		}, nil
	}
}

// prepareMap makes all that the map change of a lobby needs.
func (h *Host) prepareMap(x *hosted, c server.MapSpec) (m loadedMap) {
	defer func() {
		if m.err != nil {
			h.maps.release(m.shared)
			m.shared = nil
		}
	}()
	defer recoverLoad(&m)
	if h.alone() { // an operator who changes to the map that is played wants its file anew
		m = h.loadMap(c)
	} else if m.shared, m.err = h.maps.load(c, func() loadedMap { return h.loadMap(c) }); m.err == nil {
		m.loaded = m.shared.loaded
	}
	if m.err != nil {
		return m
	}
	m.err = x.lobby.PrepareMap(&m.loaded)
	if m.err == nil && h.cfg.Prefault != nil {
		hugepage.Prefault(context.Background()) // huge pages would be moved while ticks use them
	}
	return m
}

// loadMap reads a map and computes its visible sets.
func (h *Host) loadMap(c server.MapSpec) (m loadedMap) {
	defer recoverLoad(&m)
	if h.cfg.Maps == nil {
		return loadedMap{err: errNoMaps}
	}
	if m.loaded, m.err = h.cfg.Maps(c); m.err != nil {
		return m
	}
	lobby := h.cfg.Lobby
	lobby.Arena, lobby.ArenaName, lobby.PVS = m.loaded.Arena, m.loaded.Name, m.loaded.PVS
	if lobby, _, m.err = server.PVSFor(lobby, cachedPVS(h.cfg.Files.PVSCache)); m.err == nil {
		m.loaded.PVS = lobby.PVS
	}
	return m
}

// recoverLoad makes a panic an error: a bad map must not end the server. It is to be deferred.
func recoverLoad(m *loadedMap) {
	if fault := recover(); fault != nil {
		m.err = fmt.Errorf("load: %v", fault)
	}
}
