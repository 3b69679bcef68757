// Maps that a running server loads for map changes, by the names that admins and votes give.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// mapResolver loads maps for a running server: built-in and generated maps, those of the content
// pack, and files below the working directory, since the names come from the network. Any goroutine
// may use it.
type mapResolver struct {
	own    *content.Pack
	folder string // that own was read from; "" for the pack of this build

	mu    sync.Mutex
	packs *packFinder       // others lie beside own
	files map[string]string // by the map's name on the wire
}

// newMapResolver returns a resolver. first is the initial map, which may be a file anywhere.
func newMapResolver(own *content.Pack, folder, first string) *mapResolver {
	return &mapResolver{own: own, folder: folder, packs: newPackFinder(folder),
		files: map[string]string{assets.MapName(first): first}}
}

// load loads a map and a mode.
func (m *mapResolver) load(c server.MapSpec) (g server.LoadedMap, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.own
	if c.Content != "" {
		if p, err = m.packs.find(c.Content); err != nil {
			return g, err
		}
	}
	name := c.Map
	if file, ok := m.files[name]; ok {
		name = file
	} else if err := reachable(p, name); err != nil {
		return g, err
	}
	// The mode decides the rules; the map may narrow the modes that it can be played in.
	if g.Game, err = sim.GameForArena(p, assets.MapName(name), c.Mode); err != nil {
		return g, err
	}
	if g.Arena, err = assets.MapOf(p, name); err != nil {
		return g, err
	}
	g.Name = assets.MapName(name)
	m.files[g.Name] = name
	return g, nil
}

// replayFlags are the flags with which tickrate replay finds a map and a content pack of this server
// from any folder, by the names that its lobbies have for them.
func (m *mapResolver) replayFlags(mapName, pack string) (flags []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	add := func(flag, path string) {
		if at, err := filepath.Abs(path); err == nil {
			flags = append(flags, flag, at)
		}
	}
	if file := m.files[mapName]; file != "" {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			add("--map", file)
		}
	}
	if pack != "" {
		if folder, err := m.packs.folder(pack); err == nil {
			add("--content", folder)
		}
	} else if m.folder != "" {
		add("--content", m.folder)
	}
	return flags
}

// reachable returns an error for names that a running server must not open: files outside its
// working directory.
func reachable(p *content.Pack, name string) error {
	of := func(m content.Map) bool { return m.Name == name }
	if slices.ContainsFunc(p.Maps, of) || slices.Contains(arena.Names(), name) ||
		strings.HasPrefix(name, "gen:") || strings.HasPrefix(name, "town:") {
		return nil
	}
	if !filepath.IsLocal(name) {
		return fmt.Errorf("map %s: expected a name, or a file below the server's directory", name)
	}
	return nil
}

// parseRotation parses the values of --rotate, MAP or MAP=MODE, and loads each map once to check
// that it can be played.
func parseRotation(p *content.Pack, flags []string) (all []server.MapSpec, err error) {
	for _, flag := range flags {
		var c server.MapSpec
		c.Map, c.Mode, _ = strings.Cut(flag, "=")
		if err := reachable(p, c.Map); err != nil {
			return nil, usage.Errorf("--rotate: %w", err)
		}
		if _, err := assets.MapOf(p, c.Map); err != nil {
			return nil, err
		}
		if c.Mode != "" {
			if _, err := sim.GameForArena(p, assets.MapName(c.Map), c.Mode); err != nil {
				return nil, usage.Errorf("--rotate %s: %w", flag, err)
			}
		}
		all = append(all, c)
	}
	return all, nil
}
