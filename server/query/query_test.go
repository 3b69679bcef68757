package query

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
)

var (
	here  = netip.MustParseAddrPort("198.51.100.7:4242")
	there = netip.MustParseAddrPort("203.0.113.9:4242")
)

// lobby returns the report of a lobby with a number of players.
func lobby(players int) *Report {
	r := &Report{
		Info: Info{Players: uint16(players), MaxPlayers: 4096, Name: "Ännchen's",
			Game: "deathmatch", Build: "1.2", Map: "arena-64", Port: 7913},
		Rules: []Rule{{"rate", Value{Type: Byte, Number: 60}}, {"mode", Words("assault")},
			{"seed", Value{Type: Ulong, Number: 1 << 60}}},
		Teams: Table{[]Field{{"team", Byte}, {"score", Uint}},
			[][]Value{{{Type: Byte}, Number(3)}, {{Type: Byte, Number: 1}, Number(70000)}}},
	}
	r.Chunks = AllChunks
	r.Players.Fields = []Field{{"name", Text}, {"team", Byte}, {"kills", Ushort}}
	r.Players.Rows = [][]Value{}
	for i := range players {
		r.Players.Rows = append(r.Players.Rows, []Value{Words(fmt.Sprintf("player %d", i)),
			{Type: Byte, Number: uint64(i % 2)}, {Type: Ushort, Number: uint64(i)}})
	}
	return r
}

func encodedOf(r *Report) *EncodedReport {
	s := new(EncodedReport)
	s.Fill(r)
	return s
}

func newResponder() *Responder { return NewResponder([4]uint64{1, 2, 3, 4}, Limits{}) }

// answers returns the answers of a responder to a datagram.
func answers(r *Responder, now time.Duration, from netip.AddrPort, datagram []byte,
	s *EncodedReport) (out [][]byte, why Drop) {
	why = r.Answer(now, from, datagram, s, func(d []byte) { out = append(out, bytes.Clone(d)) })
	return out, why
}

// asked runs a client against a responder. path has the round trip, and what the path does to a
// response.
func asked(t *testing.T, r *Responder, s *EncodedReport, chunks Chunks,
	path func([][]byte) [][]byte) (Report, *Client) {
	t.Helper()
	c := NewClient(chunks)
	now := 5 * time.Second
	for range 2 {
		out, why := answers(r, now, here, c.Send(now), s)
		if why != DropNone {
			t.Fatal(why)
		}
		now += 30 * time.Millisecond
		for _, d := range path(out) {
			_ = c.Receive(now, d)
		}
	}
	got, err := c.Report()
	if err != nil {
		t.Fatal(err)
	}
	return got, c
}

func straight(d [][]byte) [][]byte { return d }

// Row 61: a client gets every chunk of the report, in one datagram or several.
func TestRow61ClientGetsTheReport(t *testing.T) {
	for _, players := range []int{0, 1, 64, 4096} {
		want := lobby(players)
		got, c := asked(t, newResponder(), encodedOf(want), AllChunks, straight)
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("%d players: the report differs", players)
		}
		if c.RTT() != 30*time.Millisecond {
			t.Errorf("round trip %v, want 30 ms", c.RTT())
		}
	}
	for chunks := Chunks(1); chunks <= AllChunks; chunks++ {
		got, _ := asked(t, newResponder(), encodedOf(lobby(300)), chunks, straight)
		if got.Chunks != chunks {
			t.Errorf("asked for chunks %b, got %b", chunks, got.Chunks)
		}
	}
}

// Datagrams of a response come in any order, and twice.
func TestRow61PagesInAnyOrder(t *testing.T) {
	want, rng := lobby(2000), rand.New(rand.NewPCG(1, 2))
	pages := 0
	got, _ := asked(t, newResponder(), encodedOf(want), AllChunks, func(d [][]byte) [][]byte {
		pages = len(d)
		d = append(d, d...)
		rng.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
		return d
	})
	if pages < 10 || !reflect.DeepEqual(&got, want) {
		t.Errorf("of %d pages the report differs", pages)
	}
}

