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
	p, err := newPackFinder(own).find("duels")
	if err != nil {
		t.Fatal(err)
	}
	hash := p.Shared()
	load := newMapResolver(content.Default(), own, "arena-64").load
	for _, name := range []string{"duels", hex.EncodeToString(hash[:])} {
		m, err := load(server.MapSpec{Map: "arena-16", Mode: "deathmatch", Content: name})
		if err != nil || m.Game.Pack != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	const none = "beside the server's"
	for name, want := range map[string]string{"broken": packManifest, "..": none, "../duels": none, "00": none,
		strings.Repeat("0", len(hash)*2): none} {
		if _, err := load(server.MapSpec{Map: "arena-16", Mode: "deathmatch", Content: name}); err == nil ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "has duels") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newMapResolver(content.Default(), "", "arena-64").load(server.MapSpec{Map: "arena-16",
		Mode: "deathmatch", Content: "duels"}); err == nil || !strings.Contains(err.Error(), "--content") {
		t.Errorf("without a folder: %v", err)
	}
}

// Requests for unknown packs read no pack a second time, those with an impossible name read none, and
// a changed pack is found by its new hash. Errors tell no names of other packs.
func TestUnknownPackReadsNothingTwice(t *testing.T) {
	packs := t.TempDir()
	for _, name := range []string{"secretone", "secrettwo"} {
		if err := os.CopyFS(filepath.Join(packs, name), os.DirFS("../../sim/content/default")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(packs, "other"), 0o700); err != nil { // holds no pack
		t.Fatal(err)
	}
	find := newPackFinder(filepath.Join(packs, "own"))
	unknown := strings.Repeat("0", 64)
	for i, c := range []struct {
		name  string
		reads int
	}{{"nothing", 0}, {"00", 0}, {unknown, 2}, {unknown, 2}, {unknown[1:] + "1", 2}} {
		if _, err := find.find(c.name); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %s: %v", i, c.name, err)
		}
		if find.reads != c.reads {
			t.Errorf("%d: %s: %d packs read, expected %d", i, c.name, find.reads, c.reads)
		}
	}
	file := filepath.Join(packs, "secrettwo", "pack.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := find.find(unknown); err == nil || find.reads != 3 {
		t.Errorf("after a change: %v, %d packs read", err, find.reads)
	}
	hash := content.Default().Shared()
	if p, err := find.find(hex.EncodeToString(hash[:])); err != nil || p.Shared() != hash || find.reads != 3 {
		t.Errorf("by hash: %v, %d packs read", err, find.reads)
	}
}
