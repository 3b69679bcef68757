package protocol

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/netio/packet"
)

// golden has the values of the golden packets of PROTOCOL.md, whose bytes are read from there.
var golden = []struct {
	name  string
	value interface{ Append([]byte) []byte }
}{
	{"header", &packet.Header{Sequence: 0x0102, Ack: 0x0304, AckBits: 0x1112131415161718, SentAt: 0x0506,
		Echo: 0x0708}},
	{"welcome", goldenWelcome("arena-64")},
	{"welcome without a name", goldenWelcome("")},
	{"welcome with content", goldenContent("arena-64")},
	{"ready", &Ready{Version: 6, Schema: 0x1112131415161718, Model: 0x2122232425262728}},
	{"fetch", &Fetch{ContentArena}},
	{"content transfer", &ContentTransfer{Content: ContentModel, Compression: 1, Size: 0x01020304,
		Compressed: []byte{0xb0, 0xb1, 0xb2}}},
	{"ready with a name", &Ready{Version: 6, Schema: 0x1112131415161718, Model: 0x2122232425262728,
		Name: "Zoë"}},
}

func goldenContent(arena string) *Welcome {
	w := goldenWelcome(arena)
	w.Content, w.Mode = count(0xc0), "assault"
	return w
}

func goldenWelcome(arena string) *Welcome {
	return &Welcome{Version: 6, Schema: 0x1112131415161718, Model: 0x2122232425262728, NetID: 0x41424344,
		TickRate:     60,
		SendInterval: 3, Tick: 0x51525354, MaxPlayers: 1000, ArenaHash: count(0xa0), ArenaName: arena}
}

