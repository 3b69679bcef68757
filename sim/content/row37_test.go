package content

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// TestThreat37HostileConfig: a damaged file of a pack is refused with its name and the line, on one
// line, whatever is in it.
func TestThreat37HostileConfig(t *testing.T) {
	const start = "format = 1\nname = \"x\"\n"
	for i, c := range []struct{ text, want string }{
		{start + "hero = \"<script>\"\n", "pack.toml:3: hero: "},
		{start + "\nname = \"again\"\n", "pack.toml:4"},
		{start + "x = \x00\n", "pack.toml:3"},
		{start + "[rules]\nround_seconds = 1e400\n", "pack.toml:4"},
		{start + "[rules\n", "pack.toml:3"},
		{"format = 99999999999999999999\n", "pack.toml:1"},
	} {
		_, err := Load(fstest.MapFS{"pack.toml": {Data: []byte(c.text)}})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
	}
}

// FuzzConfig reads any bytes as a pack. An error names a file, and a line if the file can be
// parsed; a pack that loads can be compiled, and equals the pack of its canonical text.
func FuzzConfig(f *testing.F) {
	p := Default()
	p.Assets = nil
	f.Add(p.Canonical(Both))
	f.Add([]byte("format = 1\nname = \"x\"\n"))
	f.Add([]byte("format = 1\nname = \"x\"\nhero = [{}]\n"))
	f.Add([]byte("format = 1\nname = \"\xff\"\n"))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Load(fstest.MapFS{"pack.toml": {Data: text}})
		if err != nil {
			e := (*Error)(nil)
			if !errors.As(err, &e) || e.File != "pack.toml" || e.Line < 0 ||
				e.Line > strings.Count(string(text), "\n")+1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if _, err := p.Compile(128); err != nil {
			t.Fatal(err)
		}
		if again, err := Load(fstest.MapFS{"pack.toml": {Data: p.Canonical(Both)}}); err != nil ||
			again.Hash() != p.Hash() {
			t.Fatalf("%v\n%s", err, p.Canonical(Both))
		}
	})
}
