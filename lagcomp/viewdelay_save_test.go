package lagcomp

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

// A track that was saved and read goes on as the one that was not.
func TestViewDelayTrackGoesOnAfterSaving(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var p ViewDelayTrack
		now := tick.Tick(r.IntN(1000))
		for range 200 {
			now++
			p.Announce(now+tick.Tick(r.IntN(20)), uint8(r.IntN(40)), now)
			p.InstantAt(now, int64(r.IntN(8000)))
		}
		q, rest, err := ParseViewDelayTrack(append(p.Append(nil), 7))
		if err != nil || len(rest) != 1 || q != p {
			t.Fatalf("%v, %d bytes left: got %+v, want %+v", err, len(rest), q, p)
		}
	}
	if _, _, err := ParseViewDelayTrack(make([]byte, ViewDelayTrackSize-1)); err == nil {
		t.Error("a short track is read")
	}
}