// document reads the golden packets of PROTOCOL.md: a name at the margin, its bytes below it,
// indented.
func document(t testing.TB) map[string][]byte {
	text, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```golden-packets\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("PROTOCOL.md has no block golden-packets")
	}
	all, name := map[string][]byte{}, ""
	for line := range strings.Lines(block) {
		if line[0] != ' ' {
			name = strings.TrimSpace(line)
			continue
		}
		all[name] = append(all[name], unhex(t, strings.TrimSpace(line))...)
	}
	if len(all) != len(golden) {
		t.Fatalf("PROTOCOL.md has %d golden packets, want %d", len(all), len(golden))
	}
	return all
}

func count(first byte) (a [32]byte) {
	for i := range a {
		a[i] = first + byte(i)
	}
	return a
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rewrite parses the bytes under a name of the document and writes them again.
func rewrite(name string, src []byte) ([]byte, error) {
	switch {
	case name == "header":
		v, rest, err := packet.ParseHeader(src)
		if err != nil {
			return nil, err
		}
		return append(v.Append(nil), rest...), nil
	case strings.HasPrefix(name, "ready"):
		v, err := ParseReady(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case name == "fetch":
		v, err := ParseFetch(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case name == "content transfer":
		v, err := ParseContentTransfer(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	}
	v, err := ParseWelcome(src)
	if err != nil {
		return nil, err
	}
	return v.Append(nil), nil
}

func TestGolden(t *testing.T) {
	doc := document(t)
	for _, g := range golden {
		want := doc[g.name]
		if got := g.value.Append([]byte("before")); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%s: wrote\n%x, the document says\n%x", g.name, got[6:], want)
		}
		if got, err := rewrite(g.name, want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: read and written again %x (%v), want %x", g.name, got, err, want)
		}
	}
}

// A decoder by the offsets of the document alone finds the values of the table above.
func TestGoldenByHand(t *testing.T) {
	doc := document(t)
	number := func(b []byte, at, size int) (n uint64) {
		for i := range size {
			n |= uint64(b[at+i]) << (8 * i)
		}
		return n
	}
	for i, c := range []struct {
		name     string
		at, size int
		want     uint64
	}{
		0:  {"header", 0, 2, 0x0102},
		1:  {"header", 2, 2, 0x0304},
		2:  {"header", 4, 8, 0x1112131415161718},
		3:  {"header", 12, 2, 0x0506},
		4:  {"header", 14, 2, 0x0708},
		5:  {"welcome", 0, 1, 0xf1},
		6:  {"welcome", 1, 1, 6},
		7:  {"welcome", 2, 8, 0x1112131415161718},
		8:  {"welcome", 10, 8, 0x2122232425262728},
		9:  {"welcome", 18, 4, 0x41424344},
		10: {"welcome", 22, 1, 60},
		11: {"welcome", 23, 1, 3},
		12: {"welcome", 24, 4, 0x51525354},
		13: {"welcome", 28, 2, 1000},
		14: {"welcome", 30, 8, 0xa7a6a5a4a3a2a1a0},
		15: {"welcome", 54, 8, 0xbfbebdbcbbbab9b8},
		16: {"welcome", 62, 1, 8},
		17: {"welcome", 63, 8, 0x34362d616e657261}, // "arena-64"
		18: {"welcome without a name", 62, 1, 0},
		19: {"ready", 0, 1, 0xf2},
		20: {"ready", 1, 1, 6},
		21: {"ready", 2, 8, 0x1112131415161718},
		22: {"ready", 10, 8, 0x2122232425262728},
		23: {"fetch", 0, 1, 0xf4},
		24: {"fetch", 1, 1, 2},
		25: {"content transfer", 0, 1, 1},
		26: {"content transfer", 1, 1, 1},
		27: {"content transfer", 2, 4, 0x01020304},
		28: {"content transfer", 6, 3, 0xb2b1b0},
		29: {"ready with a name", 18, 4, 0xabc36f5a}, // "Zoë"
		30: {"welcome with content", 71, 8, 0xc7c6c5c4c3c2c1c0},
		31: {"welcome with content", 95, 8, 0xdfdedddcdbdad9d8},
		32: {"welcome with content", 103, 1, 7},
		33: {"welcome with content", 104, 7, 0x746c7561737361}, // "assault"
	} {
		if got := number(doc[c.name], c.at, c.size); got != c.want {
			t.Errorf("%d %s: %d bytes at %d are %x, want %x", i, c.name, c.size, c.at, got, c.want)
		}
	}
	for name, size := range map[string]int{"header": 16, "welcome": 71, "welcome with content": 111,
		"welcome without a name": 63, "ready": 18, "ready with a name": 22,
		"fetch": 2, "content transfer": 9} {
		if len(doc[name]) != size {
			t.Errorf("%s has %d bytes, want %d", name, len(doc[name]), size)
		}
	}
}

// Every wrong length and tag is refused. A header accepts any sections that fit.
func TestLengthsAndTags(t *testing.T) {
	doc := document(t)
	for _, g := range golden {
		if g.name == "content transfer" { // no reliable message, see TestContentTransfers
			continue
		}
		whole, want := doc[g.name], packet.DropMessage
		if g.name == "header" {
			want = packet.DropSize
		}
		shortest := len(whole) // of what a name may make longer
		if strings.HasPrefix(g.name, "ready") {
			shortest = ReadySize
		}
		for n := range shortest {
			if g.name == "welcome with content" && n == len(doc["welcome"]) {
				continue // that is a whole one without
			}
			if got, err := rewrite(g.name, whole[:n]); err != want {
				t.Errorf("%s cut to %d bytes: %x, %v, want %v", g.name, n, got, err, want)
			}
		}
		if g.name == "header" {
			continue
		}
		for n := 1; n < 300; n++ {
			if shortest == ReadySize && len(whole)+n <= MaxReady {
				continue
			}
			if got, err := rewrite(g.name,
				append(bytes.Clone(whole), make([]byte, n)...)); err != packet.DropMessage {
				t.Errorf("%s with %d bytes more: %x, %v, want reliable messages", g.name, n, got, err)
			}
		}
		for tag := range 256 {
			b := bytes.Clone(whole)
			b[0] = byte(tag)
			if _, err := rewrite(g.name, b); byte(tag) != whole[0] && err != packet.DropMessage {
				t.Errorf("%s with tag %d: %v, want reliable messages", g.name, tag, err)
			}
		}
	}
	for i, c := range []struct {
		sections int
		want     error
	}{{0, nil}, {packet.MaxSectionBytes, nil}, {packet.MaxSectionBytes + 1, packet.DropSize},
		{65_507, packet.DropSize}} {
		_, rest, err := packet.ParseHeader(append(bytes.Clone(doc["header"]), make([]byte, c.sections)...))
		if err != c.want || err == nil && len(rest) != c.sections {
			t.Errorf("%d: header and %d bytes: %d remain, %v, want %v", i, c.sections, len(rest), err, c.want)
		}
	}
}

// A Welcome holds arena names of every valid length, and no other.
func TestWelcomeOfEveryLength(t *testing.T) {
	for n := range MaxArenaName + 1 {
		w := *goldenWelcome(strings.Repeat("x", n))
		b := w.Append(nil)
		if got, err := ParseWelcome(b); err != nil || got != w || len(b) != MinWelcome+n ||
			len(b) > MaxWelcome {
			t.Errorf("name of %d bytes: %d bytes, read as %+v, %v", n, len(b), got, err)
		}
	}
	for i, name := range []string{strings.Repeat("x", MaxArenaName+1), "a\nb", "\xff"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d: a Welcome to %q was written", i, name)
				}
			}()
			goldenWelcome(name).Append(nil)
		}()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d: a Welcome to mode %q was written", i, name)
				}
			}()
			w := goldenWelcome("")
			w.Mode = name
			w.Append(nil)
		}()
	}
}

// Another version is told apart from garbage by the version alone. A server reads a Ready of any
// version, because its answer names its own.
func TestOtherVersions(t *testing.T) {
	doc := document(t)
	for v := range 256 {
		b := bytes.Clone(doc["welcome"])
		b[1] = byte(v)
		for _, n := range []int{2, 3, 18, len(b) - 1, len(b)} {
			w, err := ParseWelcome(b[:n])
			if v != Version && (err != packet.DropVersion || w != Welcome{Version: byte(v)}) {
				t.Fatalf("version %d in %d bytes: %+v, %v", v, n, w, err)
			}
		}
		r := bytes.Clone(doc["ready"])
		r[1] = byte(v)
		if got, err := ParseReady(r); err != nil || got.Version != byte(v) ||
			got.Schema != 0x1112131415161718 {
			t.Fatalf("ready of version %d: %+v, %v", v, got, err)
		}
	}
	if ProtocolID != 0x7469636b72617406 || ProtocolID&0xff != Version {
		t.Errorf("protocol id %x does not name version %d", uint64(ProtocolID), Version)
	}
}

func TestBadFields(t *testing.T) {
	const welcome = "f1 06 1817161514131211 2827262524232221 44434241 3c 03 54535251 e803" +
		"0000000000000000000000000000000000000000000000000000000000000000"
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for i, c := range []struct {
		name, bytes string
		want        packet.Drop
	}{
		0: {"nothing", "", packet.DropMessage},
		1: {"a tag", "f1", packet.DropMessage},
		2: {"tag of a Ready", "f2 06" + zeros(61), packet.DropMessage},
		3: {"version 1", "f1 01" + zeros(61), packet.DropVersion},
		4: {"version 255 and no more", "f1 ff", packet.DropVersion},
		5: {"tick rate 0", "f1 06" + zeros(16) + "44434241 00 03 54535251 e803" + zeros(33),
			packet.DropMessage},
		6: {"interval 0", "f1 06" + zeros(16) + "44434241 3c 00 54535251 e803" + zeros(33),
			packet.DropMessage},
		7: {"zeros but for rates and players",
			"f1 06" + zeros(20) + "01 01" + zeros(4) + "01 00" + zeros(33), packet.DropNone},
		8:  {"arena of 65", welcome + "41" + strings.Repeat("41", 65), packet.DropMessage},
		9:  {"arena of 255", welcome + "ff" + strings.Repeat("41", 255), packet.DropMessage},
		10: {"arena longer than it says", welcome + "01 4141", packet.DropMessage},
		11: {"arena shorter than it says", welcome + "02 41", packet.DropMessage},
		12: {"NUL", welcome + "01 00", packet.DropMessage},
		13: {"escape", welcome + "01 1b", packet.DropMessage},
		14: {"not UTF-8", welcome + "01 ff", packet.DropMessage},
		15: {"half a rune", welcome + "01 c3", packet.DropMessage},
		16: {"U+202E turns the line round", welcome + "03 e280ae", packet.DropMessage},
		17: {"newline", welcome + "01 0a", packet.DropMessage},
		18: {"DEL", welcome + "01 7f", packet.DropMessage},
		19: {"U+0085 next line", welcome + "02 c285", packet.DropMessage},
		20: {"surrogate", welcome + "03 eda080", packet.DropMessage},
		21: {"good", welcome + "04 4164c3a1", packet.DropNone},
		22: {"no players", "f1 06" + zeros(20) + "01 01" + zeros(39), packet.DropMessage},
		23: {"4096 players", "f1 06" + zeros(20) + "01 01" + zeros(4) + "00 10" + zeros(33), packet.DropNone},
		25: {"content without a mode", welcome + "00" + zeros(32), packet.DropMessage},
		26: {"content and a mode of no name", welcome + "00" + zeros(32) + "00", packet.DropMessage},
		27: {"content and a mode", welcome + "00" + zeros(32) + "01 41", packet.DropNone},
		28: {"mode longer than it says", welcome + "0141" + zeros(32) + "01 4141", packet.DropMessage},
		29: {"mode shorter than it says", welcome + "0141" + zeros(32) + "02 41", packet.DropMessage},
		30: {"mode of 65", welcome + "00" + zeros(32) + "41" + strings.Repeat("41", 65), packet.DropMessage},
		31: {"newline in a mode", welcome + "00" + zeros(32) + "01 0a", packet.DropMessage},
		24: {"4097 players", "f1 06" + zeros(20) + "01 01" + zeros(4) + "01 10" + zeros(33),
			packet.DropMessage},
	} {
		_, err := ParseWelcome(unhex(t, c.bytes))
		if err == nil && c.want != packet.DropNone || err != nil && err != c.want {
			t.Errorf("%d %s: %v, want %v", i, c.name, err, c.want)
		}
	}
}

// Names that are unusual and valid.
func TestGoodText(t *testing.T) {
	longest := strings.Repeat("x", MaxArenaName)
	for _, s := range []string{"", "<script>", "Ω mega", "日本", "a'b\"c", longest} {
		if got, err := ParseWelcome(goldenWelcome(s).Append(nil)); err != nil || got.ArenaName != s {
			t.Errorf("name %q: %q, %v", s, got.ArenaName, err)
		}
	}
	if ValidText([]byte("four"), 3) || !ValidText([]byte("four"), 4) {
		t.Error("the limit does not hold")
	}
}

func TestNoAllocations(t *testing.T) {
	buf, doc := make([]byte, 0, packet.MaxPacketSize), document(t)
	for _, g := range golden {
		b := doc[g.name]
		const calls = 100
		want := 0.0
		if g.name == "welcome" {
			want = calls // the arena's name, once a session
		} else if g.name == "welcome with content" {
			want = 2 * calls // and the mode's
		}
		if n := alloctest.In(calls, func() { buf = g.value.Append(buf[:0]) }); n != 0 {
			t.Errorf("write %s: %v allocations", g.name, n)
		}
		if n := alloctest.In(calls, func() { parseSink(b) }); n != want {
			t.Errorf("read %s: %v allocations, want %v", g.name, n, want)
		}
	}
}

// parseSink reads b with every parser of a reliable message.
func parseSink(b []byte) (n int) {
	_, welcome := ParseWelcome(b)
	_, ready := ParseReady(b)
	_, fetch := ParseFetch(b)
	_, _, _ = packet.ParseHeader(b)
	_, _ = ParseContentTransfer(b)
	for _, err := range [...]error{welcome, ready, fetch} {
		if err == nil {
			n++
		}
	}
	return n
}

// Unknown content, a missing size and missing bytes are no Fetch and no ContentTransfer.
func TestContentTransfers(t *testing.T) {
	whole := document(t)["content transfer"]
	for n := range len(whole) + 20 {
		b := append(bytes.Clone(whole), make([]byte, 20)...)[:n]
		if p, err := ParseContentTransfer(b); (err == nil) != (n > ContentTransferHead) || err != nil &&
			err != packet.DropFragment || err == nil && len(p.Compressed) != n-ContentTransferHead {
			t.Errorf("%d bytes: %+v, %v", n, p, err)
		}
	}
	for c := range 256 {
		valid := c >= 1 && c <= 3
		b := bytes.Clone(whole)
		b[0] = byte(c)
		_, transfer := ParseContentTransfer(b)
		_, fetch := ParseFetch([]byte{MessageFetch, byte(c)})
		if (transfer == nil) != valid || (fetch == nil) != valid || (Content(c).String() == "?") == valid {
			t.Errorf("content %d: %v, %v", c, transfer, fetch)
		}
	}
	b := bytes.Clone(whole)
	copy(b[2:], []byte{0, 0, 0, 0})
	if _, err := ParseContentTransfer(b); err != packet.DropFragment {
		t.Errorf("size 0: %v", err)
	}
}

// checked fails unless an error is a Drop.
func checked(t *testing.T, src []byte, err error) {
	if d, ok := err.(packet.Drop); err != nil && (!ok || d == packet.DropNone || d >= packet.NumDrops) {
		t.Fatalf("%x: %v is no reason", src, err)
	}
}

// fuzzed tries any bytes as a message of the document: what parses writes back to the same bytes,
// is no other message, and nothing panics.
func fuzzed(f *testing.F, name string) {
	for _, b := range document(f) {
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(bytes.Clone(b), 0))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := rewrite(name, src)
		checked(t, src, err)
		if err == nil && !bytes.Equal(got, src) {
			t.Fatalf("%x was read and written as %x", src, got)
		}
		if err == nil && name != "header" && name != "content transfer" && parseSink(src) != 1 {
			t.Fatalf("%x is two reliable messages", src)
		}
	})
}

func FuzzHeader(f *testing.F)          { fuzzed(f, "header") }
func FuzzWelcome(f *testing.F)         { fuzzed(f, "welcome") }
func FuzzReady(f *testing.F)           { fuzzed(f, "ready") }
func FuzzFetch(f *testing.F)           { fuzzed(f, "fetch") }
func FuzzContentTransfer(f *testing.F) { fuzzed(f, "content transfer") }
