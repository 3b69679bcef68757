package netcode

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// restarted returns a server that has only the journal of the one before.
func restarted(t testing.TB, start byte, tokens int, unix int64, memory []byte) *Server {
	return newServer(t, func(c *ServerConfig) {
		c.Entropy[0], c.Clients, c.MaxTokens, c.StartUnix, c.Journal = start, 4, tokens, unix, memory
	})
}

// A server is killed during its sessions. The next one refuses the tokens of all of them, from any
// address, and accepts the others.
func TestThreat06JournalOutlivesTheServer(t *testing.T) {
	memory := make([]byte, 8*JournalRecord)
	before := restarted(t, 1, 8, testUnix, memory)
	token, asked := mint(t, 1, nil), mint(t, 2, nil)
	p := &pair{t: t, s: before, c: NewClient(token, ClientConfig{}), at: host(1)}
	p.step(time.Millisecond)
	if p.c.State() != Connected {
		t.Fatal(p.c.State())
	}
	if _, err := ask(before, 0, host(2), asked); err != nil { // but its response never came
		t.Fatal(err)
	}
	kept := bytes.Clone(memory)

	after := restarted(t, 2, 8, testUnix+5, kept)
	q := connected(t, after, 9)
	q.now = 5 * time.Second
	for _, from := range []int{1, 2} {
		q.refuse(host(from), request(token), DropReqTokenUsed)
	}
	if n, err := ask(after, q.now, host(3), asked); err != nil || n != 1 {
		t.Errorf("a token that had no session: %v, %d answers", err, n)
	}
	if before.globalSequence == after.globalSequence {
		t.Error("both starts count from the same number")
	}
	// A third start knows what either of them knew.
	third := restarted(t, 3, 8, testUnix+5, kept)
	r := connected(t, third, 7)
	r.refuse(host(1), request(token), DropReqTokenUsed)
	r.refuse(q.at, request(q.c.token.Append(nil)), DropReqTokenUsed)
}

// The record is written before the client can know of its session.
func TestJournalIsWrittenBeforeTheAccept(t *testing.T) {
	memory := make([]byte, 4*JournalRecord)
	s := restarted(t, 1, 4, testUnix, memory)
	d := respond(t, s, 0, 1, 1)
	if !bytes.Equal(memory, make([]byte, len(memory))) {
		t.Error("written before the response")
	}
	if e, err := s.Receive(0, testUnix, host(1), d, &Outbox{}); err != nil || e.Kind != EventConnected {
		t.Fatal(err)
	}
	v, _ := s.Session(0)
	tag, expire, ok := journal(memory).read(0)
	if !ok || tag != v.Token || expire != v.Expire || !bytes.Equal(memory[JournalRecord:],
		make([]byte, 3*JournalRecord)) {
		t.Errorf("record %x until %d, %v", tag, expire, ok)
	}
}

// For any part of a record that was written, over zeros or an older record, and any damaged byte:
// no token is refused but the one that it names.
func TestTornRecordsHaveNoEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	record := func(tag TokenTag, expire uint64) []byte {
		b := make([]byte, JournalRecord)
		journal(b).write(0, tag, expire)
		return b
	}
	says := func(b []byte) int {
		s := restarted(t, 1, 1, testUnix, bytes.Clone(b))
		return s.tokens.index.length
	}
	if says(make([]byte, JournalRecord)) != 0 || says(bytes.Repeat([]byte{0xff}, JournalRecord)) != 0 {
		t.Error("an empty record names a token")
	}
	for range 8 {
		var old, young TokenTag
		for i := range old {
			old[i], young[i] = byte(rng.Uint32()), byte(rng.Uint32())
		}
		whole := record(young, testUnix+45)
		if says(whole) != 1 {
			t.Fatal("a whole record names nothing")
		}
		for _, under := range [][]byte{make([]byte, JournalRecord), record(old, testUnix-1)} {
			for n := 1; n < JournalRecord; n++ {
				for _, torn := range [][]byte{append(bytes.Clone(whole[:n]), under[n:]...),
					append(bytes.Clone(under[:n]), whole[n:]...)} {
					if _, _, ok := journal(torn).read(0); ok && !bytes.Equal(torn, whole) &&
						!bytes.Equal(torn, under) {
						t.Fatalf("%d bytes of a record say something: %x", n, torn)
					}
				}
			}
		}
		for i := range whole {
			for by := 1; by < 256; by++ {
				b := bytes.Clone(whole)
				b[i] ^= byte(by)
				if _, _, ok := journal(b).read(0); ok {
					t.Fatalf("byte %d damaged by %x: not seen", i, by)
				}
			}
		}
	}
	// A server with damaged records accepts all tokens.
	memory := make([]byte, 8*JournalRecord)
	for i := range memory {
		memory[i] = byte(rng.Uint32())
	}
	s := restarted(t, 1, 8, testUnix, memory)
	for n := range 4 {
		connected(t, s, n)
	}
}

