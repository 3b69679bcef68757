package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// atlas finds maps for a server that runs: those built in, generated ones, those of the content pack, and files below the working
// directory, as others than the operator may ask for them. first is the map that it began with, which may be a file anywhere.
func atlas(p *content.Pack, first string) func(server.MapSpec) (server.LoadedMap, error) {
	files := map[string]string{arenaName(first): first} // by what players are told
	return func(c server.MapSpec) (g server.LoadedMap, err error) {
		name := c.Map
		if file, ok := files[name]; ok {
			name = file
		} else if err := reachable(p, name); err != nil {
			return g, err
		}
		if g.Game, err = sim.GameForArena(p, arenaName(name), c.Mode); err != nil {
			return g, err
		}
		if g.Arena, err = openGround(p, name); err != nil {
			return g, err
		}
		g.Name = arenaName(name)
		files[g.Name] = name
		return g, nil
	}
}

// reachable says why a name is none that a running server opens.
func reachable(p *content.Pack, name string) error {
	of := func(m content.Map) bool { return m.Name == name }
	if slices.ContainsFunc(p.Maps, of) || slices.Contains(arena.Names(), name) || strings.HasPrefix(name, "gen:") || strings.HasPrefix(name, "town:") {
		return nil
	}
	if !filepath.IsLocal(name) {
		return fmt.Errorf("map %s: expected a name, or a file below the server's directory", name)
	}
	return nil
}

// courses reads --rotate, and tries whether each could be played.
func courses(p *content.Pack, flags []string) (all []server.MapSpec, err error) {
	for _, flag := range flags {
		var c server.MapSpec
		c.Map, c.Mode, _ = strings.Cut(flag, "=")
		if err := reachable(p, c.Map); err != nil {
			return nil, badUse(fmt.Errorf("--rotate: %w", err))
		}
		if _, err := openGround(p, c.Map); err != nil {
			return nil, err
		}
		if c.Mode != "" {
			if _, err := sim.GameForArena(p, arenaName(c.Map), c.Mode); err != nil {
				return nil, badUse(fmt.Errorf("--rotate %s: %w", flag, err))
			}
		}
		all = append(all, c)
	}
	return all, nil
}
