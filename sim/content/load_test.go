package content

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// files are the default pack, to be changed.
func files() fstest.MapFS {
	out := fstest.MapFS{}
	for _, name := range []string{
		"pack.toml", "heroes.toml", "abilities.toml", "projectiles.toml", "objects.toml", "modes.toml",
		"maps.toml", "effects.toml", "assets/crosshair.svg", "assets/spark.svg", "assets/burst.svg",
	} {
		text, err := embedded.ReadFile("default/" + name)
		if err != nil {
			panic(err)
		}
		out[name] = &fstest.MapFile{Data: text}
	}
	return out
}

// with is f with one text of a file replaced; it must be there.
func with(f fstest.MapFS, file, old, new string) fstest.MapFS {
	f = maps.Clone(f)
	text := string(f[file].Data)
	if !strings.Contains(text, old) {
		panic(fmt.Sprintf("%s has no %q", file, old))
	}
	f[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, new, 1))}
	return f
}

// refusal loads a pack that must be refused and returns its error.
func refusal(t *testing.T, f fs.FS, what string) *Error {
	t.Helper()
	p, err := Load(f)
	e := (*Error)(nil)
	if !errors.As(err, &e) || p != nil {
		t.Fatalf("%s: pack %v, error %v", what, p != nil, err)
	}
	return e
}

var setting = regexp.MustCompile(`^([a-z0-9_]+) = ([^#]*)`)

