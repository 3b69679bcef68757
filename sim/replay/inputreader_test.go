package replay

import (
	"errors"
	"io"
	"slices"
	"testing"
)

// What is read of a log without playing it is what a player plays, tick by tick, and its
// fingerprints are those of the match.
func TestPages(t *testing.T) {
	file, want := record(t, newPlay(t, 8, 9), 700, 100)
	r, player, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	ticks, marks := 0, 0
	for c, err := r.Next(); err == nil; c, err = r.Next() {
		if err := player.Load(c); err != nil {
			t.Fatal(err)
		}
		prints := player.Match.Checksums(nil)
		pages, err := NewInputReader(c, r.Head.Slots, len(prints))
		if err != nil {
			t.Fatal(err)
		}
		for !player.Done() {
			page, err := pages.Next()
			if err != nil {
				t.Fatal(err)
			}
			if err := player.Step(); err != nil {
				t.Fatal(err)
			}
			if d := player.Inputs(); !d.Equal(&page.Inputs) {
				t.Fatalf("tick %d: %+v was played, and %+v read", d.Tick, *d, page.Inputs)
			}
			ticks++
			if len(page.Checksums) == 0 {
				continue
			}
			marks++
			if page.Hash != want[page.Inputs.Tick-1] {
				t.Fatalf("tick %d: hash %x, expected %x", page.Inputs.Tick, page.Hash,
					want[page.Inputs.Tick-1])
			}
			prints = player.Match.Checksums(prints[:0])
			for i, sum := range page.Checksums {
				if sum != uint16(prints[i].Sum) {
					t.Fatalf("tick %d: the print of %s is %x, expected %x", page.Inputs.Tick,
						prints[i].Name, sum, prints[i].Sum)
				}
			}
		}
		if _, err := pages.Next(); err != io.EOF {
			t.Fatal(err)
		}
		long := *c
		long.Ticks--
		pages, _ = NewInputReader(&long, r.Head.Slots, len(prints))
		for err = nil; err == nil; _, err = pages.Next() {
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("a log that is longer than its chunk: %v", err)
		}
		short := Chunk{First: c.First, Ticks: c.Ticks, Log: slices.Clone(c.Log[:len(c.Log)-1])}
		if _, err := NewInputReader(&short, r.Head.Slots, len(prints)); !errors.Is(err, ErrFormat) {
			t.Errorf("a log that is cut: %v", err)
		}
	}
	if ticks != 700 || marks != 7*3 {
		t.Errorf("%d ticks and %d fingerprints", ticks, marks)
	}
}
