package content

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tickrate/tickrate/sim/ability"
)

var update = flag.Bool("update", false, "write the golden files")

func load(t *testing.T, f fs.FS, side Side) *Pack {
	t.Helper()
	p, err := LoadFor(f, side)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The hashes of the default pack are the same on every machine; -update accepts a changed number.
func TestRow16GoldenHashes(t *testing.T) {
	var got strings.Builder
	for side := range Side(3) {
		p := DefaultFor(side)
		fmt.Fprintf(&got, "%-6v %x\n", side, p.Hash())
		if p.Shared() != Default().Shared() {
			t.Errorf("shared part of %v is another", side)
		}
	}
	fmt.Fprintf(&got, "shared %x\n", Default().Shared())
	const golden = "testdata/hashes.golden.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v\n%swant\n%s", err, got.String(), want)
	}
}

// A change of content changes the hash of each side that reads it, and no other hash.
func TestRow16Hashes(t *testing.T) {
	moved := files()
	moved["abilities.toml"].Data = append(moved["abilities.toml"].Data, moved["modes.toml"].Data...)
	moved["modes.toml"].Data = []byte("# nothing is left here\n")
	order := with(files(), "heroes.toml", "health = 100\n", "")
	order = with(order, "heroes.toml", "name = \"terraformer\"", "health = 1_00\nname = 'terraformer'")
	for _, c := range []struct {
		what                         string
		pack                         fs.FS
		whole, server, client, share bool // whether it changes
	}{
		{"nothing", files(), false, false, false, false},
		{"a comment", with(files(), "heroes.toml", "# Bodies", "# The bodies"), false, false, false, false},
		{"another file", moved, false, false, false, false},
		{"another order of keys", order, false, false, false, false},
		{"an optional zero", with(files(), "modes.toml", "capture_ms = 10000",
			"capture_ms = 10000\nspawn_behind = 0"), false, false, false, false},
		{"damage", with(files(), "abilities.toml", "damage = 7", "damage = 8"), true, true, false, false},
		{"splash", with(files(), "objects.toml", "damage = 90", "damage = 91"), true, true, false, false},
		{"title", with(files(), "heroes.toml", `"Robot"`, `"Roboter"`), true, false, true, false},
		{"speed", with(files(), "heroes.toml", "walk_speed = 6", "walk_speed = 6.1"), true, true, true, true},
		{"rounds", with(files(), "abilities.toml", "rounds_per_sec = 14", "rounds_per_sec = 13"), true,
			true, true, true},
		{"how an effect looks", with(files(), "effects.toml", `"ffd27f"`, `"ffd280"`), true, false, true, false},
		{"kinds of effects", with(with(files(), "effects.toml", `name = "punch"`, `name = "fist"`),
			"abilities.toml", `"punch"`, `"fist"`), true, true, true, true},
		{"a reference to an effect", with(files(), "projectiles.toml", `"rivet impact"`, `"punch"`), true, true,
			true, true},
		{"a name", with(files(), "pack.toml", `"default"`, `"other"`), true, true, true, true},
		{"order of heroes", with(with(files(), "heroes.toml", `"robot"`, `"tank"`), "heroes.toml",
			`"terraformer"`, `"robot"`), true, true, true, true},
	} {
		check := func(what string, changed, want bool) {
			t.Helper()
			if changed != want {
				t.Errorf("%s: %s: changed %v, want %v", c.what, what, changed, want)
			}
		}
		check("whole", load(t, c.pack, Both).Hash() != Default().Hash(), c.whole)
		check("server", load(t, c.pack, Server).Hash() != DefaultFor(Server).Hash(), c.server)
		check("client", load(t, c.pack, Client).Hash() != DefaultFor(Client).Hash(), c.client)
		check("shared", load(t, c.pack, Server).Shared() != DefaultFor(Client).Shared(), c.share)
	}
}

