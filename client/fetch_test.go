package client

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// mapFile returns an arena as a file.
func mapFile(t testing.TB, a *arena.Arena) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// transferOf returns a file as the transfer of an honest server.
func transferOf(what protocol.Content, file []byte) []byte {
	m, packed := dict.Pack(file)
	p := protocol.ContentTransfer{Content: what, Compression: uint8(m),
		Size: uint32(len(file)), Compressed: packed}
	return p.Append(nil)
}

// withoutContent makes a client that lacks the server's models and arena.
func (l *testServer) withoutContent(cfg *Config) {
	cfg.Fetch, cfg.Models = true, netstate.Untrained()
	cfg.Arena = func(string, [32]byte) (*arena.Arena, error) { return nil, nil }
}

// serveContent has the server answer each request with a transfer; nil for none.
func (l *testServer) serveContent(answer func(protocol.Content) []byte) {
	l.onRequest = func(g *serverConn, what protocol.Content) {
		if transfer := answer(what); transfer != nil {
			if err := g.peer.SendTransfer(transfer); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}

// contentFor returns the transfer of an honest server.
func (l *testServer) contentFor(what protocol.Content) []byte {
	if what == protocol.ContentModel {
		return transferOf(what, l.models.Append(nil))
	}
	return transferOf(what, mapFile(l.t, l.arena))
}

// contentSlowly is contentFor in more than one fragment.
func (l *testServer) contentSlowly(what protocol.Content) []byte {
	if what == protocol.ContentModel {
		return l.contentFor(what)
	}
	file := mapFile(l.t, l.arena)
	p := protocol.ContentTransfer{Content: what, Size: uint32(len(file)), Compressed: file}
	return p.Append(nil)
}

// Fetched content is verified, given to the application, and reused by the next client, which sends
// no request.
func TestFetchAndKeep(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 4})
	l.serveContent(l.contentSlowly)
	cfg := l.config()
	l.withoutContent(&cfg)
	var kept []Fetched
	cfg.Fetched = func(f Fetched) { kept = append(kept, f) }
	s := l.addClient(cfg, link{delay: 20 * time.Millisecond, loss: 0.2})
	seen := false
	s.afterFrame = func(_ time.Duration, s *testClient) {
		have, size := s.client.FetchProgress()
		seen = seen || have > 0 && have < size
	}
	l.run(4 * time.Second)
	if state, why := s.client.State(); state != Joined || len(kept) != 2 || s.client.Stats().Snapshots < 20 {
		t.Fatalf("%v, %v, %v, %d kept", state, why, s.client.Err(), len(kept))
	}
	if !seen || s.client.fetch.wants != 0 || s.client.Arena().Hash() != l.arena.Hash() {
		t.Error("nothing was ever half here, or is still wanted")
	}
	model, ground := kept[0], kept[1]
	if !bytes.Equal(model.File, l.models.Append(nil)) || !bytes.Equal(ground.File, mapFile(t, l.arena)) ||
		model.Models.Hash() != l.models.Hash() || ground.Arena.Hash() != l.arena.Hash() {
		t.Error("other files came than were sent")
	}
	l.onRequest = nil
	cfg = l.config()
	l.withoutContent(&cfg)
	cfg.FindModels = func(hash uint64) netstate.Models { return model.Models }
	cfg.Arena = func(string, [32]byte) (*arena.Arena, error) { return ground.Arena, nil }
	again := l.addClient(cfg, link{delay: 20 * time.Millisecond})
	l.run(time.Second)
	if state, _ := again.client.State(); state != Joined {
		t.Errorf("with what was kept: %v, %v", state, again.client.Err())
	}
}

