package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// openArena opens a map by name: embedded, generated or a file. A wrong name is an error of use.
func openArena(name string) (*arena.Arena, error) {
	a, err := arena.Open(name)
	return a, badUse(err)
}

// arenaName is what players are told of an arena: of a file, its name without its folder, as that is nobody's business.
func arenaName(name string) string {
	if base := filepath.Base(name); base != name {
		return strings.ToValidUTF8(base[:min(len(base), protocol.MaxArenaName)], "")
	}
	return name
}

// openModels reads a file of compression models; "" means those of this build.
func openModels(path string) (netstate.Models, error) {
	if path == "" {
		return netstate.Trained(), nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return netstate.Models{}, badUse(fmt.Errorf("model file: %w; make one with tickrate codec train", err))
	}
	m, err := netstate.ParseModels(raw)
	if err != nil {
		return m, badUse(fmt.Errorf("model file %s: %w; make one with tickrate codec train", path, err))
	}
	return m, nil
}

// openContent reads a content pack from its folder; "" means that of this build.
func openContent(dir string) (*content.Pack, error) {
	if dir == "" {
		return content.Default(), nil
	}
	p, err := content.Load(os.DirFS(dir))
	if err != nil {
		return nil, badUse(fmt.Errorf("content pack %s: %w", dir, err))
	}
	return p, nil
}

// openGround opens a map of a pack, or an arena by its name.
func openGround(p *content.Pack, name string) (*arena.Arena, error) {
	if a, ok, err := p.Ground(name); ok {
		return a, badUse(err)
	}
	return openArena(name)
}

// openGame finds what is played on an arena, as players are told its name.
func openGame(dir, ground, mode string) (*sim.Game, error) {
	p, err := openContent(dir)
	if err != nil {
		return nil, err
	}
	g, err := sim.GameForArena(p, ground, mode)
	return g, badUse(err)
}

// What the flags --mode and --content say.
const (
	modeUsage    = "`mode` of the game, as the content pack names it: deathmatch or assault"
	contentUsage = "`folder` of the content pack, which players must have, too; default the one of this build"
)
