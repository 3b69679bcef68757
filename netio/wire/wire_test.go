package wire

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// golden says what the golden datagrams of PROTOCOL.md mean; their bytes are read from there.
var golden = []struct {
	name  string
	value interface{ Append([]byte) []byte }
}{
	{"hello", &Hello{Version: 1, Nonce: 0x0102030405060708, Schema: 0x1112131415161718, Model: 0x2122232425262728, Arena: count(0xa0)}},
	{"challenge", &Challenge{Nonce: 0x0102030405060708, Cookie: cookie(0xc0)}},
	{"response", &Response{Nonce: 0x0102030405060708, Cookie: cookie(0xc0), Name: []byte("Adá")}},
	{"response without a name", &Response{Nonce: 0x0102030405060708, Cookie: cookie(0xc0)}},
	{"accept", &Accept{Nonce: 0x0102030405060708, Token: 0x3132333435363738, Slot: 0x0102, NetID: 0x41424344, TickRate: 60,
		SendInterval: 3, Tick: 0x51525354, MaxPlayers: 1000, ArenaHash: count(0xa0), ArenaName: "arena-64"}},
	{"deny", &Deny{Nonce: 0x0102030405060708, Reason: ReasonFull}},
	{"payload", &Header{Token: 0x3132333435363738, Sequence: 0x0102, Ack: 0x0304, AckBits: 0x1112131415161718, SentAt: 0x0506, Echo: 0x0708}},
	{"disconnect", &Disconnect{Token: 0x3132333435363738, Reason: ReasonLeft}},
}

