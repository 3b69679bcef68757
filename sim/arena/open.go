package arena

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

//go:embed maps/*.json
var maps embed.FS

// Names lists the maps that are built in, in alphabetical order.
func Names() []string {
	entries, err := maps.ReadDir("maps")
	if err != nil {
		panic("arena: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Open returns the arena called name: a map that is built in ("arena-64"), one generated on the
// spot for a number of players from a seed ("gen:500:7" in the open, "town:500:7" among houses), or
// a map file's path. The error is one line that names the file, the field and what was expected.
// Opening a path is the only thing in this package that touches the file system.
func Open(name string) (*Arena, error) {
	if spec, ok := strings.CutPrefix(name, "gen:"); ok {
		return openGenerated(name, "gen", spec, Generate)
	}
	if spec, ok := strings.CutPrefix(name, "town:"); ok {
		return openGenerated(name, "town", spec, Town)
	}
	file, err := maps.Open("maps/" + name + ".json")
	if err != nil {
		file, err = os.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("arena %s: no such file, and built in are only %s; gen:PLAYERS:SEED and "+
			"town:PLAYERS:SEED make more", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("arena %s: %w", name, err)
	}
	defer file.Close()
	a, err := Load(file)
	if err != nil {
		return nil, fmt.Errorf("arena %s: %w", name, err)
	}
	a.Name = name
	return a, nil
}

// GeneratedPlayers is the number of players that a name asks a generated map for, 0 for other names.
func GeneratedPlayers(name string) int {
	kind, spec, _ := strings.Cut(name, ":")
	count, _, _ := strings.Cut(spec, ":")
	if n, err := strconv.Atoi(count); err == nil && (kind == "gen" || kind == "town") {
		return n
	}
	return 0
}

// openGenerated parses PLAYERS:SEED and runs a generator. kind is the prefix for errors.
func openGenerated(name, kind, spec string, generate func(players int, seed uint64) *Arena) (*Arena, error) {
	count, seedText, ok := strings.Cut(spec, ":")
	players, err := strconv.Atoi(count)
	if !ok || err != nil || players < 2 || players > MaxPlayers {
		return nil, fmt.Errorf("arena %s: want %s:PLAYERS:SEED with 2 to %d players", name, kind, MaxPlayers)
	}
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("arena %s: seed %q, want a whole number from 0", name, seedText)
	}
	a := generate(players, seed)
	a.Name = name
	return a, nil
}
