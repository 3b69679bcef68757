package replay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tickrate/tickrate/sim"
)

// A killcam says why it is empty: no state is complete, a chunk is missing since, or it is too long.
// It has no schema, which its players have, and plays from its first tick.
func TestKillcamSaysWhyItIsEmpty(t *testing.T) {
	p := newPlay(t, 4, 1)
	rec, err := NewRecorder(p.m, 20, 2)
	if err != nil {
		t.Fatal(err)
	}
	cam := NewKillcam(HeadOf(p.m, "arena-16", 20))
	chunk := func() *Chunk {
		for {
			p.step()
			if raw := rec.Tick(); raw != nil {
				return raw.Encode()
			}
		}
	}
	make := func(limit int) ([]byte, error) {
		pending := rec.Pending(nil)
		out, first, err := cam.Append(nil, &pending, limit)
		if (len(out) > 0) != (err == nil) || (first > 0) != (err == nil) {
			t.Fatalf("%d bytes from tick %d: %v", len(out), first, err)
		}
		return out, err
	}
	const enough = 1 << 20
	p.step()
	rec.Tick()
	if _, err := make(enough); err != ErrNoState {
		t.Errorf("before the first chunk: %v", err)
	}
	cam.Add(chunk())
	p.step()
	rec.Tick()
	if _, err := make(100); err != ErrTooLong {
		t.Errorf("in 100 bytes: %v", err)
	}
	whole, err := make(enough)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(whole, []byte("sim.Vital")) || len(sim.Schema()) < 1000 {
		t.Error("the killcam contains the schema")
	}
	if hashes, _, err := again(t, whole); err != nil || len(hashes) != 21 {
		t.Errorf("%d ticks played: %v", len(hashes), err)
	}
	chunk() // is missing, and has no state
	if _, err := make(enough); err != ErrNoState {
		t.Errorf("after a gap: %v", err)
	}
	p.step()
	rec.Tick()
	if _, err := make(enough); err != ErrNoState {
		t.Errorf("after a gap: %v", err)
	}
	cam.Add(chunk()) // with a state
	if _, err := make(enough); err != nil {
		t.Errorf("after a state: %v", err)
	}
}

// A state of another build in a killcam, which has no schema, is refused by its layout.
func TestKillcamOfAnotherBuild(t *testing.T) {
	file, _ := record(t, newPlay(t, 4, 1), 10, 50)
	r, player, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	player.head.Schema = ""
	chunk.Key[1]++
	if err := player.Load(chunk); !errors.Is(err, sim.ErrState) ||
		!bytes.Contains([]byte(err.Error()), []byte("of another build: layout")) {
		t.Error(err)
	}
}
