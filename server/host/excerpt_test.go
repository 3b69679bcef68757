package host

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
)

// An excerpt has the chunks from the newest state to that of its tick, whether that has come already or
// comes later. Without a state before the tick there is none.
func TestExcerpt(t *testing.T) {
	all := testChunks(t, 8)
	x := &excerpts{keep: true}
	path := filepath.Join(t.TempDir(), "a.tkr")
	ask := func(at tick.Tick) chan error {
		e := excerpt{at, path, make(chan error, 1)}
		x.want(e)
		return e.done
	}
	for _, f := range all[:2] {
		x.add(f)
	}
	early := ask(all[2].Chunk.First)
	if len(early) > 0 {
		t.Fatal("answered before the chunk of the tick has come")
	}
	x.add(all[2])
	if err := <-early; err != nil {
		t.Error(err)
	}
	checkMatch(t, path, all[2].Chunk.First)
	if err := <-ask(all[1].Chunk.First); err != nil { // the file ends with a later chunk
		t.Error(err)
	}
	x.add(all[3])
	x.add(all[4]) // with a state
	if err := <-ask(all[3].Chunk.First); !errors.Is(err, errNotRecorded) {
		t.Errorf("before the newest state: %v", err)
	}
	x.add(all[6]) // after a gap
	late := ask(all[7].Chunk.First)
	x.add(all[7])
	x.end()
	if err := <-late; !errors.Is(err, errNotRecorded) {
		t.Errorf("after a gap: %v", err)
	}
}

// Chunks are kept only if excerpts may be wanted.
func TestNoExcerptsKeepNothing(t *testing.T) {
	x := &excerpts{}
	x.add(server.RecordingChunk{})
	if len(x.since) != 0 {
		t.Error("a chunk is kept")
	}
}
