package chat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/protocol"
)

// table is a lobby: slot 3 is empty, slot 6 is a spectator, slot 7 is muted.
func table() []Player {
	return []Player{
		{ID: 0x100, Name: "Ann"}, {ID: 0x101, Name: "Bob", Team: 1}, {ID: 0x102, Name: "Anna B"}, {},
		{ID: 0x104, Name: "bob", Team: 1}, {ID: 0x105, Name: "Zoë"},
		{ID: 0x106, Name: "Watcher", Team: -1}, {ID: 0x107, Name: "Mute", Muted: true},
	}
}

func newRoom() *Room {
	r := NewRoom(8, Limits{})
	r.Round(10 * time.Second)
	return r
}

// A change of the limit counts for players that have used theirs up, too.
func TestLimitChanges(t *testing.T) {
	r, players := newRoom(), table()
	said := func(at time.Duration) (n int) {
		for range 20 {
			if _, to := r.Post(at, players, 0, []byte("hello"), nil); len(to) > 1 {
				n++
			}
		}
		return n
	}
	if n := said(noon); n != 5 {
		t.Errorf("%d lines at once, want 5", n)
	}
	if r.SetEvery(10 * time.Second); said(noon+time.Millisecond) != 5 {
		t.Error("the new limit does not begin anew")
	}
	if n := said(noon + 21*time.Second); n != 2 {
		t.Errorf("%d lines in 20 s of 10 s each", n)
	}
	if r.SetEvery(100 * time.Millisecond); said(noon+22*time.Second) != 5 || said(noon+22500*time.Millisecond) != 5 {
		t.Error("half a second has no five lines of 100 ms")
	}
}

var noon = 75 * time.Second // 1:05 of the round