// The bytes of an info are those of the reference, counted by hand from its layout.
func TestRow61InfoOnTheWire(t *testing.T) {
	r := newResponder()
	s := encodedOf(&Report{Info: Info{Players: 2, MaxPlayers: 8, Name: "srv",
		Game: "dm", Build: "b1", Map: "m", Port: 7913}})
	challenge, _ := answers(r, 0, here, make([]byte, 5), s)
	token := challenge[0][1:]
	request := append(append([]byte{1}, token...), 0, 0, 1) // version 0, as the reference's client says
	got, why := answers(r, 0, here, request, s)
	want := "01" + hex.EncodeToString(token) + "0001" + "00" + "00" + "0016" + "00000012" +
		"0002" + "0008" + "03737276" + "02646d" + "026231" + "016d" + "1ee9"
	if why != DropNone || len(got) != 1 || hex.EncodeToString(got[0]) != want {
		t.Errorf("got  %x (%v)\nwant %s", got, why, want)
	}
}

// A token from another address, with a changed bit, or older than twenty seconds gets no answer.
func TestRow61TokensAreBoundAndExpire(t *testing.T) {
	s := encodedOf(lobby(3))
	token := func(r *Responder, now time.Duration, at netip.AddrPort) uint32 {
		out, _ := answers(r, now, at, appendChallenge(nil, 0), s)
		n, err := parseChallenge(out[0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, c := range []struct {
		minted, asked time.Duration
		from          netip.AddrPort
		flip          uint32
		want          Drop
	}{
		0: {0, 0, here, 0, DropNone},
		1: {0, TokenLife, here, 0, DropNone},
		2: {0, 2 * TokenLife, here, 0, DropToken},
		3: {TokenLife - 1, 2*TokenLife - 1, here, 0, DropNone},
		4: {TokenLife - 1, 2 * TokenLife, here, 0, DropToken},
		5: {0, 0, there, 0, DropToken},
		6: {0, 0, netip.AddrPortFrom(here.Addr(), here.Port()+1), 0, DropToken},
		7: {0, 0, here, 1, DropToken},
		8: {0, 0, here, 1 << 31, DropToken},
		// a dual-stack socket's name for it
		9: {0, 0, netip.AddrPortFrom(netip.AddrFrom16(here.Addr().As16()), here.Port()), 0, DropNone},
	} {
		r := newResponder()
		q := request{token(r, c.minted, here) ^ c.flip, AllChunks}.append(nil)
		out, why := answers(r, c.asked, c.from, q, s)
		if why != c.want || (why == DropNone) != (len(out) > 0) {
			t.Errorf("%d: %v and %d datagrams, want %v", i, why, len(out), c.want)
		}
	}
	// The token of another process, which has another key.
	other := NewResponder([4]uint64{9, 2, 3, 4}, Limits{})
	if _, why := answers(newResponder(), 0, here, request{token(other, 0, here), AllChunks}.append(nil),
		s); why != DropToken {
		t.Errorf("another key's token: %v", why)
	}
	// A second challenge from one address is answered as the first, which the reference does not.
	r := newResponder()
	if token(r, 0, here) != token(r, time.Second, here) {
		t.Error("two tokens of one address in one period")
	}
}

// Until it has shown its token, an address gets no more bytes than it sent.
func TestRow61NoAmplification(t *testing.T) {
	s := encodedOf(lobby(4096))
	rapid.Check(t, func(t *rapid.T) {
		r := newResponder()
		var in, out int
		for range rapid.IntRange(1, 50).Draw(t, "datagrams") {
			d := rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "datagram")
			if len(d) > 0 {
				d[0] &= 1
			}
			now := time.Duration(rapid.IntRange(0, 60).Draw(t, "second")) * time.Second
			if len(d) == RequestSize { // but not by luck
				var q request
				if q.parse(d) == nil && r.minter.good(now, there, q.token) {
					continue
				}
			}
			in += len(d)
			got, _ := answers(r, now, there, d, s)
			for _, g := range got {
				out += len(g)
			}
		}
		if out > in {
			t.Errorf("%d bytes in, %d out", in, out)
		}
		c := r.Counters()
		sum := c.Challenges + c.Answers
		for _, n := range c.Drops {
			sum += n
		}
		if sum != c.Received {
			t.Errorf("%d received, %d accounted for", c.Received, sum)
		}
	})
}

// A flood from one network or from all gets at most what the limits allow, and another network is
// still answered.
func TestRow61FloodIsBounded(t *testing.T) {
	s := encodedOf(lobby(4096))
	pages := uint64(s.packets(AllChunks))
	r := newResponder()
	q := request{r.minter.mint(0, here), AllChunks}.append(nil)
	for i := range 10000 {
		now := time.Duration(i) * time.Millisecond
		if i%1000 == 0 {
			q = request{r.minter.mint(now, here), AllChunks}.append(nil)
		}
		r.Answer(now, here, q, s, func([]byte) {})
		r.Answer(now, here, appendChallenge(nil, 0), s, func([]byte) {})
	}
	c := r.Counters()
	if most := uint64(10*128 + MaxPackets); c.Answers*pages > most || c.Answers < 10 {
		t.Errorf("%d answers of %d packets in 10 s, want 10 and at most %d packets", c.Answers, pages, most)
	}
	if c.Challenges > 10*64+64 {
		t.Errorf("%d challenges in 10 s", c.Challenges)
	}
	now := 10 * time.Second
	challenge, _ := answers(r, now, there, appendChallenge(nil, 0), s)
	token, err := parseChallenge(challenge[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, why := answers(r, now, there, request{token, ChunkInfo}.append(nil), s); why != DropNone {
		t.Errorf("another network in a flood: %v", why)
	}

	all := newResponder() // a botnet that owns its addresses
	for i := range 20000 {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(i >> 8), byte(i), 1, 1}), 9)
		all.Answer(time.Second, at, request{all.minter.mint(time.Second, at), AllChunks}.append(nil),
			s, func([]byte) {})
	}
	if c := all.Counters(); c.Packets > 1024 || c.Packets < 1024-2*pages || c.Drops[DropBudget] == 0 {
		t.Errorf("%d packets at once, want at most 1024", c.Packets)
	}
}

func TestAnswerAllocatesNothing(t *testing.T) {
	r, s := newResponder(), encodedOf(lobby(200))
	q := request{r.minter.mint(0, here), AllChunks}.append(nil)
	challenge, send, now := appendChallenge(nil, 0), func([]byte) {}, time.Duration(0)
	if n := alloctest.In(100, func() {
		now += 50 * time.Millisecond
		r.Answer(now, here, challenge, s, send)
		r.Answer(now, here, q, s, send)
		r.Answer(now, there, q, s, send)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c := r.Counters(); c.Answers == 0 || c.Drops[DropToken] == 0 {
		t.Error("nothing was tested")
	}
}

// Rows that do not fit are left out from the end. The counts are of the rows that are there, and
// Info has all.
func TestEncodedReportLeavesOutWhatDoesNotFit(t *testing.T) {
	r := lobby(4096)
	for i := range r.Players.Rows {
		r.Players.Rows[i][0] = Words(strings.Repeat("ä", 200))
	}
	for range 10000 {
		r.Rules = append(r.Rules, Rule{"again", Words("again")})
	}
	s := encodedOf(r)
	if n := s.packets(AllChunks); n != MaxPackets {
		t.Errorf("%d packets, want %d", n, MaxPackets)
	}
	c := newResponder()
	got, _ := asked(t, c, s, AllChunks, straight)
	if n := len(got.Players.Rows); n < 500 || n >= 4096 || got.Info.Players != 4096 ||
		len(got.Rules) > 4000 || len(got.Teams.Rows) != 2 {
		t.Errorf("%d players of %d, %d rules, %d teams", n, got.Info.Players,
			len(got.Rules), len(got.Teams.Rows))
	}
	if got.Players.Rows[0][0].Text != strings.Repeat("ä", 127) {
		t.Error("a long text is not cut between runes")
	}
}

// Pages are the stream cut into equal pieces.
func TestPagesAgreeWithTheStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := encodedOf(lobby(rapid.IntRange(0, 600).Draw(t, "players")))
		chunks := Chunks(rapid.IntRange(1, 255).Draw(t, "chunks"))
		var stream, pages []byte
		for i, c := range s.chunk {
			if chunks>>i&1 != 0 {
				stream = append(stream, c...)
			}
		}
		for i := range s.packets(chunks) {
			page := s.payload(nil, chunks, i)
			if len(page) != min(payloadSize, len(stream)-i*payloadSize) {
				t.Fatalf("page %d has %d bytes", i, len(page))
			}
			pages = append(pages, page...)
		}
		if !bytes.Equal(stream, pages) {
			t.Error("the pages are not the stream")
		}
	})
}

