package lobbysim

import (
	"testing"

	"github.com/tickrate/tickrate/netio/impair"
)

// The comparison finds a single bit that a client has wrong, and tells it from what a client was
// never sent.
func TestAgreementFindsADifference(t *testing.T) {
	skipUnderRace(t)
	var clean, lossy Agreement
	b := open(t, 8, 12, impair.Profile{})
	for range 600 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		b.Compare(&clean)
	}
	if clean.Differing != 0 || clean.Missing != 0 || clean.Snapshots < 8*150 || clean.Rows < 8*8*150 {
		t.Errorf("on a clean link %+v", clean)
	}
	b = open(t, 8, 12, bad)
	for range 600 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		b.Compare(&lossy)
	}
	if lossy.Differing != 0 || lossy.Snapshots < 8*100 || lossy.Hash == clean.Hash {
		t.Errorf("on a bad link %+v", lossy)
	}
	newest := b.Clients[3].Newest()
	row := b.Lobby.Frame(newest)
	var words [64]int32
	id := row.Row(3, words[:])
	words[5] ^= 1
	row.Set(3, id, words[:])
	was := lossy
	for range 6 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		b.Compare(&lossy)
	}
	if lossy.Differing == was.Differing || lossy.First != newest {
		t.Errorf("a bit of tick %d is wrong: %+v at %v", newest, lossy, b.Now())
	}
}
