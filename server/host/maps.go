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
	err    error
}

// loader returns the function with which the lobby asks for another map. The map is read, its
// visible sets are computed and all that a change needs is made on a goroutine of its own, which
// ends with that; the lobby asks for one map at a time.
func (h *Host) loader(cfg Config) server.MapLoader {
	if cfg.Maps == nil {
		return func(server.MapSpec) (func() (*server.LoadedMap, error), error) { return nil, errNoMaps }
	}
	return func(c server.MapSpec) (func() (*server.LoadedMap, error), error) {
		done := make(chan loadedMap, 1)
		go func() { done <- h.loadMap(cfg, c) }()
		return func() (*server.LoadedMap, error) {
			select {
			case m := <-done:
				if m.err != nil {
					return nil, m.err
				}
				return &m.loaded, nil
			default:
				return nil, nil
			}
		}, nil
	}
}

// loadMap makes all that a map change needs. A panic is an error: a bad map must not end the
// server.
func (h *Host) loadMap(cfg Config, c server.MapSpec) (m loadedMap) {
	defer func() {
		if fault := recover(); fault != nil {
			m.err = fmt.Errorf("load: %v", fault)
		}
	}()
	if m.loaded, m.err = cfg.Maps(c); m.err != nil {
		return m
	}
	lobby := cfg.Lobby
	lobby.Arena, lobby.ArenaName, lobby.PVS = m.loaded.Arena, m.loaded.Name, m.loaded.PVS
	if lobby, _, m.err = server.PVSFor(lobby, cachedPVS(cfg.Files.PVSCache)); m.err != nil {
		return m
	}
	m.loaded.PVS = lobby.PVS
	m.err = h.lobby.PrepareMap(&m.loaded)
	if m.err == nil && cfg.Prefault != nil {
		hugepage.Prefault(context.Background()) // large pages would be moved while ticks use them
	}
	return m
}