// Row 57: lines go to their recipients alone, with the text as it should be shown.
func TestRow57Routing(t *testing.T) {
	for i, c := range []struct {
		from  int
		line  string
		to    []int32
		shown string // to the first of them
	}{
		0: {0, "hello", []int32{0, 1, 2, 4, 5, 6, 7}, "[1:05] Ann: hello"},
		1: {0, "/all hello", []int32{0, 1, 2, 4, 5, 6, 7}, "[1:05] Ann: hello"},
		2: {1, "/team go  left", []int32{1, 4}, "[1:05] (team) Bob: go left"},
		3: {1, "/t go", []int32{1, 4}, "[1:05] (team) Bob: go"},
		4: {6, "/t psst", []int32{6}, "[1:05] (team) Watcher: psst"},
		5: {1, `/whisper "Anna B" hi there`, []int32{2, 1}, "[1:05] Bob whispers: hi there"},
		6: {1, `/w Ann hi`, []int32{0, 1}, "[1:05] Bob whispers: hi"}, // exactly, though Anna begins so too
		// exactly, though bob is called so too
		7:  {0, `/w Bob hi`, []int32{1, 0}, "[1:05] Ann whispers: hi"},
		8:  {0, `/w bob hi`, []int32{4, 0}, "[1:05] Ann whispers: hi"}, // likewise
		9:  {0, `/w zOË hi`, []int32{5, 0}, "[1:05] Ann whispers: hi"}, // upper and lower case
		10: {0, `/w wat hi`, []int32{6, 0}, "[1:05] Ann whispers: hi"}, // as much as tells it from others
		11: {0, `/w BOB hi`, []int32{0}, `[1:05] "BOB" may be Bob, bob: write more of the name`},
		12: {1, `/w an hi`, []int32{1}, `[1:05] "an" may be Ann, Anna B: write more of the name`},
		13: {0, `/w Carl hi`, []int32{0}, `[1:05] nobody is called "Carl"`},
		14: {0, `/w "Anna hi`, []int32{0},
			`[1:05] name a player: expected /whisper NAME TEXT or /whisper "NAME WITH SPACES" TEXT`},
		15: {0, `/w "" hi`, []int32{0},
			`[1:05] name a player: expected /whisper NAME TEXT or /whisper "NAME WITH SPACES" TEXT`},
		16: {0, `/w`, []int32{0},
			`[1:05] name a player: expected /whisper NAME TEXT or /whisper "NAME WITH SPACES" TEXT`},
		17: {0, `/w Bob`, []int32{0}, `[1:05] there is nothing to see in your line`},
		18: {0, `/w Ann hi`, []int32{0}, `[1:05] you are whispering to yourself`},
		19: {0, `/r hi`, []int32{0}, `[1:05] nobody has whispered to you`},
		20: {0, "/dance", []int32{0}, "[1:05] no such command: expected /all, /team, /whisper or /reply"},
		21: {0, " \u200b\u2800 \t", []int32{0}, "[1:05] there is nothing to see in your line"},
		22: {0, "/team", []int32{0}, "[1:05] there is nothing to see in your line"},
		23: {0, "\xff", []int32{0}, "[1:05] your line is not UTF-8"},
		24: {0, strings.Repeat("x", 257), []int32{0}, "[1:05] your line has 257 bytes: expected at most 256"},
		25: {7, "let me speak", []int32{7}, "[1:05] you are muted"},
		26: {0, strings.Repeat("x", 256), []int32{0, 1, 2, 4, 5, 6, 7},
			"[1:05] Ann: " + strings.Repeat("x", 256)},
		27: {3, "I am nobody", nil, ""},
		28: {-1, "I am nobody", nil, ""},
		29: {8, "I am nobody", nil, ""},
		30: {0, "it/t is", []int32{0, 1, 2, 4, 5, 6, 7}, "[1:05] Ann: it/t is"},
	} {
		r, players := newRoom(), table()
		m, to := r.Post(noon, players, c.from, []byte(c.line), nil)
		shown := ""
		if len(to) > 0 {
			shown = string(m.Append(nil, players[to[0]].ID))
		}
		if !slices.Equal(to, c.to) || shown != c.shown {
			t.Errorf("%d: %v %q\nwant %v %q", i, to, shown, c.to, c.shown)
		}
		refused := uint64(0)
		for _, n := range r.Refused() {
			refused += n
		}
		if (refused == 1) != (m.Kind == Notice) || m.Kind == Notice && r.Refused()[m.Refusal] != 1 {
			t.Errorf("%d: counted %v", i, r.Refused())
		}
	}
}

// Row 57: a reply goes to the sender of the last whisper, in whatever slot that player is, and
// never to a later player of that slot.
func TestRow57Reply(t *testing.T) {
	r, players := newRoom(), table()
	post := func(from int, line string) string {
		t.Helper()
		m, to := r.Post(noon, players, from, []byte(line), nil)
		return fmt.Sprint(to, string(m.Append(nil, players[from].ID)))
	}
	for i, c := range []struct {
		from       int
		line, want string
	}{
		0: {0, "/w Bob one", "[1 0][1:05] to Bob: one"},
		1: {1, "/r two", "[0 1][1:05] to Ann: two"},
		2: {2, "/w Bob three", "[1 2][1:05] to Bob: three"},
		3: {1, "/reply four", "[2 1][1:05] to Anna B: four"},
		4: {0, "/r five", "[1 0][1:05] to Bob: five"},
		5: {2, "/r again", "[1 2][1:05] to Bob: again"}, // Bob's own reply counts as a whisper
	} {
		if got := post(c.from, c.line); got != c.want {
			t.Errorf("%d: got %s, want %s", i, got, c.want)
		}
	}
	players[3], players[2] = players[2], Player{} // moves to another slot
	if got := post(1, "/r six"); got != "[3 1][1:05] to Anna B: six" {
		t.Error(got)
	}
	players[3] = Player{ID: 0x203, Name: "Anna B"} // another player of the same name
	if got := post(1, "/r seven"); got != "[1][1:05] who whispered to you has left" {
		t.Error(got)
	}
	players[1].ID = 0x201 // and another Bob has no memory of the one before
	if got := post(1, "/r eight"); got != "[1][1:05] nobody has whispered to you" {
		t.Error(got)
	}
}