// Canonical text is a pack: the same one, for its side, and nothing that only the other side needs
// is in it.
func TestRow16Variants(t *testing.T) {
	for side := range Side(3) {
		text := Default().Canonical(side)
		f := files()
		f["pack.toml"] = &fstest.MapFile{Data: text}
		p := load(t, f, side)
		want := DefaultFor(side)
		want.Files = nil
		if !reflect.DeepEqual(p, want) {
			t.Errorf("%v: another pack comes back from\n%s", side, text)
		}
		if string(want.Canonical(Both)) != string(text) {
			t.Errorf("%v: a variant has more than its side", side)
		}
		if got := strings.Contains(string(text), "\ndamage = "); got != (side != Client) {
			t.Errorf("%v: damage in the text: %v", side, got)
		}
		if got := strings.Contains(string(text), "\ntitle = "); got != (side != Server) {
			t.Errorf("%v: titles in the text: %v", side, got)
		}
		if got := strings.Contains(string(text), "[effect.look]"); got != (side != Server) {
			t.Errorf("%v: looks in the text: %v", side, got)
		}
		if got := strings.Contains(string(text), "crosshair"); got != (side != Server) {
			t.Errorf("%v: a client's asset in the text: %v", side, got)
		}
		if _, err := p.Compile(60); err != nil {
			t.Errorf("%v: %v", side, err)
		}
	}
	// Predicted numbers are equal on both ends; damage is the server's alone.
	s, c := DefaultFor(Server).HeroParams(0), DefaultFor(Client).HeroParams(0)
	if s.Slots[0].Gun.Damage != 7 || c.Slots[0].Gun.Damage != 0 {
		t.Errorf("damage %d and %d", s.Slots[0].Gun.Damage, c.Slots[0].Gun.Damage)
	}
	for _, p := range []*[]ability.SlotParams{&s.Slots, &c.Slots} {
		for i := range *p {
			a := &(*p)[i]
			a.Gun.Damage, a.Gun.Impulse, a.Melee.Damage, a.Melee.Impulse = 0, 0, 0, 0
		}
	}
	same(t, "a hero but for what hits do", c, s)
	for i := range 2 {
		same(t, "body", DefaultFor(Client).Heroes[i].Body, DefaultFor(Server).Heroes[i].Body)
	}
}

// opened is a file system that records which files were opened.
type opened struct {
	fs.FS
	names map[string]bool
}

func (o opened) Open(name string) (fs.File, error) {
	o.names[name] = true
	return o.FS.Open(name)
}

// A server needs no asset of a client; for a client a missing one is an error that names it.
func TestRow16Assets(t *testing.T) {
	const asset = "assets/crosshair.svg"
	for side := range Side(3) {
		o := opened{files(), map[string]bool{}}
		p := load(t, o, side)
		if got := o.names[asset]; got != (side != Server) {
			t.Errorf("%v: opened %v", side, got)
		}
		if b, ok := p.Asset("crosshair"); ok != (side != Server) || ok &&
			string(b) != string(files()[asset].Data) {
			t.Errorf("%v: asset %v, %d bytes", side, ok, len(b))
		}
		missing := files()
		delete(missing, asset)
		wrong := with(files(), asset, "#fff", "#000")
		if side == Server {
			load(t, missing, side)
			load(t, wrong, side)
			continue
		}
		_, err := LoadFor(missing, side)
		const want = `pack.toml:13: asset[0].file: asset "crosshair": assets/crosshair.svg: no such file`
		if err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", side, err, want)
		}
		sum := sha256.Sum256(wrong[asset].Data)
		_, err = LoadFor(wrong, side)
		if want := `pack.toml:15: asset[0].sha256: asset "crosshair": assets/crosshair.svg has ` +
			hex.EncodeToString(sum[:]); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", side, err, want)
		}
	}
}

// A map may be an asset of the pack.
func TestRow16ArenaAsset(t *testing.T) {
	text, err := os.ReadFile("../arena/maps/arena-16.json")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	f := with(files(), "pack.toml", "[[asset]]",
		"[[asset]]\nname = \"yard\"\nfile = \"yard.json\"\nside = \"both\"\nsha256 = \""+
			hex.EncodeToString(sum[:])+"\"\n\n[[asset]]")
	f["yard.json"] = &fstest.MapFile{Data: text}
	f = with(f, "maps.toml", `arena = "arena-16"`, `arena = "yard"`)
	tables, err := load(t, f, Server).Compile(60)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tables.Stage(0)
	if err != nil || s.Arena.Name != "yard" || len(s.Arena.Solids) == 0 {
		t.Fatalf("%v", err)
	}
	bad := with(f, "yard.json", `"version": 1`, `"version": 7`)
	sum7 := sha256.Sum256(bad["yard.json"].Data)
	bad = with(bad, "pack.toml", hex.EncodeToString(sum[:]), hex.EncodeToString(sum7[:]))
	if _, err := Load(bad); err == nil || !strings.HasPrefix(err.Error(),
		"maps.toml:7: map[0].arena: asset yard: version: 7") {
		t.Errorf("%v", err)
	}
	f = with(f, "maps.toml", "at_m = [", "at_m = [1999, 0, 0] # [")
	if tables, err = load(t, f, Server).Compile(60); err != nil {
		t.Fatal(err)
	}
	if _, err = tables.Stage(0); err == nil ||
		err.Error() != "pack default: map arena-16: point[0]: outside the arena yard" {
		t.Errorf("%v", err)
	}
}
