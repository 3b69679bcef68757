package server

import (
	"bytes"
	"testing"
	"time"

	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// fetcher returns a client that takes transfers and has requested content.
func (l *testLobby) fetcher(what ...protocol.Content) *testClient {
	l.t.Helper()
	c := l.newClient("")
	c.connect(nil)
	c.peer.AcceptTransfers(packet.MaxTransferSize)
	for _, w := range what {
		f := protocol.Fetch{Content: w}
		c.queueReliable(f.Append(nil))
	}
	c.sendSections()
	return c
}

// turn receives and answers, and returns the transfer that is complete, if any.
func (c *testClient) turn() []byte {
	c.host.t.Helper()
	c.receive()
	transfer := bytes.Clone(c.transfer)
	c.transfer = nil
	if _, closed := c.peer.Closed(); !closed {
		c.sendSections()
	}
	return transfer
}

// opened returns the file in a transfer.
func opened(t testing.TB, transfer []byte, want protocol.Content) []byte {
	t.Helper()
	p, err := protocol.ParseContentTransfer(transfer)
	if err != nil || p.Content != want {
		t.Fatalf("%v: %v, %v", want, p.Content, err)
	}
	file, err := dict.Unpack(dict.Method(p.Compression), p.Compressed, int(p.Size))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Requested content is sent unchanged, is compressed once for all requests, and lets its client
// join. Other clients are not affected.
func TestContentIsSent(t *testing.T) {
	l := newTestLobby(t, Config{Players: 16})
	l.lobby.PackContent()
	packed := l.lobby.transfers.content
	control := l.joinedClient()
	control.playTicks(20)
	var all []*testClient
	for range 8 {
		all = append(all, l.fetcher(protocol.ContentModel, protocol.ContentArena))
	}
	got := make([][][]byte, len(all))
	for range 60 {
		control.play()
		for i, c := range all {
			if transfer := c.turn(); transfer != nil {
				got[i] = append(got[i], transfer)
			}
		}
		l.tick()
	}
	for i, transfers := range got {
		if len(transfers) != 2 {
			t.Fatalf("%d: %d transfers", i, len(transfers))
		}
		m, err := netstate.ParseModels(opened(t, transfers[0], protocol.ContentModel))
		if err != nil || m.Hash() != all[i].welcome.Model {
			t.Errorf("%d: models: %v", i, err)
		}
		a, err := arena.Load(bytes.NewReader(opened(t, transfers[1], protocol.ContentArena)))
		if err != nil || a.Hash() != all[i].welcome.ArenaHash {
			t.Errorf("%d: arena: %v", i, err)
		}
		all[i].ready()
		all[i].sendSections()
	}
	for what, p := range packed {
		if now := l.lobby.transfers.content[what]; len(p) > 0 && &p[0] != &now[0] {
			t.Errorf("content %d was packed twice", what)
		}
	}
	l.ticks(2)
	if l.count(metrics.ContentRequests) != 16 || l.count(metrics.ContentRefused) != 0 ||
		l.lobby.transfers.waiting != 0 {
		t.Errorf("%d fetched, %d refused, %d wait", l.count(metrics.ContentRequests),
			l.count(metrics.ContentRefused), l.lobby.transfers.waiting)
	}
	for _, c := range all {
		c.turn()
	}
	control.receive()
	control.checkUnharmed()
	all[0].checkUnharmed()
}

// Repeated requests, requests for missing content and requests after the Ready cost one transfer of
// each content per session. The connection stays open.
func TestHostileFetches(t *testing.T) {
	l := newTestLobby(t, Config{Netcode: withoutFloodLimit()})
	model, ground := protocol.Fetch{Content: protocol.ContentModel},
		protocol.Fetch{Content: protocol.ContentArena}
	c := l.fetcher(protocol.ContentModel)
	transfers := 0
	for i := range 300 {
		for range 8 {
			e := model.Append(nil)
			switch i % 4 {
			case 1:
				e = ground.Append(nil)
			case 2:
				e = []byte{protocol.MessageFetch, byte(i)}
			case 3:
				e = append(e, 0)
			}
			if c.peer.ReliablePending() < packet.MaxReliable-4 { // packets without messages are not acked
				c.queueReliable(e)
			}
		}
		if c.turn() != nil {
			transfers++
		}
		l.tick()
	}
	most := uint64(0)
	for _, p := range l.lobby.transfers.content {
		most += uint64(len(p)+packet.FragmentSectionSize-1) / packet.FragmentSectionSize *
			(packet.MaxPacketSize + sealBytes)
	}
	if sent := l.count(metrics.ContentBytes); transfers != 2 || l.count(metrics.ContentRequests) != 2 ||
		sent > most || l.count(metrics.ContentRefused) < 40 {
		t.Errorf("%d transfers, %d fetched, %d refused, %d bytes: at most %d", transfers,
			l.count(metrics.ContentRequests), l.count(metrics.ContentRefused), sent, most)
	}
	c.ready()
	c.sendSections()
	l.ticks(2)
	c.receive()
	c.queueReliable(model.Append(nil))
	refused := l.count(metrics.ContentRefused)
	c.checkUnharmed()
	if l.count(metrics.ContentRefused) != refused+1 || l.count(metrics.ContentRequests) != 2 {
		t.Errorf("after Ready: %d refused, %d fetched", l.count(metrics.ContentRefused)-refused,
			l.count(metrics.ContentRequests))
	}
}

// A client that never acks its transfer, never gets ready or leaves keeps its slot no longer than
// the timeout, and the lobby's count of transfers stays right.
func TestFetchersThatDoNotEnter(t *testing.T) {
	for i, c := range []struct {
		name   string
		do     func(l *testLobby, c *testClient) bool // each tick; false: it is done
		within time.Duration
		reason bool
	}{
		{"has all and says nothing more", func(_ *testLobby, c *testClient) bool {
			c.turn()
			return true
		}, readyWithin + 2*time.Second, true},
		{"acks nothing", func(l *testLobby, c *testClient) bool { // it speaks, with the acks of before
			pkt, _ := c.peer.Append(l.now, nil)
			c.send(c.seal(pkt))
			return true
		}, readyWithin + 3*time.Second, true},
		{"leaves", func(_ *testLobby, c *testClient) bool { c.leave(); return false }, time.Second, false},
	} {
		l := newTestLobby(t, Config{})
		who := l.fetcher(protocol.ContentArena)
		l.tick()
		if l.lobby.transfers.waiting != 1 {
			t.Fatalf("%s: %d wait", c.name, l.lobby.transfers.waiting)
		}
		begin, going := l.now, true
		for len(l.lobby.live) > 0 && l.now-begin < c.within {
			if going {
				going = c.do(l, who)
			}
			l.tick()
		}
		if len(l.lobby.live) != 0 || l.lobby.transfers.waiting != 0 ||
			(l.count(metrics.Disconnected) == 1) != c.reason {
			t.Errorf("%d %s: %d connections, %d wait, %d dismissed after %v", i, c.name,
				len(l.lobby.live), l.lobby.transfers.waiting, l.count(metrics.Disconnected), l.now-begin)
		}
	}
}

// A session that is taken over while it fetches begins anew, fetches again, and is counted once.
func TestTakeoverWhileFetching(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.fetcher(protocol.ContentArena)
	l.tick()
	l.ticks(90) // silent
	c.connect(func(m *netcode.Mint) { m.ClientID = c.user })
	if l.count(metrics.Takeovers) != 1 || l.lobby.transfers.waiting != 0 {
		t.Fatalf("%d takeovers, %d wait", l.count(metrics.Takeovers), l.lobby.transfers.waiting)
	}
	c.peer.AcceptTransfers(packet.MaxTransferSize)
	f := protocol.Fetch{Content: protocol.ContentArena}
	c.queueReliable(f.Append(nil))
	c.sendSections()
	transfers := 0
	for range 60 {
		l.tick()
		if c.turn() != nil {
			transfers++
		}
	}
	if transfers != 1 || l.count(metrics.ContentRequests) != 2 || l.lobby.transfers.waiting != 1 {
		t.Errorf("%d transfers, %d fetched, %d wait", transfers, l.count(metrics.ContentRequests),
			l.lobby.transfers.waiting)
	}
}

// However many clients fetch at once, a tick sends no more content than its share of ContentKbps.
// Each client gets its turn, and players get every snapshot.
func TestContentCostsNoSpike(t *testing.T) {
	const clients, kbps = 40, 2000
	a := arena.Generate(500, 12)
	l := newTestLobby(t,
		Config{Players: clients + 1, Arena: a, ArenaName: "mine", ContentKbps: kbps,
			Netcode: withoutFloodLimit()})
	l.lobby.PackContent()
	control := l.joinedClient()
	control.playTicks(20)
	var all []*testClient
	for range clients {
		all = append(all, l.fetcher())
	}
	for _, c := range all {
		f := protocol.Fetch{Content: protocol.ContentArena}
		c.queueReliable(f.Append(nil))
		c.sendSections()
	}
	size := len(l.lobby.transfers.content[protocol.ContentArena])
	share := uint64(kbps * 1000 / 8 / 60 * 5 / 4)
	begin, bytes0, missed := l.now, l.count(metrics.ContentBytes), 0
	var first, last time.Duration
	for done := 0; done < clients; {
		before := l.count(metrics.ContentBytes)
		l.tick()
		if n := l.count(metrics.ContentBytes) - before; n > share+packet.MaxPacketSize+sealBytes {
			t.Fatalf("%d bytes of content in a tick, its share is %d", n, share)
		}
		if control.play(); len(control.peer.Lost()) > 0 {
			missed++
		}
		for _, c := range all {
			if c.turn() != nil {
				if done++; done == 1 {
					first = l.now - begin
				}
				last = l.now - begin
			}
		}
		if l.now-begin > 20*time.Second {
			t.Fatalf("%d of %d have it", done, clients)
		}
	}
	rate := float64(l.count(metrics.ContentBytes)-bytes0) * 8 / 1000 / last.Seconds()
	t.Logf("%d clients, %d bytes each: the first has it after %v, the last after %v; %.0f kbit/s",
		clients, size, first, last, rate)
	if rate > kbps*(1.02+0.1/last.Seconds()) || rate < kbps*0.8 || first < last*6/10 || missed != 0 {
		t.Errorf("%.0f kbit/s of %d; the first after %v, the last after %v", rate, kbps, first, last)
	}
	control.checkUnharmed()
}

// Content that is too large is not sent: the client is rejected as if it had not asked.
func TestContentTooLarge(t *testing.T) {
	if packTransfer(protocol.ContentArena, make([]byte, protocol.MaxContent+1)) != nil ||
		packTransfer(protocol.ContentArena, make([]byte, protocol.MaxContent)) == nil {
		t.Error("the limit does not hold")
	}
	for what, want := range map[protocol.Content]packet.Reason{protocol.ContentModel: packet.ReasonModel,
		protocol.ContentArena: packet.ReasonArena} {
		l := newTestLobby(t, Config{})
		l.lobby.PackContent()
		l.lobby.transfers.content[what] = nil
		c := l.fetcher(what)
		for range 30 {
			l.tick()
			c.turn()
		}
		if why, closed := c.peer.Closed(); !closed || why != want || l.count(metrics.ContentRequests) != 0 {
			t.Errorf("%v: closed %v, %v", what, closed, why)
		}
	}
	if _, err := (Config{Arena: ground(), ArenaName: "a", ContentKbps: 3}).withDefaults(); err == nil {
		t.Error("3 kbit/s")
	}
}

// Sizes and times that PROTOCOL.md and the decision 0016 state: what a map takes, and how long a
// line of 64 kbit/s needs for it.
func TestContentSizes(t *testing.T) {
	alone(t)
	for _, name := range []string{"arena-16", "arena-64", "arena-256", "arena-1024", "gen:4096:1"} {
		file := mapFile(t, name)
		p := packTransfer(protocol.ContentArena, file)
		if p == nil || len(p)*3 > len(file) {
			t.Errorf("%s: %d bytes of %d", name, len(p), len(file))
		}
		t.Logf("%-10s %6d bytes, sent as %5d by %v", name, len(file), len(p), dict.Method(p[1]))
	}
	model := netstate.Trained().Append(nil)
	t.Logf("%-10s %6d bytes, sent as %5d", "model", len(model),
		len(packTransfer(protocol.ContentModel, model)))
}
