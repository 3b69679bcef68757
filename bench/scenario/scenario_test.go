package scenario

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	names := Names()
	if len(names) < 5 {
		t.Fatalf("%d scenarios: %v", len(names), names)
	}
	for _, name := range names {
		s, ok := Named(name)
		if !ok || s.Name != name || s.About == "" || s.Check() != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s, _ := Named("one-lobby"); s.About == "" || s.Lobby != Default().Lobby || s.Rates != Default().Rates {
		t.Errorf("one-lobby is not the default: %+v", s)
	}
	if _, ok := Named("../doc"); ok {
		t.Error("a name opened a file of another folder")
	}
}

func TestParseRefuses(t *testing.T) {
	for i, c := range []struct{ text, want string }{
		{"[lobby]\nplayers = 0", "f.toml:2: lobby.players: expected 1 to 4096 players"},
		{"[lobby]\n\nplayers = \"ten\"", "f.toml:3: lobby.players: expected a whole number, got string"},
		{"[lobby]\nplayers = 3.5", "f.toml:2: lobby.players: expected a whole number, got float"},
		{"[lobby]\nplayers = 99999999999999999999", "f.toml:2: lobby.players: expected"},
		{"[lobby]\nspread = \"wide\"", "f.toml:2: lobby.spread: expected a number, got string"},
		{"[lobby]\nmap = 5", "f.toml:2: lobby.map: expected text in quotes, got integer"},
		{"[play]\ntraces = \"a.csv\"", "f.toml:2: play.traces: expected a list of texts, got string"},
		{"lobby = 5", "f.toml:1: lobby: expected a table of keys, got integer"},
		{"[lobby]\nplayers = 5\nplayers = 6", "f.toml:3: players: expected this key once"},
		{"[lobby]\nplayrs = 3", "f.toml:2: lobby.playrs: expected no such key: it is unknown"},
		{"[lobbies]\nplayers = 3", "f.toml:1: lobbies: expected no such key"},
		{"lobby.spread = 99", "f.toml:1: lobby.spread: expected 0.25 to 16"},
		{"lobby = { map = \"city\" }", `f.toml:1: lobby.map: expected "gen" or "town"`},
		{"[lobby]\nspectators = -1", "f.toml:2: lobby.spectators: expected 0 to 4096, and at most"},
		{"[lobby]\nplayers = 100\n\nspectators = 3997",
			"f.toml:4: lobby.spectators: expected 0 to 4096, and at most"},
		{"[lobby]\nplayers = 200\nlobbies = 100",
			"f.toml:3: lobby.lobbies: expected at most 4096 players in all"},
		{"[lobby]\nplayers = 100\nmost = 50", "f.toml:3: lobby.most: expected at least"},
		{"[rates]\ntick_hz = 145", "f.toml:2: rates.tick_hz: expected 20 to 144 Hz"},
		{"[rates]\nkbps = 3", "f.toml:2: rates.kbps: expected 16"},
		{"[network]\nlink = \"string\"", "f.toml:2: network.link: expected a profile"},
		{"[network]\nencryption = \"none\"", "f.toml:2: network.encryption: expected \"netcode-1.02\""},
		{"[process]\ngogc = 0", "f.toml:2: process.gogc: expected 1"},
		{"[measure]\nduration = 6", "f.toml:2: measure.duration: expected"},
		{"[measure]\nwarmup = \"soon\"",
			"f.toml:2: measure.warmup: expected another value (a duration such as \"2s\", got \"soon\")"},
		{"[measure]\nduration = \"100ms\"", "f.toml:2: measure.duration: expected 0.5s to 1h"},
		{"[play]\nhot_spot = nan", "f.toml:2: play.hot_spot: expected a share"},
		{"[play]\nseed = -1", "f.toml:2: play.seed: expected a whole number, 0 or more, got -1"},
		{"[lobby\nplayers = 3", "f.toml:1: expected TOML: "},
		{"[lobby]\nplayers = 3\nplayers = 4", "f.toml:3: "},
		{strings.Repeat("#", MaxBytes+1), "f.toml: expected at most 65536 bytes"},
	} {
		_, err := Parse("f.toml", []byte(c.text))
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: more than one line: %q", i, err)
		}
	}
}

func TestSizes(t *testing.T) {
	s, _ := Named("duels")
	if s.Total() != 20 || s.Size() != 2 || s.At(7).Total() != 70 || s.Every() != 2 {
		t.Errorf("duels: %+v", s)
	}
	s = Default()
	s.Lobby.Spread = 2.5
	if s.At(7).Lobby.Players != 7 || s.MapPlayers(100) != 250 || s.MapPlayers(4000) != MaxPlayers ||
		s.MapPlayers(0) != 2 || s.Every() != 3 {
		t.Errorf("%+v", s)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, _ := named.ReadFile("named/" + name + ".toml")
		f.Add(text)
	}
	f.Add([]byte("[a.b]\nc = { d = [1, {e = 2}] }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f.toml", text)
		if (err == nil) != (s.Check() == nil && s.Name != "") {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

// Each key of the file that is printed has a comment with its meaning, and its range if it has a rule.
func TestTextExplainsEveryKey(t *testing.T) {
	text, err := Default().Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("x.toml", text)
	again.Name, again.Play.Traces = Default().Name, Default().Play.Traces // an empty list for none
	if err != nil || !reflect.DeepEqual(again, Default()) {
		t.Errorf("the text reads as %+v, %v", again, err)
	}
	lines, keys := strings.Split(string(text), "\n"), 0
	for i, line := range lines {
		if !strings.Contains(line, " = ") || strings.HasPrefix(line, "#") {
			continue
		}
		if keys++; i == 0 || len(lines[i-1]) < len("# three words") || lines[i-1][0] != '#' {
			t.Errorf("%q has no comment", line)
		}
	}
	if keys < 35 {
		t.Errorf("%d keys", keys)
	}
	for _, r := range rules {
		if !strings.Contains(string(text), r.want) {
			t.Errorf("%s: the text does not say %q", r.key, r.want)
		}
	}
}
