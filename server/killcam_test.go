package server

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/replay"
)

// A killcam contains the last seconds of all players and the seed of the match. Where relevance
// hides players, there are killcams only if the operator allows them.
func TestKillcamAutoRespectsRelevance(t *testing.T) {
	open := func(int, int) bool { return true }
	for i, c := range []struct {
		cfg  Config
		want bool
	}{
		0:  {Config{}, true}, // of eight players, all told of all
		1:  {Config{Relevance: RelevanceOff}, true},
		2:  {Config{Relevance: RelevanceAll}, true},
		3:  {Config{Relevance: RelevanceGrid}, false},
		4:  {Config{ViewDistance: 20}, false},
		5:  {Config{ViewDistance: 1000}, true}, // the map is smaller: no player is hidden
		6:  {Config{CellVisible: open}, false},
		7:  {Config{ViewDistance: 20, TeamFog: true}, false},
		8:  {Config{ViewDistance: 20, Killcam: KillcamOn}, true},
		9:  {Config{Killcam: KillcamOff}, false},
		10: {Config{Players: killcamPlayers + 1}, false},
	} {
		l := newTestLobby(t, c.cfg)
		ann := l.namedClient("Ann")
		l.playTicks(5)
		l.lobby.recording.request(l.now, ann.state())
		if asked := ann.state().transfer.killcam.asked; asked != c.want ||
			(l.count(metrics.ContentRefused) == 1) == c.want {
			t.Errorf("%d: killcams given: %v, want %v", i, asked, c.want)
		}
	}
}

// A killcam that has no state yet is made again for the same death, for as long as one may come; it
// is not counted as too long. A killcam that begins after a death is not sent for it.
func TestKillcamWithoutAStateIsTriedAgain(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.namedClient("Ann")
	l.playTicks(5)
	r := &l.lobby.recording
	r.request(l.now, c.state())
	viewer := &c.state().transfer.killcam
	viewer.waiting, viewer.diedAt = true, l.lobby.match.Tick()
	r.beginTransfers(&killcamJob{err: replay.ErrNoState})
	if !viewer.died || viewer.waiting || l.count(metrics.KillcamsTooLong) != 0 {
		t.Errorf("%+v, %d too long", *viewer, l.count(metrics.KillcamsTooLong))
	}
	viewer.died, viewer.waiting = false, true
	r.beginTransfers(&killcamJob{err: replay.ErrTooLong})
	if viewer.died || l.count(metrics.KillcamsTooLong) != 1 {
		t.Errorf("%+v, %d too long", *viewer, l.count(metrics.KillcamsTooLong))
	}
	for first, want := range map[tick.Tick]uint64{viewer.diedAt + 1: 0, viewer.diedAt: 1} {
		before := l.count(metrics.Killcams)
		viewer.waiting = true
		r.beginTransfers(&killcamJob{transfer: make([]byte, 100), first: first})
		if n := l.count(metrics.Killcams) - before; n != want {
			t.Errorf("from tick %d, death in %d: %d sent", first, viewer.diedAt, n)
		}
	}
	l.ticks(6 * 60)
	viewer.died, viewer.waiting = false, true
	viewer.diedAt = 1
	if r.beginTransfers(&killcamJob{err: replay.ErrNoState}); viewer.died {
		t.Error("tried again for ever")
	}
}

// A session that is taken over no longer counts as a killcam viewer, so the lobby stops recording
// for it.
func TestTakeoverForgetsKillcams(t *testing.T) {
	l := newTestLobby(t, Config{})
	c := l.namedClient("Ann")
	l.playTicks(5)
	l.lobby.recording.request(l.now, c.state())
	if n := l.lobby.recording.killcams.viewers; n != 1 {
		t.Fatalf("%d viewers, want 1", n)
	}
	l.ticks(90) // silent
	c.connect(func(m *netcode.Mint) { m.ClientID = c.user })
	if n := l.lobby.recording.killcams.viewers; l.count(metrics.Takeovers) != 1 || n != 0 {
		t.Errorf("%d takeovers, %d viewers: want 1 and 0", l.count(metrics.Takeovers), n)
	}
}
