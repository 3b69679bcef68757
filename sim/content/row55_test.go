package content

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestRow55MoversOfAPack: a pack adds movers to those of an arena, for both ends; what is wrong with
// one is told by file, line and key when the pack is read, and what is wrong with it on its arena when
// the map is opened.
func TestRow55MoversOfAPack(t *testing.T) {
	const plate = "[[map.mover]]\nbox_m = [-2, 0, -2, 2, 0.25, 2]\ntravel_m = [0, 4, 0]\ntravel_ms = 2000\n" +
		"dwell_ms = 1500\n"
	base := files()
	with1 := with(base, "maps.toml", "[[map.barrel]]", plate+"phase_ms = 250\n\n[[map.barrel]]")
	server, client := load(t, with1, Server), load(t, with1, Client)
	a, ok, err := server.Ground("arena-16")
	if err != nil || !ok {
		t.Fatal(err)
	}
	b, _, err := client.Ground("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	want := arena.Mover{Min: geom.Vec3{X: -2, Z: -2}, Max: geom.Vec3{X: 2, Y: 0.25, Z: 2},
		Travel: geom.Vec3{Y: 4}, TravelMillis: 2000, DwellMillis: 1500, PhaseMillis: 250}
	bare, _, err := load(t, base, Server).Ground("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Movers) != 1 || a.Movers[0] != want || a.Hash() != b.Hash() || a.Hash() == bare.Hash() {
		t.Errorf("movers %+v, want %+v; hashes %x, %x, without %x", a.Movers, want, a.Hash(), b.Hash(), bare.Hash())
	}
	if server.Shared() == load(t, base, Server).Shared() {
		t.Error("clients with and without the mover have one hash of the pack")
	}
	lifts := with(with1, "maps.toml", `arena = "arena-16"`, `arena = "lifts"`)
	if a, _, err := load(t, lifts, Server).Ground("arena-16"); err != nil || len(a.Movers) != 4 {
		t.Errorf("lifts has %d movers with the map's: %v", len(a.Movers), err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"travel_ms = 2000", "travel_ms = 50",
			"map[0].mover[0].travel_ms: 50, want a whole number 100 to 600000"},
		{"travel_m = [0, 4, 0]", "travel_m = [0, 0, 0]",
			"map[0].mover[0]: travels nowhere, want a travel that is not 0 0 0"},
		{"travel_ms = 2000", "travel_ms = 700",
			"map[0].mover[0]: travels 4 m in 700 ms, want at most 5 m/s"},
		{"dwell_ms = 1500\n", "", "map[0].mover[0].dwell_ms: missing, want"},
		{"phase_ms = 250", "phase_ms = 7000",
			"map[0].mover[0]: phase of 7000 ms, want 0 to 6999"},
		{"0.25, 2]", "0.3, 2]", "map[0].mover[0]: box: y = 0.3, want a multiple of 1/64"},
	} {
		e := refusal(t, with(with1, "maps.toml", c.old, c.new), c.new)
		if got := e.Key + ": " + e.Problem; e.File != "maps.toml" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: refused with %v, want %s", c.new, e, c.want)
		}
	}
	far := with(with1, "maps.toml", "travel_m = [0, 4, 0]\ntravel_ms = 2000", "travel_m = [0, 40, 0]\ntravel_ms = 9000")
	if _, _, err := load(t, far, Server).Ground("arena-16"); err == nil || err.Error() != "arena arena-16 with the "+
		"map's movers: movers[0]: covers {-2 0 -2} to {2 40.25 2}, want within bounds" {
		t.Errorf("out of the arena: %v", err)
	}
}
