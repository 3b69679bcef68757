package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/content"
)

// A lobby gets the pack beside the server's that has its hash or its name, and its maps and
// rules; nothing outside the folder is opened.
func TestMapsOfAnotherPack(t *testing.T) {
	packs := t.TempDir()
	if err := os.CopyFS(filepath.Join(packs, "duels"), os.DirFS("../../sim/content/default")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(packs, "duels", "pack.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `name = "default"`, `name = "duels"`, 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(packs, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(packs, "own")
	p, err := findPack(own, "duels")
	if err != nil {
		t.Fatal(err)
	}
	hash := p.Shared()
	load := mapResolver(content.Default(), own, "arena-64")
	for _, name := range []string{"duels", hex.EncodeToString(hash[:])} {
		m, err := load(server.MapSpec{Map: "arena-16", Mode: "deathmatch", Content: name})
		if err != nil || m.Game.Pack != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"broken": "broken", "..": "has duels", "../duels": "has duels",
		"00": "has duels"} {
		if _, err := load(server.MapSpec{Map: "arena-16", Mode: "deathmatch", Content: name}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mapResolver(content.Default(), "", "arena-64")(server.MapSpec{Map: "arena-16",
		Mode: "deathmatch", Content: "duels"}); err == nil || !strings.Contains(err.Error(), "--content") {
		t.Errorf("without a folder: %v", err)
	}
}
