// Package assets finds what commands name on their command lines: maps, compression models, content
// packs and modes. Names, files and folders go in; loaded values come out. Every error is one of
// use.
package assets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// The help texts of --mode, --content and --map.
const (
	ModeUsage    = "`mode` of the game as the content pack names it: deathmatch or assault"
	ContentUsage = "`folder` of the content pack, which players need too; default the one of this build"
	MapUsage     = "`map`: a built-in name, a file, gen:PLAYERS:SEED or town:PLAYERS:SEED"
)

// Map opens a map that is built in, generated or a file.
func Map(name string) (*arena.Arena, error) {
	a, err := arena.Open(name)
	return a, usage.Error(err)
}

// MapOf opens a map of the pack, or else one by Map.
func MapOf(p *content.Pack, name string) (*arena.Arena, error) {
	if a, ok, err := p.Ground(name); ok {
		return a, usage.Error(err)
	}
	return Map(name)
}

// MapName returns the name of a map as clients see it: a file's name without its folder.
func MapName(name string) string {
	if base := filepath.Base(name); base != name {
		return strings.ToValidUTF8(base[:min(len(base), protocol.MaxArenaName)], "")
	}
	return name
}

// Models reads a file of compression models. An empty path gives those of this build.
func Models(path string) (netstate.Models, error) {
	if path == "" {
		return netstate.Trained(), nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return netstate.Models{}, usage.Errorf("model file: %w; make one with tickrate codec train", err)
	}
	m, err := netstate.ParseModels(raw)
	if err != nil {
		return m, usage.Errorf("model file %s: %w; make one with tickrate codec train", path, err)
	}
	return m, nil
}

// Content reads a content pack from its folder. An empty folder gives the pack of this build.
func Content(dir string) (*content.Pack, error) {
	if dir == "" {
		return content.Default(), nil
	}
	p, err := content.Load(os.DirFS(dir))
	if err != nil {
		return nil, usage.Error(fmt.Errorf("content pack %s: %w", dir, err))
	}
	return p, nil
}

// Game returns the rules of a mode on a map, by the map's name as clients see it.
func Game(p *content.Pack, mapName, mode string) (*sim.Game, error) {
	g, err := sim.GameForArena(p, mapName, mode)
	return g, usage.Error(err)
}