// A client repeats lost datagrams, and accepts only answers with its token.
func TestClientInsists(t *testing.T) {
	r, s := newResponder(), encodedOf(lobby(300))
	c := NewClient(ChunkInfo | ChunkPlayers)
	if c.Send(0) == nil || c.Send(retry-1) != nil {
		t.Error("the first challenge is sent once, at once")
	}
	again := c.Send(retry)
	out, _ := answers(r, retry, here, again, s)
	if c.Receive(retry, []byte("nonsense")) == nil {
		t.Error("nonsense is taken")
	}
	if err := c.Receive(retry+time.Millisecond, out[0]); err != nil {
		t.Fatal(err)
	}
	if c.Receive(retry, out[0]) == nil {
		t.Error("a second challenge is taken for a response")
	}
	out, _ = answers(r, retry, here, c.Send(retry), s)
	for i, d := range out {
		for _, at := range []int{0, 4, 8, 10} { // type, token, last, length
			if at == 8 && i == 0 { // nothing was said before that it could differ from
				continue
			}
			bad := bytes.Clone(d)
			bad[at] ^= 0x40
			if c.Receive(retry, bad) == nil {
				t.Errorf("page %d with byte %d changed is taken", i, at)
			}
		}
		if _, err := c.Report(); err != ErrUnanswered {
			t.Errorf("a report before page %d: %v", i, err)
		}
		if err := c.Receive(retry, d); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := c.Report(); err != nil || got.Chunks != ChunkInfo|ChunkPlayers ||
		len(got.Players.Rows) != 300 {
		t.Errorf("%v, %d players", err, len(got.Players.Rows))
	}
	if c.Send(time.Hour) != nil {
		t.Error("a client that has its answer asks on")
	}
}

// A server that has only an info, such as the reference, is understood when asked for all.
func TestClientTakesLessThanItAsked(t *testing.T) {
	full := encodedOf(lobby(5))
	r, err := ParseReport(full.chunk[0], AllChunks)
	if err != nil || r.Chunks != ChunkInfo || r.Info.Players != 5 {
		t.Errorf("%v %+v", err, r)
	}
}

// Vectors of the paper's authors: key 00 to 0f, messages 00, 00 01, ...
func TestSiphash(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	for n, want := range map[int]uint64{0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd,
		7: 0xab0200f58b01d137, 8: 0x93f5f5799a932462, 15: 0xa129ca6149be45e5} {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(i)
		}
		if got := siphash(key, src); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

func FuzzReport(f *testing.F) {
	s := encodedOf(lobby(3))
	f.Add(bytes.Join(s.chunk[:], nil), uint8(AllChunks))
	f.Add(s.chunk[2], uint8(ChunkPlayers))
	f.Fuzz(func(t *testing.T, src []byte, asked uint8) {
		r, err := ParseReport(src, Chunks(asked))
		if err != nil || r.Chunks != Chunks(asked)&AllChunks || len(src) > maxStream {
			return
		}
		var s EncodedReport
		s.Fill(&r)
		var back []byte
		for i := range s.packets(r.Chunks) {
			back = s.payload(back, r.Chunks, i)
		}
		if len(s.chunk[1]) < smallChunk && len(s.chunk[3]) < smallChunk && !bytes.Equal(back, src) {
			t.Errorf("written again it differs:\n%x\n%x", src, back)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	s := encodedOf(lobby(300))
	f.Add(appendChallenge(nil, 0), uint16(1))
	f.Add(request{newResponder().minter.mint(0, here), AllChunks}.append(nil), uint16(0))
	f.Fuzz(func(t *testing.T, d []byte, port uint16) {
		r := newResponder()
		from := netip.AddrPortFrom(here.Addr(), port)
		out, why := answers(r, 0, from, d, s)
		sum := 0
		for _, p := range out {
			sum += len(p)
		}
		var q request
		proven := q.parse(d) == nil && r.minter.good(0, from, q.token)
		if !proven && sum > len(d) || (why == DropNone) != (sum > 0) {
			t.Errorf("%d bytes in, %d out, %v", len(d), sum, why)
		}
	})
}

func FuzzClient(f *testing.F) {
	r, s := newResponder(), encodedOf(lobby(300))
	out, _ := answers(r, 0, here, appendChallenge(nil, 0), s)
	pages, _ := answers(r, 0, here, request{r.minter.mint(0, here), AllChunks}.append(nil), s)
	f.Add(out[0], pages[0], pages[1])
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		q := NewClient(AllChunks)
		q.Send(0)
		for _, d := range [][]byte{a, b, c} {
			_ = q.Receive(time.Millisecond, d)
		}
		if _, err := q.Report(); err == nil && !q.Done() {
			t.Error("a report of an answer that is not complete")
		}
	})
}