// A full journal refuses; when its tokens have expired, their records are used again.
func TestJournalFullAndReused(t *testing.T) {
	memory := make([]byte, 3*JournalRecord)
	s := restarted(t, 1, 3, testUnix, memory)
	var p *pair
	for n := range 3 {
		p = connected(t, s, n)
	}
	full := bytes.Clone(memory)
	p.refuse(host(5), request(mint(t, 5, nil)), DropTokenTable)
	again := restarted(t, 2, 3, testUnix+1, memory)
	if n, err := ask(again, 0, host(5), mint(t, 5, nil)); err != DropTokenTable || n != 0 ||
		!bytes.Equal(full, memory) {
		t.Errorf("after a restart: %v, %d answers", err, n)
	}
	for _, s := range []*Server{s, restarted(t, 3, 3, testUnix+45, memory)} {
		var out Outbox
		for at := 46 * time.Second; at < 48*time.Second; at += 50 * time.Millisecond {
			out.Reset()
			s.Update(at, testUnix+46, &out)
		}
		q := &pair{t: t, s: s, now: 48 * time.Second, at: host(7),
			c: NewClient(mint(t, 7, func(m *Mint) { m.Create, m.Expire = testUnix+46, testUnix+99 }),
				ClientConfig{})}
		if q.step(time.Millisecond); q.c.State() != Connected {
			t.Errorf("later: %v", q.c.State())
		}
	}
	if bytes.Equal(full, memory) {
		t.Error("no record was used again")
	}
}

// The journal of a server with more tokens is read by one with fewer, if they fit.
func TestJournalOfALargerServer(t *testing.T) {
	memory := make([]byte, 6*JournalRecord)
	var tags []TokenTag
	for i := range 6 {
		tag, expire := TokenTag{byte(i), 7}, uint64(testUnix+45)
		if i%2 == 0 {
			expire = testUnix - 45
		} else {
			tags = append(tags, tag)
		}
		journal(memory).write(i, tag, expire)
	}
	s := restarted(t, 1, 3, testUnix, memory)
	for _, tag := range tags {
		if e := s.tokens.find(tag); e == nil || !e.used {
			t.Errorf("%x is forgotten", tag)
		}
	}
	c := ServerConfig{PrivateKey: testKey, Addresses: []netip.AddrPort{testServer}, Entropy: [32]byte{1},
		Clients: 1, MaxTokens: 2, StartUnix: testUnix, Journal: memory}
	if _, err := NewServer(c); err == nil {
		t.Error("three in the room of two")
	}
}

