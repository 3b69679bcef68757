package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/sim/mode"
)

// TestRow56AssaultOnGeneratedMaps plays assaults on maps without a content pack: clients and server
// place the capture points alike, bots fight for them over lossy links, and a round ends with the
// points' result, twice with the same bits. A capture time of half a second lets two equal teams
// capture at all.
func TestRow56AssaultOnGeneratedMaps(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		on      string
		capture int32 // milliseconds
		winner  uint8
	}{{"gen:24:7", 3000, mode.Defenders}, {"town:24:7", 500, mode.Attackers}} {
		if testing.Short() && c.winner == mode.Defenders {
			continue // a whole round
		}
		first, winner := playAssault(t, c.on, c.capture)
		if again, _ := playAssault(t, c.on, c.capture); again != first {
			t.Errorf("%s: hash %016x and then %016x", c.on, first, again)
		}
		if winner != c.winner {
			t.Errorf("%s, %d ms for a point: won by team %d", c.on, c.capture, winner)
		}
	}
}

func playAssault(t *testing.T, on string, capture int32) (hash uint64, winner uint8) {
	s := modeLobby{arena: on, mode: "assault", players: 24,
		link: impair.Profile{Loss: 0.02, Delay: 20 * time.Millisecond},
		change: func(p *mode.Params) {
			p.PrematchMillis, p.PostmatchMillis = 2000, 1000
			p.RespawnMillis, p.CaptureMillis, p.RoundMillis = 2000, capture, 60000
		}}.open(t)
	m := s.Lobby.Match()
	hash = 14695981039346656037
	nearest, contested := uint32(0), 0
	s.play(120*time.Second, func() bool {
		hash = (hash ^ m.Hash()) * 1099511628211
		nearest = max(nearest, m.Mode().Progress)
		if m.Mode().Status != mode.Quiet {
			contested++
		}
		return m.Mode().Phase == mode.Ended && m.Mode().Left < 30
	})
	at := m.RoundStatus()
	want := uint8(mode.Defenders)
	if at.Point == at.Points {
		want = mode.Attackers
	}
	if at.Points != 3 || at.Winner != want || nearest == 0 || contested < 300 {
		t.Errorf("%+v; of %d for a point they got to %d, a point was contested for %d ticks",
			at, m.Game().Mode.CaptureTotal(), nearest, contested)
	}
	for i, c := range s.Clients {
		got, ok := c.Round.Status()
		if got.Winner != at.Winner || got.Point != at.Point || !ok {
			t.Errorf("client %d knows %+v, the match %+v", i, got, at)
		}
		checkPlaces(t, i, c, s)
	}
	return hash, at.Winner
}

// checkPlaces checks that a client has the points and homes of the match in the same places.
func checkPlaces(t *testing.T, i int, c *client.Client, s *modeTest) {
	t.Helper()
	ours, theirs := c.Game().Layout, s.Lobby.Match().Rules().Game.Layout
	if len(ours.Points) != 3 || len(ours.Homes) != 2 {
		t.Fatalf("client %d: %+v", i, ours)
	}
	for k, z := range theirs.Points {
		if ours.Points[k] != z || s.Lobby.Match().Objects().Zones[k] != z {
			t.Errorf("client %d has point %d at %v, the match at %v", i, k, ours.Points[k], z)
		}
	}
	for k, h := range theirs.Homes {
		if ours.Homes[k] != h {
			t.Errorf("client %d has home %d at %v, the match at %v", i, k, ours.Homes[k], h)
		}
	}
}