// Row 57: five lines at once, then one in 1.5 s. A sender over the limit is told once, and other
// senders are not limited.
func TestRow57RateLimit(t *testing.T) {
	r, players := newRoom(), table()
	delivered, notices := 0, 0
	for ms := 0; ms < 60_000; ms += 10 {
		m, to := r.Post(time.Duration(ms)*time.Millisecond, players, 0, []byte("spam"), nil)
		switch {
		case len(to) == 7:
			delivered++
		case m.Kind == Notice && len(to) == 1 && to[0] == 0:
			if notices++; string(m.Text) != "you say too much: wait 2 s" {
				t.Errorf("%s", m.Text)
			}
		case len(to) != 0:
			t.Fatalf("%v to %v", m, to)
		}
	}
	if delivered < 5+38 || delivered > 5+40 || notices != 1 ||
		r.Refused()[RefusedRate] != uint64(6000-delivered) {
		t.Errorf("said %d in a minute, told %d times, %d refused", delivered,
			notices, r.Refused()[RefusedRate])
	}
	if _, to := r.Post(time.Minute, players, 1, []byte("hi"), nil); len(to) != 7 {
		t.Error("somebody else may not speak")
	}
	players[0].ID++
	if _, to := r.Post(time.Minute, players, 0, []byte("hi"), nil); len(to) != 7 {
		t.Error("the next player in the slot may not speak")
	}
	line := []byte("spam")
	for range 10 {
		r.Post(time.Minute, players, 0, line, nil)
	}
	if n := alloctest.In(100, func() { r.Post(time.Minute, players, 0, line, nil) }); n != 0 {
		t.Errorf("%v allocations for a line of a flood", n)
	}
}

func TestRow57Announcements(t *testing.T) {
	r, players := newRoom(), table()
	m, to := r.Announce(noon+time.Hour, players, "Bob  killed\nAnn", nil)
	if got := string(m.Append(nil, 1)); got != "[61:05] * Bob killed Ann" || len(to) != 7 {
		t.Errorf("%q to %v", got, to)
	}
	m, to = r.Announce(0, players, strings.Repeat("ä", 200), nil) // before the round
	if got := string(m.Append(nil, 1)); got != "[0:00] * "+strings.Repeat("ä", 128) || len(to) != 7 {
		t.Errorf("%q to %v", got, to)
	}
	if m, _ = r.Announce(0, players, strings.Repeat("\x80", 300), nil); len(m.Text) != 0 {
		t.Errorf("%q", m.Text)
	}
}

// Row 57: invisible and bidirectional characters are removed.
func TestRow57Clean(t *testing.T) {
	for i, c := range []struct{ in, want string }{
		0: {"  a \t\r\n b\u00a0\u3000 ", "a b"},
		1: {"a\u202eb\u2066c\u061cd", "abcd"},    // turn the direction
		2: {"a\u200b\u200d\ufeff\u2060b", "ab"},  // no width
		3: {"\x00\x1b[2Ja\x7f\u0085b", "[2Ja b"}, // control; U+0085 is a line's end
		4: {"\u3164\u115f\u2800", ""},            // look like spaces
		5: {"a\u0301\u0301\u0301\u0301b\u0301", "a\u0301\u0301b\u0301"},
		6: {"\u0301a \u0301b", "a b"},
		7: {"\U000e0041\ue000\U0010ffff", ""}, // tags, private use, none
		8: {"❤\ufe0f 👩\u200d🚀 日本 ẞ", "❤ 👩🚀 日本 ẞ"},
		9: {"<script>", "<script>"},
	} {
		if got, ok := Clean(nil, []byte(c.in)); !ok || string(got) != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	for in, want := range map[string]string{"  \"Ann\u202e\" ": "Ann",
		"a very long name indeed": "a very long name", "0123456789abcde f": "0123456789abcde",
		"\xff": "", strings.Repeat("ä", 300): strings.Repeat("ä", 16), "\u200b": ""} {
		if got := CleanName(in); got != want {
			t.Errorf("name %q became %q, want %q", in, got, want)
		}
	}
}

// slowFind is find, written for reading: exact names, else names that differ in case only, else
// names with that prefix.
func slowFind(players []Player, name string) (slots []int) {
	fold := func(s string) string {
		return strings.Map(func(r rune) rune { return []rune(strings.ToLower(string(r)))[0] }, s)
	}
	for _, fits := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return fold(s) == fold(name) },
		func(s string) bool { return strings.HasPrefix(fold(s), fold(name)) },
	} {
		for i, p := range players {
			if p.ID != 0 && fits(p.Name) {
				slots = append(slots, i)
			}
		}
		if len(slots) > 0 {
			return slots
		}
	}
	return nil
}

