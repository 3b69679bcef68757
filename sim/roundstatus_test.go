package sim

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mode"
)

// Name PROTOCOL.md shows of a round is what is written and read.
func TestStandingPage(t *testing.T) {
	text, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```golden-round\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(block, "\n")
	if len(lines) != 5 || lines[0] != "news" || lines[2] != "standing" {
		t.Fatalf("the page shows %q", lines)
	}
	raw := func(line string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	n := RoundEvent{What: mode.PointCaptured, Point: 1, Tick: 1002, Value: 2}
	if got := n.Append(nil); !bytes.Equal(got, raw(lines[1])) {
		t.Errorf("news: wrote %x, the page says %s", got, lines[1])
	}
	if got, ok := ParseRoundEvent(raw(lines[1])); !ok || got != n {
		t.Errorf("news: read %+v, %v", got, ok)
	}
	s := RoundStatus{Phase: mode.Active, Winner: mode.NoWinner, Point: 1, Points: 3, Status: mode.Capturing,
		Round: 2, Progress: 0x8000,
		Left: 1800, Tick: 1002, Score: [2]int32{1, 0}, Players: [2]uint16{8, 7}}
	if got := s.Append(nil); !bytes.Equal(got, raw(lines[3])) {
		t.Errorf("standing: wrote %x, the page says %s", got, lines[3])
	}
	if got, ok := ParseRoundStatus(raw(lines[3])); !ok || got != s {
		t.Errorf("standing: read %+v, %v", got, ok)
	}
}

// Whatever a round can be goes over the wire and back.
func TestStandingRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.Uint8Range(0, mode.MaxPoints).Draw(t, "points")
		s := RoundStatus{
			Phase:  mode.Phase(rapid.Uint8Range(0, 2).Draw(t, "phase")),
			Winner: rapid.SampledFrom([]uint8{0, 1, mode.Tie, mode.NoWinner}).Draw(t, "winner"),
			Point:  rapid.Uint8Range(0, points).Draw(t, "point"), Points: points,
			Status:  mode.Status(rapid.Uint8Range(0, 3).Draw(t, "status")),
			Waiting: rapid.Bool().Draw(t, "waiting"), Round: rapid.Uint16().Draw(t, "round"),
			Progress: rapid.Uint16().Draw(t, "progress"),
			Left:     rapid.Uint32Range(0, maxLeft).Draw(t, "left"),
			Tick:     tick.Tick(rapid.Uint32().Draw(t, "tick")),
			Score:    [2]int32{rapid.Int32().Draw(t, "score"), rapid.Int32().Draw(t, "score")},
			Players:  [2]uint16{rapid.Uint16().Draw(t, "players"), rapid.Uint16().Draw(t, "players")},
		}
		if got, ok := ParseRoundStatus(s.Append(nil)); !ok || got != s {
			t.Fatalf("%+v, %v, want %+v", got, ok, s)
		}
	})
}

func TestStandingRefuses(t *testing.T) {
	s := RoundStatus{Winner: mode.NoWinner, Points: 3, Point: 3}
	good := s.Append(nil)
	with := func(at int, b byte) []byte { c := bytes.Clone(good); c[at] = b; return c }
	for i, bad := range [][]byte{nil, {TagRoundStatus}, good[:28], append(bytes.Clone(good), 0),
		with(0, 0x90), with(1, 3), with(1, 0x40), with(2, 2),
		with(3, 4), with(4, 9), with(4, 2), with(11, 0x11)} {
		if got, ok := ParseRoundStatus(bad); ok {
			t.Errorf("%d: %x was read as %+v", i, bad, got)
		}
	}
	n := RoundEvent{What: mode.RoundWon}
	good = n.Append(nil)
	for i, bad := range [][]byte{nil, {TagRoundEvent}, good[:11], append(bytes.Clone(good), 0), with(0, 0x91),
		with(1, 0), with(1, byte(mode.PlayerKilled)),
		with(1, byte(mode.AnnouncementKinds)), with(2, 2), with(3, 8)} {
		if got, ok := ParseRoundEvent(bad); ok {
			t.Errorf("%d: %x was read as %+v", i, bad, got)
		}
	}
}

// A message that is accepted, written again, gives the same bytes.
func FuzzParseRound(f *testing.F) {
	f.Add((&RoundStatus{Winner: mode.Tie, Points: 2, Left: 9}).Append(nil))
	f.Add((&RoundEvent{What: mode.RoundBegan, Value: 420}).Append(nil))
	f.Fuzz(func(t *testing.T, src []byte) {
		if s, ok := ParseRoundStatus(src); ok && !bytes.Equal(s.Append(nil), src) {
			t.Fatalf("%x was read as %+v", src, s)
		}
		if n, ok := ParseRoundEvent(src); ok && !bytes.Equal(n.Append(nil), src) {
			t.Fatalf("%x was read as %+v", src, n)
		}
	})
}

// The clock goes on from what was told, stands while players are missing, and never falls below 0.
func TestStandingSeconds(t *testing.T) {
	s := RoundStatus{Left: 121, Tick: 100}
	for _, c := range []struct {
		now  tick.Tick
		want uint32
	}{{0, 3}, {100, 3}, {101, 2}, {161, 1}, {220, 1}, {221, 0}, {5000, 0}} {
		if got := s.Seconds(c.now, 60); got != c.want {
			t.Errorf("at tick %d %d s are left, want %d", c.now, got, c.want)
		}
	}
	if s.Waiting = true; s.Seconds(5000, 60) != 3 {
		t.Error("the clock goes on while players are missing")
	}
}

// An arena has what the pack's map of its name has, or is bare ground.
func TestGameOn(t *testing.T) {
	p := content.Default()
	for _, c := range []struct {
		ground, mode string
		points       int
		says         []string // of an error
	}{
		{"arena-16", "assault", 3, nil},
		{"arena-16", "deathmatch", 3, nil},
		{"gen:8:1", "deathmatch", 0, nil},
		{"gen:8:1", "assault", 0, nil}, // Game.OnArena places them
		{"arena-16", "chess", 0, []string{`"chess"`, "assault", "deathmatch"}},
	} {
		g, err := GameForArena(p, c.ground, c.mode)
		if (err == nil) != (c.says == nil) {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%+v: %v does not name %s", c, err, word)
			}
		}
		if err != nil {
			continue
		}
		if _, err := (Rules{Game: g}).Compile(); err != nil || len(g.Layout.Points) != c.points ||
			g.Pack != p.Shared() || g.Mode.Name != c.mode {
			t.Errorf("%+v: %d points, %s, %v", c, len(g.Layout.Points), g.Mode.Name, err)
		}
	}
}

// The round status of a match is its mode's state.
func TestMatchStanding(t *testing.T) {
	g, err := GameForArena(content.Default(), "arena-16", "assault")
	if err != nil {
		t.Fatal(err)
	}
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	m := New(4, Rules{Game: g}, ground)
	m.Mode().Progress = m.Game().Mode.CaptureTotal() / 2
	m.Join()
	m.Step()
	s := m.RoundStatus()
	if s.Points != 3 || s.Point != 0 || !s.Waiting || s.Winner != mode.NoWinner || s.Tick != 1 ||
		s.Left != 600 || s.Players != [2]uint16{1, 0} ||
		s.Progress < 32766 || s.Progress > 32768 {
		t.Errorf("%+v", s)
	}
}
