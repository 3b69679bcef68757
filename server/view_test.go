package server

import (
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// The view of a connection counts the packets that were lost.
func TestViewCountsLoss(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	c.playTicks(30)
	seen := func() (v ConnView) {
		for _, p := range l.lobby.AppendPlayerViews(nil) {
			v = p.Conn
		}
		return v
	}
	before := seen()
	for n := range 60 {
		if n%4 == 3 {
			_ = c.packet() // never sealed: it is lost
		}
		c.playTicks(1)
	}
	after := seen()
	due, came := after.NewestPacket-before.NewestPacket, after.PacketsIn-before.PacketsIn
	if due != 75 || came != 60 {
		t.Errorf("%d of %d packets came", came, due)
	}
}

// A player that has left is in no view, also where the lobby falls asleep at once: poses of its last
// tick still have the player.
func TestViewForgetsPlayersThatLeft(t *testing.T) {
	l := newTestLobby(t, Config{SleepWhenEmpty: true})
	c := l.joinedClient()
	c.playTicks(30)
	if n := len(l.lobby.AppendPlayerViews(nil)); n != 1 {
		t.Fatalf("%d views of one player", n)
	}
	c.leave()
	l.tick()
	if n := len(l.lobby.AppendPlayerViews(nil)); n != 0 {
		t.Errorf("%d views of a player that has left", n)
	}
}

// A client reports its mispredictions. A malformed report changes nothing.
func TestViewHasMispredictions(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.joinedClient()
	for i, told := range []struct {
		note []byte
		want uint32
	}{{sim.AppendMispredictions(nil, 3), 3}, {[]byte{sim.TagMispredictions, 9}, 3},
		{[]byte{0x7f}, 3}, {sim.AppendMispredictions(nil, 4_000_000_000), 4_000_000_000}} {
		if err := c.peer.QueueUnreliable(told.note); err != nil {
			t.Fatal(err)
		}
		c.sendSections(c.peer.AppendUnreliable(nil, 100)...)
		l.tick()
		if g := c.state(); g.session.stats.mispredicted != told.want {
			t.Errorf("%d: %d mispredictions, want %d", i, g.session.stats.mispredicted, told.want)
		}
	}
	if l.lobby.Stats.PacketDrops[packet.DropSection].Load() != 0 {
		t.Error("a packet was dropped")
	}
}