func TestFindAgreesWithItsTwin(t *testing.T) {
	name := rapid.StringOfN(rapid.RuneFrom([]rune("aAbBéÉ")), 1, 3, -1)
	rapid.Check(t, func(t *rapid.T) {
		players := make([]Player, rapid.IntRange(0, 6).Draw(t, "players"))
		for i := range players {
			players[i] = Player{ID: uint32(rapid.IntRange(0, 3).Draw(t, "id")), Name: name.Draw(t, "name")}
		}
		written := name.Draw(t, "written")
		slot, _, why := find(players, written)
		want := slowFind(players, written)
		if len(want) == 1 && (why != RefusedNone || slot != want[0]) ||
			len(want) == 0 && why != RefusedUnknown || len(want) > 1 && why != RefusedAmbiguous {
			t.Errorf("%q among %v: %d %v, want %v", written, players, slot, why, want)
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a b", "\u202e", "a\u0301\u200d\u0301\u0301", "\xff", " \u2800 "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		clean, ok := Clean(nil, text)
		if ok != utf8.Valid(text) || len(clean) > len(text) || !protocol.ValidText(clean, len(text)) ||
			bytes.Contains(clean, []byte("  ")) || len(bytes.TrimSpace(clean)) != len(clean) {
			t.Errorf("%q became %q", text, clean)
		}
		if again, _ := Clean(nil, clean); !bytes.Equal(again, clean) {
			t.Errorf("%q became %q and then %q", text, clean, again)
		}
		name := CleanName(string(text))
		if utf8.RuneCountInString(name) > MaxName || CleanName(name) != name ||
			!protocol.ValidText([]byte(name), 4*MaxName) {
			t.Errorf("name %q became %q", text, name)
		}
	})
}

// For any line, the text that goes out is clean and short, a refusal goes to the sender alone, and
// team lines stay in the team.
func FuzzPost(f *testing.F) {
	for _, s := range []string{"hi", "/t hi", `/w "Anna B" hi`, "/r hi", "/w an x", "/\u202e", "/w \" \" x"} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, line []byte, from uint8) {
		r, players := newRoom(), table()
		r.Post(noon, players, 1, []byte("/w Ann hi"), nil)
		m, to := r.Post(noon, players, int(from), line, nil)
		if len(m.Text) > MaxText || !protocol.ValidText(m.Text, MaxText) ||
			(m.Kind == Notice) != (m.Refusal != RefusedNone) {
			t.Fatalf("%q became %+v", line, m)
		}
		for _, slot := range to {
			p := players[slot]
			if p.ID == 0 || m.Kind == Notice && int(slot) != int(from) ||
				m.Kind == Team && p.Team != m.FromTeam ||
				m.Kind == Whisper && p.ID != m.From && p.ID != m.To {
				t.Errorf("%q went to slot %d as %+v", line, slot, m)
			}
		}
		if m.Kind == Notice && len(to) != 1 || m.Kind == Whisper && len(to) != 2 {
			t.Errorf("%q went to %v", line, to)
		}
	})
}
