package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/tickrate/tickrate/internal/hugepage"
)

// playing is what is played, as others than the tick may read it.
type playing struct {
	phase       Phase
	arena, mode string
	spectators  int
}

// found is what has become of a search for a course.
type found struct {
	loaded LoadedMap
	err    error
}

// errNoMaps is what a host without a function for it says to another map.
var errNoMaps = errors.New("this server was started without a way to other maps")

// loader makes what a lobby calls for another map: it reads the map, works out what its walls hide, makes all that Change needs and has the
// memory of that come, on a goroutine of its own, one at a time. The goroutine ends when it has what it was sent for.
func (h *Host) loader(cfg HostConfig) MapLoader {
	if cfg.LoadMap == nil {
		return func(MapSpec) (func() (*LoadedMap, error), error) { return nil, errNoMaps }
	}
	given := cfg.Lobby
	return func(c MapSpec) (func() (*LoadedMap, error), error) {
		done := make(chan found, 1)
		go func() { done <- h.loadMap(given, cfg, c) }()
		return func() (*LoadedMap, error) {
			select {
			case f := <-done:
				if f.err != nil {
					return nil, f.err
				}
				return &f.loaded, nil
			default:
				return nil, nil
			}
		}, nil
	}
}

// loadMap finds all that a course needs. What is wrong with a map must not end the server: a panic is an error.
func (h *Host) loadMap(given Config, cfg HostConfig, c MapSpec) (f found) {
	defer func() {
		if fault := recover(); fault != nil {
			f.err = fmt.Errorf("load: %v", fault)
		}
	}()
	if f.loaded, f.err = cfg.LoadMap(c); f.err != nil {
		return f
	}
	given.Arena, given.ArenaName, given.PVS = f.loaded.Arena, f.loaded.Name, f.loaded.PVS
	if given, _, f.err = withWalls(given, cfg.Sights); f.err != nil {
		return f
	}
	f.loaded.PVS = given.PVS
	f.err = h.lobby.PrepareMap(&f.loaded)
	if f.err == nil && cfg.Touch != nil {
		hugepage.Prefault(context.Background()) // large ones would be moved together while ticks use them
	}
	return f
}

// clock is at which rates the host works.
func (c HostConfig) clock() (ClockConfig, error) {
	rates, _, err := ClockConfig{Simulation: c.Lobby.Rules.Rate, MaxSteps: c.MaxSteps, MaxBatch: c.MaxBatch}.Check()
	return rates, err
}

// note makes what is played readable, and says what has become of changes.
func (h *Host) note() {
	l := h.lobby
	h.playing.Store(&playing{l.Phase(), l.cfg.ArenaName, l.cfg.Rules.Game.Mode.Name, l.spectators()})
	for _, line := range l.maps.log {
		fmt.Fprintln(h.log, line)
	}
	l.maps.log = l.maps.log[:0]
}
