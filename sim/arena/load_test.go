package arena

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

func TestSaveLoad(t *testing.T) {
	for seed := range uint64(20) {
		a := Generate(8+int(seed)*7, seed)
		var text bytes.Buffer
		if err := a.Save(&text); err != nil {
			t.Fatal(err)
		}
		b, err := Load(bytes.NewReader(text.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if a.Hash() != b.Hash() || !reflect.DeepEqual(a.Solids, b.Solids) ||
			!reflect.DeepEqual(a.Spawns, b.Spawns) || a.Bounds != b.Bounds {
			t.Fatalf("seed %d: what was loaded is not what was saved", seed)
		}
		var again bytes.Buffer
		if err := b.Save(&again); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Fatalf("seed %d: saved again it is another file (%v)", seed, err)
		}
	}
}

const good = `{"format": "tickrate arena", "version": 1,
"bounds": [-10, -1, -10, 10, 20, 10],
"boxes": [[-10, -1, -10, 10, 0, 10], [1, 0, 1, 2, 1.5, 2]],
"ramps": [[3, 0, 3, 5, 1, 4, 1]],
"spawns": [[0, 0, 0, 1, 49152], [-4, 0, 0, 0, 16384]]}
`

func TestLoad(t *testing.T) {
	a, err := Load(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Solids) != 3 || a.Solids[2].Shape != RampPosX || a.Solids[2].Grade != 0.5 {
		t.Errorf("solids %+v", a.Solids)
	}
	want := []Spawn{{Pos: geom.Vec3{X: -4}, Yaw: 16384}}
	if !reflect.DeepEqual(a.TeamSpawns(0), want) || len(a.TeamSpawns(1)) != 1 || a.TeamSpawns(2) != nil {
		t.Errorf("spawns %+v", a.Spawns)
	}
}

// TestLoadErrors breaks a good file in one place each: the error is one line that names the place
// and says what is wanted.
func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{good, "", "file: ends at byte 0 within the map, want a whole JSON object"},
		{"}\n", "", "file: ends at byte 228 within the map, want a whole JSON object"},
		{"}\n", "} x", "file: something follows the closing brace, at byte 230"},
		{"1.5", "1,5", "boxes[1]: 7 numbers, want 6: x0 y0 z0 x1 y1 z1"},
		{"1.5", "1.51", "boxes[1]: y = 1.51, want a multiple of 1/64 from -2000 to 2000"},
		{"1.5", "1.50000000001", "boxes[1]: y = 1.5039062, want a multiple of 1/64 from -2000 to 2000"},
		{"1.5", "1e99", "boxes[1]: y = +Inf, want a multiple of 1/64 from -2000 to 2000"},
		{"1.5", "\"high\"", "boxes: string at byte 137, want a number"},
		{"[[3, 0, 3, 5, 1, 4, 1]]", "7", "ramps: number at byte 151, want a list"},
		{"1.5", "oops", "file: not JSON at byte 132 of 231: " +
			"invalid character 'o' looking for beginning of value"},
		{"1.5", "25", "boxes[1]: reaches from {1 0 1} to {2 25 2}, want within bounds"},
		{"1.5", "0", "boxes[1]: reaches from {1 0 1} to {2 0 2}, " +
			"want the smaller corner first and no side of length 0"},
		{"tickrate arena", "quake bsp", `format: "quake bsp", want "tickrate arena"`},
		{`"version": 1`, `"version": 2`, "version: 2, want 1"},
		{`"bounds"`, `"bonds"`, `file: json: unknown field "bonds"`},
		{"10, 20, 10", "10, 20", "bounds: 5 numbers, want 6: x0 y0 z0 x1 y1 z1"},
		{"10, 20, 10", "10, 20, 2001", "bounds: z = 2001, want a multiple of 1/64 from -2000 to 2000"},
		{"1, 4, 1]", "1, 4, 5]", "ramps[0]: rises 5, want 1 (+x), 2 (-x), 3 (+z) or 4 (-z)"},
		{"1, 4, 1]", "1, 4]", "ramps[0]: 6 numbers, want 7: x0 y0 z0 x1 y1 z1 rises"},
		{"1, 4, 1]", "1, 40, 1]", "ramps[0]: reaches from {3 0 3} to {5 1 40}, want within bounds"},
		{"49152", "65536", "spawns[0]: yaw 65536, want a whole number from 0 to 65535"},
		{"1, 49152", "2, 49152", "spawns[0]: team 2, want 0 or 1"},
		{", 49152", "", "spawns[0]: 4 numbers, want 5: x y z team yaw"},
		{"-4, 0, 0, 0", "-14, 0, 0, 0", "spawns[0]: stands at {-14 0 0}, want within bounds"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		_, err := Load(strings.NewReader(text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q for %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

// TestAreas: team areas come from a file and go back into one, they are part of the hash, and rays
// do not see them.
func TestAreas(t *testing.T) {
	text := strings.Replace(good, "]]}",
		"]],\n\"areas\": [[-2, 0, -2, -1, 2, 2, 0], [-6, 0, -2, -5, 2, 2, 1]]}", 1)
	a, err := Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := Load(strings.NewReader(good))
	if a.Hash() == plain.Hash() || a.Passed() != 3 || plain.Passed() != 0 {
		t.Errorf("hashes %x and %x, passed %b and %b", a.Hash(), plain.Hash(), a.Passed(), plain.Passed())
	}
	other, err := Load(strings.NewReader(strings.Replace(text, "2, 2, 1]]}", "2, 2, 0]]}", 1)))
	if err != nil || other.Hash() == a.Hash() {
		t.Errorf("an area of the other team has the same hash, or %v", err)
	}
	if n := len(a.Solids); n != 5 || a.Solids[3] != NewArea(0, geom.Vec3{X: -2, Z: -2},
		geom.Vec3{X: -1, Y: 2, Z: 2}) || a.Solids[4].Pass != PassTeam(1) {
		t.Errorf("solids %+v", a.Solids)
	}
	var saved bytes.Buffer
	if err := a.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if b, err := Load(&saved); err != nil || b.Hash() != a.Hash() || !reflect.DeepEqual(a.Solids, b.Solids) {
		t.Errorf("saved and loaded: %v", err)
	}
	ray := geom.Ray{Origin: geom.Vec3{X: -8, Y: 1}, Dir: geom.Vec3{X: 1}, Max: 8}
	if at, ok := a.Raycast(ray); ok {
		t.Errorf("an area stops a ray after %v m", at)
	}
	if PassTeam(2) != 0 || PassTeam(255) != 0 {
		t.Error("teams that cannot be have areas")
	}
	for _, c := range []struct{ areas, want string }{
		{"[1, 2]", "areas[0]: 2 numbers, want 7: x0 y0 z0 x1 y1 z1 team"},
		{"[-2, 0, -2, -1, 2, 2, 2]", "areas[0]: team 2, want 0 or 1"},
		{"[-2, 0, -2, -1, 0, 2, 1]", "areas[0]: reaches from {-2 0 -2} to {-1 0 2}, " +
			"want the smaller corner first and no side of length 0"},
		{"[-20, 0, -2, -1, 2, 2, 1]", "areas[0]: reaches from {-20 0 -2} to {-1 2 2}, want within bounds"},
	} {
		text := strings.Replace(good, "]]}", "]], \"areas\": ["+c.areas+"]}", 1)
		if _, err := Load(strings.NewReader(text)); err == nil || err.Error() != c.want {
			t.Errorf("areas %s: %v, want %s", c.areas, err, c.want)
		}
	}
	if _, err := New("ramp", a.Bounds, []Solid{{Shape: RampPosX, Max: geom.Vec3{X: 1, Y: 1, Z: 1},
		Pass: 1}}, nil); err == nil {
		t.Error("a ramp is an area")
	}
}

func TestTooDense(t *testing.T) {
	cube := NewSolid(Box, geom.Vec3{}, geom.Vec3{X: 1, Y: 1, Z: 1})
	bounds := geom.AABB{Max: geom.Vec3{X: 2000, Y: 2, Z: 2000}}
	many := make([]Solid, MaxNear+1)
	for i := range many {
		many[i] = cube
	}
	if _, err := New("dense", bounds, many[1:], nil); err != nil {
		t.Errorf("%d solids in one place: %v", MaxNear, err)
	}
	if _, err := New("dense", bounds, many, nil); err != ErrTooDense {
		t.Errorf("%d solids in one place: %v, want ErrTooDense", len(many), err)
	}
	for i := range many {
		many[i].Max = bounds.Max
	}
	if _, err := New("large", bounds, many, nil); err != ErrTooLarge {
		t.Errorf("solids over everything: %v, want ErrTooLarge", err)
	}
}

func TestOpen(t *testing.T) {
	if got := Names(); !reflect.DeepEqual(got, []string{"arena-1024", "arena-16", "arena-256", "arena-64", "lifts"}) {
		t.Errorf("built in: %v", got)
	}
	a, err := Open("gen:500:7")
	if err != nil || a.Name != "gen:500:7" || a.Hash() != Generate(500, 7).Hash() {
		t.Fatalf("gen:500:7: %v", err)
	}
	if a, err := Open("town:50:7"); err != nil || a.Name != "town:50:7" || a.Hash() != Town(50, 7).Hash() {
		t.Fatalf("town:50:7: %v", err)
	}
	if a, err = Open("arena-16"); err != nil || a.Name != "arena-16" {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(path, []byte(strings.Replace(good, "1.5", "1.51", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		path: "arena " + path + ": boxes[1]: y = 1.51, want a multiple of 1/64 from -2000 to 2000",
		"nosuch": "arena nosuch: no such file, and built in are only arena-1024, arena-16, arena-256, " +
			"arena-64, lifts; gen:PLAYERS:SEED and town:PLAYERS:SEED make more",
		"gen:":          "arena gen:: want gen:PLAYERS:SEED with 2 to 8192 players",
		"town:1:1":      "arena town:1:1: want town:PLAYERS:SEED with 2 to 8192 players",
		"gen:1:1":       "arena gen:1:1: want gen:PLAYERS:SEED with 2 to 8192 players",
		"gen:100000:1":  "arena gen:100000:1: want gen:PLAYERS:SEED with 2 to 8192 players",
		"gen:16":        "arena gen:16: want gen:PLAYERS:SEED with 2 to 8192 players",
		"gen:16:-1":     `arena gen:16:-1: seed "-1", want a whole number from 0`,
		"gen:16:1 or 2": `arena gen:16:1 or 2: seed "1 or 2", want a whole number from 0`,
	} {
		if _, err := Open(name); err == nil || err.Error() != want {
			t.Errorf("Open(%q):\n got %v\nwant %s", name, err, want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory opened")
	}
}

// FuzzLoad feeds Load any bytes: an arena it accepts answers questions and survives saving.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(good))
	const head = `{"format":"tickrate arena","version":1,`
	f.Add([]byte(head + `"bounds":[-2000,0,-2000,2000,1,2000],"boxes":[[-2000,0,-2000,2000,1,2000]]}`))
	f.Add([]byte(head + `"bounds":[0,0,0,0.015625,0.015625,0.015625],` +
		`"ramps":[[0,0,0,0.015625,0.015625,0.015625,4]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Load(bytes.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		for _, s := range a.Spawns {
			a.Near(s.Pos.X, s.Pos.Z)
			ray := geom.Ray{Origin: s.Pos, Dir: geom.Forward(s.Yaw, 0), Max: 100}
			got, ok := a.Raycast(ray)
			if want, wantOK := slowRaycast(a, ray); got != want || ok != wantOK {
				t.Fatalf("Raycast(%+v) = %v, %v, the twin %v, %v", ray, got, ok, want, wantOK)
			}
		}
		var saved bytes.Buffer
		if err := a.Save(&saved); err != nil {
			t.Fatal(err)
		}
		b, err := Load(&saved)
		if err != nil || b.Hash() != a.Hash() {
			t.Fatalf("saved and loaded it is another arena (%v)", err)
		}
	})
}
