package lobbysim

import (
	"flag"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server/metrics"
)

var hours = flag.Float64("hours", 0.03,
	"virtual `hours` of TestRow41HoursWithoutAMisprediction; make hours plays 10")

// TestRow41HoursWithoutAMisprediction is row 41 of docs/features.md at length: on a clean
// link eight players of both heroes, with all of their abilities, predict every tick to the bit.
func TestRow41HoursWithoutAMisprediction(t *testing.T) {
	skipUnderRace(t)
	b := open(t, 8, 41, impair.Profile{Delay: 20 * time.Millisecond})
	ticks := int(*hours * 3600 * float64(b.rate))
	if testing.Short() {
		ticks = min(ticks, 60*60)
	}
	for range ticks {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	var rows, lives, pushes, shots uint64
	for i, c := range b.Clients {
		s := c.Stats()
		p := s.Prediction
		if p.Mispredictions != 0 || p.Beyond != 0 || p.Skipped > 1 {
			t.Errorf("client %d: %+v", i, p)
		}
		rows, lives, pushes, shots = rows+p.Rows, lives+p.Lives, pushes+p.Pushes, shots+s.Shots
	}
	if missing := b.Lobby.Stats.Count[metrics.InputsMissing].Load(); missing != 0 {
		t.Errorf("%d inputs missing", missing)
	}
	if seconds := float64(ticks) / float64(b.rate); float64(rows) < 8*19*(seconds-5) ||
		float64(shots) < seconds || float64(lives) < seconds/60 || float64(pushes) < seconds/60 {
		t.Errorf("too little happened in %.0f s: %d rows, %d lives, %d pushes, %d rounds",
			seconds, rows, lives, pushes, shots)
	}
	t.Logf("%.2f h: %d rows compared, none mispredicted; %d deaths and respawns, %d knockbacks, %d rounds",
		float64(ticks)/float64(b.rate)/3600, rows, lives, pushes, shots)
}