// Every key of the default pack is misspelt, of another type, out of range and left out. Each time
// the error names the file, the line and the key.
func TestRow15EveryKeyIsChecked(t *testing.T) {
	all := files()
	optional := strings.Fields("files title keys runs_with interrupts fires most_per_sec spin_per_sec " +
		"cone_degrees cone_per_shot cone_per_sec " +
		"pitch_degrees speed instant effect impact explosion image color size_m life_ms light_m audible_m mark_m")
	checked := 0
	for name, file := range all {
		rows := strings.Split(string(file.Data), "\n")
		for i, line := range rows {
			m := setting.FindStringSubmatch(line)
			if m == nil || !strings.HasSuffix(name, ".toml") || name == "maps.toml" && i > 120 || name == "effects.toml" && i > 40 {
				continue
			}
			checked++
			try := func(change string) fstest.MapFS {
				f := maps.Clone(all)
				text := strings.Join(slices.Concat(rows[:i], []string{change}, rows[i+1:]), "\n")
				f[name] = &fstest.MapFile{Data: []byte(text)}
				return f
			}
			at := func(e *Error, key, problem string) {
				t.Helper()
				if e.File != name || e.Line != i+1 || !strings.HasSuffix(e.Key, key) ||
					!strings.Contains(e.Problem, problem) {
					t.Errorf("%s:%d: %s: refused with %v", name, i+1, line, e)
				}
			}
			key, value := m[1], m[2]
			if key != "files" { // what the manifest does not name is not there at all
				at(refusal(t, try(key+"x = "+value), line), key+"x", "unknown key, want one of ")
			}
			at(refusal(t, try(key+" = 2020-01-01"), line), key, ", want ")
			if value[0] >= '0' && value[0] <= '9' {
				at(refusal(t, try(key+" = 4000000000"), line), key, ", want ")
				at(refusal(t, try(key+" = -4000000000"), line), key, ", want ")
				if strings.Contains(value, ".") {
					at(refusal(t, try(key+" = nan"), line), key, "NaN, want a number")
				}
			}
			if slices.Contains(optional, key) {
				continue
			}
			e := refusal(t, try(""), line)
			below := e.Line <= i && (e.Line == 0 || strings.HasPrefix(rows[e.Line-1], "["))
			if key == "kind" && name != "maps.toml" { // without its kind a row has other keys
				continue
			}
			if e.File != name || !below || !strings.HasSuffix(e.Key, key) ||
				!strings.Contains(e.Problem, "missing, want") {
				t.Errorf("%s:%d: without %s refused with %v", name, i+1, line, e)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d keys", checked)
	}
}

var limits = regexp.MustCompile(`want a (?:whole )?number (\S+) to (\S+)$`)

// The ranges of keys lie within what the packages take: a number at either end is accepted, or
// refused by its key because of another key, and never only by a package.
func TestRow15RangesAreThePackages(t *testing.T) {
	all := files()
	tried := 0
	for _, name := range []string{"heroes.toml", "abilities.toml", "projectiles.toml", "objects.toml",
		"effects.toml", "modes.toml"} {
		rows := strings.Split(string(all[name].Data), "\n")
		for i, line := range rows {
			m := setting.FindStringSubmatch(line)
			if m == nil || m[2][0] < '0' || m[2][0] > '9' {
				continue
			}
			try := func(value string) (*Pack, error) {
				f := maps.Clone(all)
				f[name] = &fstest.MapFile{Data: []byte(strings.Join(slices.Concat(rows[:i],
					[]string{m[1] + " = " + value}, rows[i+1:]), "\n"))}
				return Load(f)
			}
			_, err := try("4000000000")
			ends := limits.FindStringSubmatch(err.Error())
			if ends == nil {
				t.Fatalf("%s: %v", line, err)
			}
			for _, value := range ends[1:] {
				tried++
				p, err := try(value)
				e := (*Error)(nil)
				switch {
				case err == nil:
					_, err = p.Compile(128)
				case errors.As(err, &e) && e.Line > 0 && !strings.Contains(e.Problem, "hero ") &&
					!strings.Contains(e.Problem, "Metres"):
					err = nil // a bound of another key
				}
				if err != nil {
					t.Errorf("%s:%d: %s = %s: %v", name, i+1, m[1], value, err)
				}
			}
		}
	}
	if tried < 250 {
		t.Errorf("only %d", tried)
	}
}

// Rules between several keys are checked.
func TestRow15References(t *testing.T) {
	for i, c := range []struct{ file, old, new, want string }{
		{"heroes.toml", `"chaingun", `, `"chain gun", `,
			`heroes.toml:33: hero[1].abilities: "chain gun", want the name of a row of [[ability]]`},
		{"heroes.toml", `"melee", "sprint"`, `"melee", "melee"`,
			`heroes.toml:33: hero[1].abilities: "melee" twice`},
		{"heroes.toml", `"robot"`, `"terraformer"`, `heroes.toml:30: hero[1].name: "terraformer" twice`},
		{"heroes.toml", `"robot"`, `"-"`, `heroes.toml:30: hero[1].name: "-", want letters`},
		{"heroes.toml", "height_m = 2.2", "height_m = 1",
			"heroes.toml:37: hero[1].body.height_m: want more than twice radius_m"},
		{"heroes.toml", "eye_m = 1.9", "eye_m = 2.5",
			"heroes.toml:38: hero[1].body.eye_m: want at most height_m"},
		{"heroes.toml", "jump_m = 1", "jump_m = 50",
			"heroes.toml:25: hero[0].body.jump_m: want at most 64 m/s in jump_ms"},
		{"heroes.toml", `"emote", "movement"`, `"movement"`, ""},
		{"abilities.toml", `fires = "Rivet"`, `fires = "Bolt"`,
			`abilities.toml:9: ability[0].fires: "Bolt", want the name of a row of [[projectile]]`},
		{"abilities.toml", `throws = "Grenade"`, `throws = "Bomb"`,
			`abilities.toml:23: ability[1].throws: "Bomb", ` +
				`want the name of a row of [[projectile]] or [[grenade]]`},
		{"abilities.toml", "speed = 50\n", "", `ability[1].speed: want more than 0`},
		{"abilities.toml", `throws = "GooRocket"`, "throws = \"GooRocket\"\nspeed = 3",
			"abilities.toml:55: ability[3].speed: want none"},
		{"abilities.toml", "cooldown_ms = 1000", "cooldown_ms = 400",
			"abilities.toml:27: ability[1].cooldown_ms: want at least active_ms"},
		{"abilities.toml", "impact_ms = 100", "impact_ms = 1000",
			"abilities.toml:70: ability[4].impact_ms: want less than period_ms"},
		{"abilities.toml", "clip = 80", "clip = 80\ncone_degrees = 1",
			"abilities.toml:14: ability[0].cone_degrees: want 0"},
		{"abilities.toml", "reload_ms = 1500", "reload_ms = 499",
			"abilities.toml:14: ability[0].reload_ms: want at least the time"},
		{"abilities.toml", "clip = 80", "clip = 80\ndamage = 1",
			"abilities.toml:14: ability[0].damage: unknown key"},
		{"abilities.toml", `interrupts = ["sprint"]`, `interrupts = ["run"]`,
			`abilities.toml:65: ability[4].interrupts: "run", want the name`},
		{"abilities.toml", `kind = "gun"`, `kind = "gnu"`,
			`abilities.toml:6: ability[0].kind: "gnu", want movement, dead`},
		{"abilities.toml", `kind = "dead"`, `kind = "movement"`,
			"hero[0].abilities: hero terraformer: slots[6] \"dead\": the hero has two of its Kind"},
		{"abilities.toml", `keys = ["primary"]`, `keys = ["primary", "primary"]`,
			"abilities.toml:7: ability[0].keys: a list of 2, want jump, ability1"},
		{"projectiles.toml", "falloff_start_m = 1", "falloff_start_m = 6",
			"projectiles.toml:27: projectile[1].splash.falloff_start_m: want at most radius_m"},
		{"projectiles.toml", "min_damage = 0", "min_damage = 41",
			"projectiles.toml:29: projectile[1].splash.min_damage: want at most damage"},
		{"projectiles.toml", "min_impulse = 0", "min_impulse = 16",
			"projectile[1].splash.min_impulse: want at most impulse"},
		{"projectiles.toml", `name = "Grenade"`, `name = "Rivet"`, `grenade[0].name: "Rivet" twice`},
		{"objects.toml", "height_m = 0.9", "height_m = 0.5",
			"objects.toml:4: barrel.height_m: want at least twice"},
		{"objects.toml", "[cube]", "[barrel]", "objects.toml:16: "},
		{"modes.toml", "[[mode]]", "[cube]\nedge_m = 1\n[[mode]]", "cube: in more than one file"},
		{"modes.toml", "points = 3", "points = 2",
			`maps.toml:18: map[0].point: 3 capture points, want the 2 of mode "assault"`},
		{"modes.toml", "respawn_ms = 10000\npoints", "respawn_ms = 10000\nscore_limit = 3\npoints",
			"modes.toml:10: mode[0].score_limit: unknown key"},
		{"effects.toml", `name = "punch"`, `name = "goo shot"`, `effects.toml:114: effect[9].name: "goo shot" twice`},
		{"effects.toml", `kind = "hitscan"`, `kind = "beam"`,
			`effects.toml:6: effect[0].kind: "beam", want spatial, hitscan`},
		{"effects.toml", `kind = "hitscan"`, `kind = "spatial"`,
			"effects.toml:16: effect[0].look.speed: want 0 unless kind is hitscan"},
		{"effects.toml", `image = "spark"`, `image = "sparks"`,
			`effects.toml:10: effect[0].look.image: "sparks", want the name of an [[asset]] that clients have`},
		{"effects.toml", `color = "ffd27f"`, `color = "orange"`,
			`effects.toml:11: effect[0].look.color: "orange", want rrggbb`},
		{"abilities.toml", `effect = "rifle round"`, `effect = "rifle"`,
			`abilities.toml:46: ability[2].effect: "rifle", want the name of an [[effect]] of kind hitscan`},
		{"abilities.toml", `effect = "rivet shot"`, `effect = "rifle round"`,
			`abilities.toml:15: ability[0].effect: "rifle round", want the name of an [[effect]] of kind spatial`},
		{"abilities.toml", `kind = "sprint"`, "kind = \"sprint\"\neffect = \"punch\"", "ability[5].effect: unknown key"},
		{"projectiles.toml", `impact = "rivet impact"`, `explosion = "goo explosion"`,
			"projectiles.toml:12: projectile[0].explosion: want it left out where the splash radius is 0"},
		{"projectiles.toml", `impact = "rivet impact"`, `impact = "bang"`,
			`projectiles.toml:12: projectile[0].impact: "bang", want the name of an [[effect]]`},
		{"projectiles.toml", `explosion = "grenade explosion"`, `explosion = "bang"`,
			`grenade[0].explosion: "bang", want the name of an [[effect]] of kind spatial`},
		{"objects.toml", `explosion = "barrel explosion"`, `explosion = "bang"`,
			`objects.toml:5: barrel.explosion: "bang", want the name of an [[effect]] of kind spatial`},
		{"maps.toml", `modes = ["assault", "deathmatch"]`, `modes = ["assault", "football"]`,
			`maps.toml:8: map[0].modes: "football", want the name of a row of [[mode]]`},
		{"maps.toml", `arena = "arena-16"`, `arena = "/etc/passwd"`,
			`maps.toml:7: map[0].arena: "/etc/passwd", want gen:PLAYERS:SEED, an asset, or arena-1024`},
		{"maps.toml", `arena = "arena-16"`, `arena = "gen:x"`,
			`map[0].arena: "gen:x", want gen:PLAYERS:SEED`},
		{"maps.toml", `arena = "arena-16"`, `arena = "gen:16:7"`, ""},
		{"maps.toml", `arena = "arena-16"`, `arena = "crosshair"`, `asset "crosshair" is for one side`},
		{"maps.toml", `kind = "burning"`, `kind = "wet"`, `.kind: "wet", want the name of a row of [[area]]`},
		{"maps.toml", "box_m = [-14, 0", "box_m = [14, 0",
			"maps.toml:12: map[0].home[0].box_m: a list of 6, want six numbers, a corner below the other"},
		{"maps.toml", `name = "B"`, `name = "A"`, `map[0].point[1].name: "A" twice`},
		{"pack.toml", `"modes.toml", `, "", "pack.toml: mode: missing, want at least one [[mode]]"},
		{"pack.toml", `"modes.toml", `, `"modes.toml", "modes.toml", `,
			`pack.toml:5: files: "modes.toml" twice`},
		{"pack.toml", `"modes.toml", `, `"nodes.toml", `, `pack.toml:5: files: "nodes.toml": no such file`},
		{"pack.toml", `"modes.toml", `, `"../modes.toml", `,
			`pack.toml:5: files: "../modes.toml", want a path`},
		{"pack.toml", "format = 1", "format = 2", "pack.toml:3: format: 2, want a whole number 1 to 1"},
		{"pack.toml", "format = 1", "format = 1\nformat = 1", "pack.toml:4: "},
		{"pack.toml", "format = 1", "format = = 1", "pack.toml:3: "},
		{"pack.toml", "format = 1", "format = 1\na.b.c.d.e.f.g.h.i.j = 1",
			"pack.toml:4: a.b.c.d.e.f.g.h.i: deeper than 8 keys"},
	} {
		_, err := Load(with(files(), c.file, c.old, c.new))
		if c.want == "" {
			if err == nil {
				continue
			}
			t.Errorf("%d: %v", i, err)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
	if _, err := Load(fstest.MapFS{}); err == nil || err.Error() != "pack.toml: no such file" {
		t.Errorf("an empty directory: %v", err)
	}
}

// Files that are expensive to read are refused quickly.
func TestRow15HostileFiles(t *testing.T) {
	const start = "format = 1\nname = \"x\"\n"
	for i, c := range []struct{ text, want string }{
		{strings.Repeat("#", maxFileBytes+1), "more than 256 KiB"},
		{"\xff\xfe", "not UTF-8"},
		{start + "a = " + strings.Repeat("[", 200000), "nested more than"},
		{start + "a = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "deeper than 8"},
		{start + "a = " + strings.Repeat("{a=", 60000), "nested more than"},
		{start + strings.Repeat("a.", 100000) + "a = 1", "deeper than 8 keys"},
		{start + "[" + strings.Repeat("a.", 100000) + "a]", "deeper than 8 keys"},
		{start + strings.Repeat("[[hero]]\n", 20000), "hero: a list of 20000, want at most 64 tables"},
		{start + strings.Repeat("k", 200000) + " = 1", "kkk...: unknown key"},
		{start + `files = ["` + strings.Repeat(`a.toml","`, 20000) + `"]`, "want a list of at most 32 names"},
		{start + "hero = 3", "hero: 3, want at most 64 tables"},
		{start + "hero = [3]", "hero[0]: 3, want a table"},
		{start + "rules = 3", "rules: 3, want a table"},
		{start + "\"\\u0000\" = 3", "unknown key"},
		{start + "\"\" = 3", "unknown key"},
	} {
		_, err := Load(fstest.MapFS{"pack.toml": {Data: []byte(c.text)}})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 2000 ||
			strings.Contains(err.Error(), "\n") {
			s := fmt.Sprint(err)
			t.Errorf("%d: %.300s, want %s", i, s, c.want)
		}
	}
}

// FuzzLoad reads any two files. A pack that loads equals the pack of its canonical text.
func FuzzLoad(f *testing.F) {
	p := Default()
	p.Assets = nil
	text := strings.Replace(string(p.Canonical(Both)), "name = ", "files = [\"b.toml\"]\nname = ", 1)
	f.Add(text, "")
	cut := strings.Index(text, "\n[[mode]]")
	f.Add(text[:cut], text[cut:])
	for _, file := range []string{"heroes", "abilities", "projectiles", "objects", "modes", "maps"} {
		b, err := embedded.ReadFile("default/" + file + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add("format = 1\nname = \"x\"\nfiles = [\"b.toml\"]\n", string(b))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for side := range Side(3) {
			p, err := LoadFor(fstest.MapFS{"pack.toml": {Data: []byte(a)}, "b.toml": {Data: []byte(b)}}, side)
			if err != nil {
				e := (*Error)(nil)
				if !errors.As(err, &e) || e.File == "" || strings.ContainsAny(err.Error(), "\n") ||
					len(err.Error()) > 4000 {
					t.Fatalf("error %q", err)
				}
				continue
			}
			again, err := LoadFor(fstest.MapFS{"pack.toml": {Data: p.Canonical(side)}}, side)
			if err != nil || again.Hash() != p.Hash() || again.Shared() != p.Shared() {
				t.Fatalf("side %v: %v\n%s", side, err, p.Canonical(side))
			}
			if _, err := p.Compile(128); err != nil {
				t.Fatal(err)
			}
		}
	})
}
