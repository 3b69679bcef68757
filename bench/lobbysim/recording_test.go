package lobbysim

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/replay"
)

// recordInto returns a server.Config.Record that writes into files, each a recording of its own.
func recordInto(files *[][]byte) func(server.RecordingChunk) {
	packer := replay.NewPacker()
	return func(f server.RecordingChunk) {
		if f.First {
			*files = append(*files, f.Head.Append(nil))
		}
		last := &(*files)[len(*files)-1]
		*last = packer.Append(*last, f.Chunk)
	}
}

// playFile plays a recording of b's match and calls each after every tick.
func playFile(t *testing.T, b *Sim, file []byte, each func(p *replay.Player)) {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	match := b.Lobby.Match()
	p, err := replay.NewPlayer(&r.Head, match.Rules().Game, match.Scene().Arena)
	if err != nil {
		t.Fatal(err)
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return
		} else if err == nil {
			err = p.Load(c)
		}
		for err == nil && !p.Done() {
			if err = p.Step(); err == nil {
				each(p)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What a goroutine encodes while the match goes on is the match, bit for bit: the recording up to
// its last tick, and killcams.
func TestRecordingOnAGoroutine(t *testing.T) {
	var files [][]byte
	background := newGoroutineAfterTick()
	b := newKillcamLobby(t, 8, server.Config{Background: background.add, Record: recordInto(&files)},
		impair.Profile{}, withKillcams)
	cams, steps := map[tick.Tick]uint64{}, 0 // the last tick of each and its hash
	live := hashes(t, b, 30, func() {
		background.flush()
		if steps++; steps%60 == 40 { // virtual time runs faster than life: wait for the chunk
			idle := make(chan struct{})
			background.add(func() { close(idle) })
			background.flush()
			<-idle
		}
		for _, c := range b.Clients {
			k, err := c.Killcam()
			if err != nil {
				t.Fatal(err)
			}
			if k == nil {
				continue
			}
			for err == nil {
				err = k.Step()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			cams[k.To] = k.Match().Hash()
		}
	})
	b.Lobby.FinishRecording()
	background.close()
	for at, hash := range cams {
		if live[at] != hash {
			t.Errorf("a killcam is another match at tick %d", at)
		}
	}
	ticks := 0
	playFile(t, b, files[0], func(p *replay.Player) {
		ticks++
		if at := p.Match.Tick(); p.Match.Hash() != live[at] {
			t.Fatalf("tick %d was recorded as another", at)
		}
	})
	n, last := b.Lobby.Stats.Count[metrics.RecordingChunksDropped].Load(), int(b.Lobby.Match().Tick())
	if ticks != last || len(cams) < 3 || n != 0 || len(files) != 1 {
		t.Errorf("%d ticks of %d in %d files, %d killcams, %d chunks dropped",
			ticks, last, len(files), len(cams), n)
	}
}

// A goroutine that hangs costs the recording its seconds and nothing else: they are counted, and
// the recording goes on in another file that plays.
func TestRecordingThatIsNotEncodedInTime(t *testing.T) {
	var files [][]byte
	background := newAfterTick()
	b := newKillcamLobby(t, 8, server.Config{Background: background.add, Record: recordInto(&files)},
		impair.Profile{}, withKillcams)
	live := hashes(t, b, 20, func() {
		if at := b.Lobby.Match().Tick(); at < 300 || at > 840 { // nine seconds
			background.flush()
		}
	})
	b.Lobby.FinishRecording()
	background.flush()
	ticks := 0
	for _, f := range files {
		playFile(t, b, f, func(p *replay.Player) {
			ticks++
			if at := p.Match.Tick(); p.Match.Hash() != live[at] {
				t.Fatalf("tick %d was recorded as another", at)
			}
		})
	}
	dropped := int(b.Lobby.Stats.Count[metrics.RecordingChunksDropped].Load())
	if len(files) != 2 || dropped < 5 || dropped > 9 || ticks != int(b.Lobby.Match().Tick())-60*dropped {
		t.Errorf("%d files, %d chunks dropped, %d of %d ticks",
			len(files), dropped, ticks, b.Lobby.Match().Tick())
	}
	if n := b.Lobby.Stats.Count[metrics.KillcamsTooLong].Load(); n != 0 {
		t.Errorf("%d killcams are too long: the gap counts", n)
	}
}

// No tick of a full lobby allocates for its recording or for killcams, be it one that saves a
// state.
func TestRecordedTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	background := newAfterTick()
	var before, after runtime.MemStats
	mallocs, measuring := uint64(0), false
	cfg := server.Config{Killcam: server.KillcamOn, Background: background.add,
		Record: func(server.RecordingChunk) {}}
	b := newFullLobbyWith(t, 32, cfg, func(tick func() error) error {
		runtime.ReadMemStats(&before)
		err := tick()
		runtime.ReadMemStats(&after)
		if measuring {
			mallocs += after.Mallocs - before.Mallocs
		}
		background.flush()
		return err
	})
	for i := range 9 * 60 {
		measuring = i >= 5*60 // all memory has been used once
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if mallocs != 0 {
		t.Errorf("%d allocations in 240 ticks", mallocs)
	}
}