// document reads the golden datagrams of PROTOCOL.md: a name at the margin, its bytes below it, indented.
func document(t testing.TB) map[string][]byte {
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```golden\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("PROTOCOL.md has no block of golden datagrams")
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
		t.Fatalf("PROTOCOL.md has %d golden datagrams, want %d", len(all), len(golden))
	}
	return all
}

func count(first byte) (a [32]byte) {
	for i := range a {
		a[i] = first + byte(i)
	}
	return a
}

func cookie(first byte) (c Cookie) { a := count(first); copy(c[:], a[:]); return c }

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rewrite parses a datagram by its kind and writes it again.
func rewrite(src []byte) ([]byte, error) {
	switch KindOf(src) {
	case KindHello:
		v, err := ParseHello(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case KindChallenge:
		v, err := ParseChallenge(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case KindResponse:
		v, err := ParseResponse(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case KindAccept:
		v, err := ParseAccept(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case KindDeny:
		v, err := ParseDeny(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	case KindPayload:
		v, rest, err := ParseHeader(src)
		if err != nil {
			return nil, err
		}
		return append(v.Append(nil), rest...), nil
	case KindDisconnect:
		v, err := ParseDisconnect(src)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	}
	if len(src) == 0 {
		return nil, DropSize
	}
	return nil, DropKind
}

func TestGolden(t *testing.T) {
	doc := document(t)
	for _, g := range golden {
		want := doc[g.name]
		if got := g.value.Append([]byte("before")); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%s: wrote\n%x, the document says\n%x", g.name, got[6:], want)
		}
		if got, err := rewrite(want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: read and written again %x (%v), want %x", g.name, got, err, want)
		}
	}
}

// Every length but the right one is refused, and so is every other first byte.
func TestLengthsAndKinds(t *testing.T) {
	doc := document(t)
	for _, g := range golden {
		whole := doc[g.name]
		for n := range len(whole) {
			if got, err := rewrite(whole[:n]); err == nil {
				t.Errorf("%s cut to %d bytes was read as %x", g.name, n, got)
			} else if err != DropSize {
				t.Errorf("%s cut to %d bytes: %v, want size", g.name, n, err)
			}
		}
		if _, err := rewrite(append(bytes.Clone(whole), 0)); err != DropSize && KindOf(whole) != KindPayload {
			t.Errorf("%s with a byte more: %v, want size", g.name, err)
		}
	}
	if _, err := rewrite(append(bytes.Clone(doc["payload"]), make([]byte, MaxPayload)...)); err != nil {
		t.Errorf("a full payload: %v", err)
	}
	if _, err := rewrite(append(bytes.Clone(doc["payload"]), make([]byte, MaxPayload+1)...)); err != DropSize {
		t.Errorf("a payload of 1201 bytes: %v, want size", err)
	}
	parsers := map[Kind]func([]byte) error{
		KindHello:      func(b []byte) error { _, err := ParseHello(b); return err },
		KindChallenge:  func(b []byte) error { _, err := ParseChallenge(b); return err },
		KindResponse:   func(b []byte) error { _, err := ParseResponse(b); return err },
		KindAccept:     func(b []byte) error { _, err := ParseAccept(b); return err },
		KindDeny:       func(b []byte) error { _, err := ParseDeny(b); return err },
		KindPayload:    func(b []byte) error { _, _, err := ParseHeader(b); return err },
		KindDisconnect: func(b []byte) error { _, err := ParseDisconnect(b); return err },
	}
	for _, g := range golden {
		b := bytes.Clone(doc[g.name])
		want := KindOf(b)
		parse := parsers[want]
		for k := range 256 {
			b[0] = byte(k)
			if Kind(k) != want && parse(b) != DropKind {
				t.Errorf("%s as kind %d: %v, want kind", g.name, k, parse(b))
			}
		}
	}
}

func TestBadFields(t *testing.T) {
	const accept = "04 0807060504030201 3837363534333231 0201 44434241 3c 03 54535251 e803" +
		"0000000000000000000000000000000000000000000000000000000000000000"
	const hello = "01 544b5231 01 0807060504030201"
	const response = "03 0807060504030201 c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for i, c := range []struct {
		name, bytes string
		want        Drop
	}{
		0:  {"hello, magic", "01 544b5232 01" + zeros(122), DropMagic},
		1:  {"hello, version 0", "01 544b5231 00" + zeros(122), DropVersion},
		2:  {"hello, version 255", "01 544b5231 ff" + zeros(122), DropVersion},
		3:  {"hello, first byte of padding", hello + zeros(48) + "01" + zeros(65), DropPadding},
		4:  {"hello, last byte of padding", hello + zeros(48) + zeros(65) + "01", DropPadding},
		5:  {"response, name longer than it says", response + "00 41", DropSize},
		6:  {"response, name shorter than it says", response + "02 41", DropSize},
		7:  {"response, name of 33", response + "21" + strings.Repeat("41", 33), DropSize},
		8:  {"response, NUL", response + "01 00", DropText},
		9:  {"response, not UTF-8", response + "01 ff", DropText},
		10: {"response, half a rune", response + "01 c3", DropText},
		11: {"response, U+202E turns the line round", response + "03 e280ae", DropText},
		12: {"response, newline", response + "01 0a", DropText},
		13: {"response, DEL", response + "01 7f", DropText},
		14: {"response, U+0085 next line", response + "02 c285", DropText},
		15: {"response, surrogate", response + "03 eda080", DropText},
		16: {"accept, token 0", "04" + zeros(16) + "0201 44434241 3c 03 54535251 e803" + zeros(33), DropValue},
		17: {"accept, tick rate 0", "04" + zeros(8) + "3837363534333231 0201 44434241 00 03 54535251 e803" + zeros(33), DropValue},
		18: {"accept, interval 0", "04" + zeros(8) + "3837363534333231 0201 44434241 3c 00 54535251 e803" + zeros(33), DropValue},
		19: {"accept, arena of 65", accept + "41" + strings.Repeat("41", 65), DropSize},
		20: {"accept, arena longer than it says", accept + "01 4141", DropSize},
		21: {"accept, arena not text", accept + "01 1b", DropText},
		22: {"deny, reason 0", "05 0807060504030201 00", DropValue},
		23: {"deny, reason 255", "05 0807060504030201 ff", DropValue},
		24: {"disconnect, reason 0", "07 0807060504030201 00", DropValue},
		25: {"disconnect, reason 12", "07 0807060504030201 0c", DropValue},
		26: {"kind 0", "00" + zeros(127), DropKind},
		27: {"kind 8", "08" + zeros(127), DropKind},
		28: {"kind 255", "ff" + zeros(127), DropKind},
		29: {"nothing", "", DropSize},
	} {
		if _, err := rewrite(unhex(t, c.bytes)); err != c.want {
			t.Errorf("%d %s: %v, want %v", i, c.name, err, c.want)
		}
	}
	if h, err := ParseHello(unhex(t, "01 544b5231 02 0807060504030201"+strings.Repeat("ff", 114))); err != DropVersion || h.Nonce != 0x0102030405060708 {
		t.Errorf("hello of version 2: nonce %x, %v: its sender cannot be told", h.Nonce, err)
	}
}

// Names that look bad but are a matter of taste for whoever shows them.
func TestGoodText(t *testing.T) {
	for _, s := range []string{"", "<script>", "Ω mega", "日本", "a'b\"c", strings.Repeat("x", MaxName)} {
		r := Response{Name: []byte(s)}
		if got, err := ParseResponse(r.Append(nil)); err != nil || string(got.Name) != s {
			t.Errorf("name %q: %q, %v", s, got.Name, err)
		}
	}
}

func TestDropsAreNamed(t *testing.T) {
	names, texts := map[string]Drop{}, map[string]Drop{}
	for d := range NumDrops {
		if other, ok := names[d.String()]; ok || d.String() == "" {
			t.Errorf("drop %d: name %q, as %d", d, d, other)
		}
		if other, ok := texts[d.Error()]; ok || d.Error() == "" {
			t.Errorf("drop %d: text %q, as %d", d, d.Error(), other)
		}
		names[d.String()], texts[d.Error()] = d, d
	}
	if Drop(200).String() != "invalid" || Reason(200).String() != "unknown reason" {
		t.Error("a number out of range has no name")
	}
	for r := Reason(0); r <= lastReason; r++ {
		if (r.Drop() != DropNone) != (r >= ReasonFull && r <= ReasonClosing) || r.String() == "" {
			t.Errorf("reason %d %q counts as %v", r, r, r.Drop())
		}
	}
}

// The answer to an unproven address is at most 0.31 of what it sent (the goal of netcode 1.02's 333 to 1078 bytes).
func TestNoAmplification(t *testing.T) {
	for _, answer := range []int{ChallengeSize, DenySize} {
		if answer*100 > HelloSize*31 {
			t.Errorf("%d bytes answer %d", answer, HelloSize)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	buf, doc := make([]byte, 0, MaxDatagram), document(t)
	for _, g := range golden {
		b := doc[g.name]
		want := 0.0
		if KindOf(b) == KindAccept {
			want = 1 // the arena's name, once a session
		}
		if n := testing.AllocsPerRun(100, func() { buf = g.value.Append(buf[:0]) }); n != 0 {
			t.Errorf("write %s: %v allocations", g.name, n)
		}
		if n := testing.AllocsPerRun(100, func() { parseSink(b) }); n != want {
			t.Errorf("read %s: %v allocations, want %v", g.name, n, want)
		}
	}
}

// parseSink reads b with every parser; all but one refuse it.
func parseSink(b []byte) (n int) {
	for _, err := range [...]error{
		sinkErr(ParseHello(b)), sinkErr(ParseChallenge(b)), sinkErr(ParseResponse(b)), sinkErr(ParseAccept(b)),
		sinkErr(ParseDeny(b)), sinkErr(ParseDisconnect(b)),
	} {
		if err == nil {
			n++
		}
	}
	if _, _, err := ParseHeader(b); err == nil {
		n++
	}
	return n
}

func sinkErr[T any](_ T, err error) error { return err }

// What parses writes back to the same bytes, whatever it is; and nothing panics.
func FuzzRewrite(f *testing.F) {
	for _, b := range document(f) {
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(bytes.Clone(b), 0))
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, MaxDatagram+1))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := rewrite(src)
		if err == nil && !bytes.Equal(got, src) {
			t.Fatalf("%x was read and written as %x", src, got)
		}
		if d, ok := err.(Drop); err != nil && (!ok || d == DropNone || d >= NumDrops) {
			t.Fatalf("%x: %v is no reason", src, err)
		}
		if err == nil && parseSink(src) != 1 {
			t.Fatalf("%x is of %d kinds", src, parseSink(src))
		}
	})
}