func TestJournalConfig(t *testing.T) {
	for _, c := range []struct {
		name    string
		size    int
		started int64
		good    bool
	}{
		{"as many records as tokens", 4 * JournalRecord, testUnix, true},
		{"more", 9 * JournalRecord, testUnix, true},
		{"fewer", 3 * JournalRecord, testUnix, false},
		{"none", 0, testUnix, false},
		{"half a record", 4*JournalRecord + 16, testUnix, false},
		{"no time", 4 * JournalRecord, 0, false},
	} {
		_, err := NewServer(ServerConfig{PrivateKey: testKey, Addresses: []netip.AddrPort{testServer},
			Entropy: [32]byte{1}, Clients: 1,
			MaxTokens: 4, StartUnix: c.started, Journal: make([]byte, c.size)})
		if (err == nil) != c.good {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// tokenMap is what UsedTokens means, in the words of a map: every token that was seen and has not
// expired, and which are spent.
type tokenMap map[TokenTag]struct {
	expire uint64
	spent  bool
}

func (m tokenMap) valid(unix uint64) (n int) {
	for _, v := range m {
		if v.expire > unix {
			n++
		}
	}
	return n
}

// kept is how many tokens have not expired, or not yet been found to have.
func (u *UsedTokens) kept() int { return len(u.entries) - u.free }

// However often the server is killed, no valid token is forgotten, a used one is never taken for
// another, and none is refused while there is room for the configured number.
func TestUsedTokensAgreeWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 12).Draw(t, "capacity")
		memory := make(journal, (capacity+rapid.IntRange(0, 3).Draw(t, "more"))*JournalRecord)
		start := func(unix uint64) *UsedTokens {
			u, err := newUsedTokens(capacity, [2]uint64{rapid.Uint64().Draw(t, "seed"), 3}, memory, unix)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		unix, now := uint64(1000), time.Duration(0)
		u, twin := start(unix), tokenMap{}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			tag := TokenTag{byte(rapid.IntRange(0, 40).Draw(t, "token")), 1}
			// a tag is not used again when its token has long expired
			binary.LittleEndian.PutUint64(tag[8:], unix/20)
			v, seen := twin[tag]
			switch rapid.IntRange(0, 8).Draw(t, "do") {
			case 0, 1, 2, 3:
				if seen || u.find(tag) != nil {
					break
				}
				v.expire = unix + uint64(rapid.IntRange(1, 15).Draw(t, "lifetime"))
				room := twin.valid(unix) < capacity
				if e := u.add(tag, host(1), v.expire, unix); (e != nil) != room {
					t.Fatalf("%d of %d in use: taken %v", twin.valid(unix), capacity, e != nil)
				}
				if room {
					twin[tag] = v
				}
			case 4, 5, 6:
				if seen && v.expire > unix {
					u.markUsed(tag)
					v.spent = true
					twin[tag] = v
				}
			case 7:
				unix += uint64(rapid.IntRange(0, 9).Draw(t, "seconds"))
				now += time.Minute
				u.expired(now, unix)
			case 8: // killed: what was only seen is forgotten
				for tag, v := range twin {
					if !v.spent {
						delete(twin, tag)
					}
				}
				u = start(unix)
			}
			for tag, v := range twin {
				if e := u.find(tag); v.expire > unix && (e == nil || e.used != v.spent ||
					e.expire != v.expire) {
					t.Fatalf("%x until %d at %d, spent %v: %+v", tag[:2], v.expire, unix, v.spent, e)
				}
			}
			if u.kept() != twin.valid(unix) {
				t.Fatalf("%d kept, %d valid", u.kept(), twin.valid(unix))
			}
		}
	})
}

// A join allocates the same two ciphers with a journal as without, and a journal write nothing.
func TestJournalAllocatesNothing(t *testing.T) {
	u, err := newUsedTokens(64, [2]uint64{1, 2}, make(journal, 64*JournalRecord), 0)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	if allocs := alloctest.In(1000, func() {
		n++
		var tag TokenTag
		binary.LittleEndian.PutUint64(tag[:], n)
		if u.add(tag, host(1), n+5, n) == nil {
			t.Fatal("no room")
		}
		u.markUsed(tag)
		u.expired(time.Duration(n)*time.Second, n)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