// The name of a map in a Welcome never opens a file, even with the right hash.
func TestNoFileIsOpenedByName(t *testing.T) {
	a := arena.Generate(8, 99)
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, mapFile(t, a), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := arena.Open(path); err != nil {
		t.Fatal(err) // the file is good
	}
	t.Chdir(filepath.Dir(path))
	for _, name := range []string{path, "a.json", "./a.json", "../maps/arena-16",
		"maps/arena-16.json", "", "/etc/passwd", "gen", "arena-16.json"} {
		if got, err := Known(name, a.Hash()); got != nil || err == nil {
			t.Errorf("%q was opened", name)
		}
	}
	for _, name := range append(arena.Names(), "gen:8:99", "town:16:3") {
		if got, err := Known(name, [32]byte{}); err != nil || got.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Known("gen:99999:1", [32]byte{}); err == nil {
		t.Error("a map for 99999")
	}
}

// hostileMaps are map files that take the most memory for their length, or have no end.
func hostileMaps() map[string][]byte {
	const head = `{"format": "tickrate arena", "version": 1, ` +
		`"bounds": [-2000,-2000,-2000,2000,2000,2000], "boxes": [`
	rows := func(row string, count int) []byte {
		return []byte(head + strings.Repeat(row+",", count-1) + row + "]}")
	}
	most := func(row string) []byte { return rows(row, (protocol.MaxContent-len(head)-10)/(len(row)+1)) }
	var wide []string // each over as many cells as go into the ray grid
	for i := range 120 * 119 {
		x, z := -2000+i%120*32, -2000+i/120*32
		wide = append(wide, fmt.Sprintf("[%d,0,%d,%d,1,%d]", x, z, x+110, z+110))
	}
	return map[string][]byte{
		"large indexes":  []byte(head + strings.Join(wide, ",") + "]}"),
		"empty rows":     most("[]"),
		"short rows":     most("[0]"),
		"one long row":   []byte(head + "[" + strings.Repeat("0,", protocol.MaxContent/2-200) + "0]]}"),
		"too many rows":  most("[0,0,0,1,1,1]"),
		"same boxes":     rows("[0,0,0,1,1,1]", arena.MaxSolids),
		"huge boxes":     most("[-2000,-2000,-2000,2000,2000,2000]"),
		"long boxes":     most("[-2000,0,-9,2000,1,9]"),
		"scattered rows": most("[-2000,0,-2000,-1999,1,-1999]"),
		"nested":         bytes.Repeat([]byte{'['}, protocol.MaxContent),
		"objects":        bytes.Repeat([]byte(`{"a":`), protocol.MaxContent/5),
		"long key": append(append([]byte(`{"`), bytes.Repeat([]byte{'k'}, protocol.MaxContent-10)...),
			`": 1}`...),
		"zeros": make([]byte, protocol.MaxContent),
	}
}

// For any answer in place of the requested content, the client ends the session, reports the
// reason, counts the packet, opens nothing and stays within FetchMemory.
func TestHostileContent(t *testing.T) {
	other := arena.Generate(6, 5)
	type answers func(l *testServer, what protocol.Content) []byte
	swap := func(what protocol.Content, transfer []byte) answers {
		return func(l *testServer, asked protocol.Content) []byte {
			if asked == what {
				return transfer
			}
			return l.contentFor(asked)
		}
	}
	raw := func(what protocol.Content, m dict.Method, size int, packed []byte) []byte {
		p := protocol.ContentTransfer{Content: what, Compression: uint8(m),
			Size: uint32(size), Compressed: packed}
		return p.Append(nil)
	}
	_, bomb := dict.Pack(make([]byte, 64<<20))
	type attack struct {
		name   string
		answer answers
		reason packet.Reason
	}
	attacks := []attack{
		{"another model", swap(protocol.ContentModel, transferOf(protocol.ContentModel,
			newTestServer(t, testServerConfig{}).models.Append(nil)[:100])), packet.ReasonModel},
		{"untrained model", swap(protocol.ContentModel,
			transferOf(protocol.ContentModel, netstate.Untrained().Append(nil))), packet.ReasonModel},
		{"another arena", swap(protocol.ContentArena, transferOf(protocol.ContentArena, mapFile(t, other))),
			packet.ReasonArena},
		{"an arena as the model", swap(protocol.ContentModel,
			transferOf(protocol.ContentModel, mapFile(t, other))), packet.ReasonModel},
		{"no zstd", swap(protocol.ContentArena,
			raw(protocol.ContentArena, dict.Zstd, 1000, []byte("hello"))), packet.ReasonArena},
		{"no method", swap(protocol.ContentArena, raw(protocol.ContentArena, 200, 5, []byte("hello"))),
			packet.ReasonArena},
		{"another size", swap(protocol.ContentArena,
			raw(protocol.ContentArena, dict.Stored, 4, []byte("hello"))), packet.ReasonArena},
		{"4 GB", swap(protocol.ContentArena, raw(protocol.ContentArena, dict.Zstd, 1<<32-1, bomb)),
			packet.ReasonArena},
		{"a bomb", swap(protocol.ContentArena,
			raw(protocol.ContentArena, dict.Zstd, protocol.MaxContent, bomb)), packet.ReasonArena},
		{"a bomb of models", swap(protocol.ContentModel,
			raw(protocol.ContentModel, dict.Zstd, MaxModelFile, bomb)), packet.ReasonModel},
		{"a large model", swap(protocol.ContentModel,
			raw(protocol.ContentModel, dict.Zstd, MaxModelFile+1, bomb)), packet.ReasonModel},
	}
	for name, file := range hostileMaps() {
		attacks = append(attacks, attack{name,
			swap(protocol.ContentArena, transferOf(protocol.ContentArena, file)), packet.ReasonArena})
	}
	for _, a := range attacks {
		l := newTestServer(t, testServerConfig{seed: 5})
		packed := map[protocol.Content][]byte{} // before, as this takes memory as well
		for _, what := range []protocol.Content{protocol.ContentModel, protocol.ContentArena} {
			packed[what] = a.answer(l, what)
		}
		l.serveContent(func(what protocol.Content) []byte { return packed[what] })
		cfg := l.config()
		l.withoutContent(&cfg)
		cfg.Fetched = func(f Fetched) {
			if f.Content == protocol.ContentModel && f.Models.Hash() != l.models.Hash() ||
				f.Content == protocol.ContentArena {
				t.Errorf("%s: the caller was given %v", a.name, f.Content)
			}
		}
		s := l.addClient(cfg, link{delay: 2 * time.Millisecond})
		var before, after runtime.MemStats
		worst := uint64(0)
		// one millisecond at a time: the client must copy the server's memory
		for end := l.now + 6*time.Second; l.now < end; {
			runtime.ReadMemStats(&before)
			l.run(labStep)
			runtime.ReadMemStats(&after)
			worst = max(worst, after.TotalAlloc-before.TotalAlloc)
			if state, _ := s.client.State(); state > Joined {
				break
			}
		}
		state, why := s.client.State()
		if state != Denied || why != a.reason || s.client.Err() == nil ||
			strings.Contains(s.client.Err().Error(), "\n") || len(s.client.Err().Error()) > 400 {
			t.Errorf("%s: %v, %v, %v", a.name, state, why, s.client.Err())
		}
		if worst > FetchMemory {
			t.Errorf("%s: %d bytes allocated, the promise is %d", a.name, worst, FetchMemory)
		}
		if st := s.client.Stats(); st.Packets.Drops[packet.DropFragment] != 1 || !accounted(&st) {
			t.Errorf("%s: %+v", a.name, st.Packets)
		}
		t.Logf("%s: %.1f MB; %v", a.name, float64(worst)/1e6, s.client.Err())
	}
}

// Transfers without a request are ignored: content that the client has, empty ones, before the
// Welcome is accepted and after the Ready.
func TestUnaskedContent(t *testing.T) {
	for i, fetch := range []bool{false, true} {
		l := newTestServer(t, testServerConfig{seed: 6})
		cfg := l.config()
		cfg.Fetch = fetch
		cfg.Fetched = func(Fetched) { t.Errorf("%d: something was fetched", i) }
		s := l.addClient(cfg, link{delay: 2 * time.Millisecond})
		l.run(time.Second)
		g := l.conns[0]
		for range 3 {
			if err := g.peer.SendTransfer(l.contentFor(protocol.ContentModel)); err != nil {
				t.Fatal(err)
			}
		}
		parts := uint64(len(l.contentFor(protocol.ContentModel))+1023) / 1024
		before := s.client.Stats()
		for range 3*parts + 2 {
			l.run(300 * time.Millisecond)
			pack, _ := g.peer.Append(l.now, nil)
			l.send(g, g.peer.AppendFragment(pack, packet.FragmentSectionSize))
		}
		st := s.client.Stats()
		if state, _ := s.client.State(); state != Joined ||
			st.Packets.Drops[packet.DropFragment] != 3*parts || st.Snapshots-before.Snapshots < 100 {
			t.Errorf("%d: %v, %+v, %d snapshots", i, state, st.Packets, st.Snapshots)
		}
		if have, size := s.client.peer.TransferProgress(); have != 0 || size != 0 {
			t.Errorf("%d: %d of %d bytes were taken", i, have, size)
		}
	}
}

// A server that does not send its content, stops in the middle, or sends another Welcome is given
// up in time.
func TestContentThatNeverComes(t *testing.T) {
	for i, c := range []struct {
		answer func(l *testServer, what protocol.Content) []byte
		stop   bool // within the arena
		within time.Duration
		reason packet.Reason
	}{
		{func(*testServer, protocol.Content) []byte {
			return nil
		}, false, stallTimeout + time.Second, packet.ReasonModel},
		{func(l *testServer, what protocol.Content) []byte {
			return l.contentSlowly(what)
		}, true, stallTimeout + 3*time.Second, packet.ReasonArena},
	} {
		l := newTestServer(t, testServerConfig{seed: 7})
		l.serveContent(func(what protocol.Content) []byte { return c.answer(l, what) })
		greet := l.greet
		l.greet = func(w *protocol.Welcome) [][]byte {
			first := greet(w)
			w.ArenaName = "another"
			return append(first, w.Append(nil))
		}
		cfg := l.config()
		l.withoutContent(&cfg)
		cfg.Token = l.token(timeout(60))
		s := l.addClient(cfg, link{delay: 2 * time.Millisecond})
		if c.stop {
			l.onPacket = func(pack []byte) {
				if s.client.peer != nil {
					if have, _ := s.client.peer.TransferProgress(); have > 0 &&
						s.client.fetch.wants == 1<<protocol.ContentArena {
						s.down.loss = 0.999 // of what follows, a word now and then
					}
				}
			}
		}
		for l.now < c.within {
			l.run(time.Second)
		}
		state, why := s.client.State()
		if state != Denied || why != c.reason || !errors.Is(s.client.Err(), ErrNotSent) ||
			s.client.Welcome().ArenaName != "arena-16" {
			t.Errorf("%d: %v, %v, %v after %v; %+v", i, state, why, s.client.Err(), l.now, s.client.fetch)
		}
	}
}

// For any bytes as requested content, the client has what the Welcome named, or has ended the
// session.
func FuzzContent(f *testing.F) {
	l := newTestServer(f, testServerConfig{})
	for _, what := range []protocol.Content{protocol.ContentModel, protocol.ContentArena} {
		good := l.contentFor(what)
		f.Add(good)
		f.Add(good[:len(good)-1])
		p, _ := protocol.ParseContentTransfer(good)
		file, err := dict.Unpack(dict.Method(p.Compression), p.Compressed, int(p.Size))
		if err != nil {
			f.Fatal(err)
		}
		p.Compression, p.Compressed = uint8(dict.Stored), file
		f.Add(p.Append(nil)) // what is inside can be changed
	}
	cfg := l.config()
	l.withoutContent(&cfg)
	l.onRequest = func(*serverConn, protocol.Content) {}
	s := l.addClient(cfg, link{})
	l.run(500 * time.Millisecond)
	if s.client.fetch.wants != 1<<protocol.ContentModel|1<<protocol.ContentArena {
		f.Fatalf("wants %b", s.client.fetch.wants)
	}
	f.Fuzz(func(t *testing.T, transfer []byte) {
		c := *s.client
		c.dial, c.peer = netcode.NewClient(l.token(nil), netcode.ClientConfig{}),
			packet.NewPeer(l.now, packet.Config{})
		err := c.readTransfer(l.now, transfer)
		state, why := c.State()
		got := s.client.fetch.wants &^ c.fetch.wants
		switch {
		case err != nil && err != packet.DropFragment:
			t.Fatal(err)
		case err == nil && (state != Connecting || got == 0):
			t.Fatalf("taken: %v, %b", state, got)
		case err == nil && got>>protocol.ContentModel&1 != 0 && c.cfg.Models.Hash() != l.models.Hash():
			t.Fatal("taken: other models")
		case err == nil && got>>protocol.ContentArena&1 != 0 && c.Arena().Hash() != l.arena.Hash():
			t.Fatal("taken: another arena")
		case err != nil && (got != 0 || state != Connecting && (state != Denied || why == 0)):
			t.Fatalf("not taken: %v, %v, %b", state, why, got)
		}
	})
}
