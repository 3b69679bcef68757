package dst

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// disk is where the server's recording goes.
type disk struct {
	space int  // bytes left; less than 0: no limit
	sick  bool // it fails
	dice  *rand.Rand
}

var errSick = errors.New("input/output error")

// reel is a file on the disk.
type reel struct {
	on   *disk
	data []byte
}

// WriteAt writes as much as there is room for, or, of a disk that fails, as much as chance has it.
func (r *reel) WriteAt(b []byte, at int64) (n int, err error) {
	switch n = len(b); {
	case r.on.sick:
		n, err = r.on.dice.IntN(n), errSick
	case r.on.space >= 0:
		if more := int(at) + n - len(r.data); more > r.on.space {
			n, err = n-(more-r.on.space), replay.ErrFull
		}
	}
	if end := int(at) + n; end > len(r.data) {
		if r.on.space >= 0 {
			r.on.space -= end - len(r.data)
		}
		r.data = append(r.data, make([]byte, end-len(r.data))...)
	}
	copy(r.data[at:], b[:n])
	return n, err
}

// Truncate works on a disk that fails, too: it writes nothing.
func (r *reel) Truncate(size int64) error { r.data = r.data[:size]; return nil }

// Close does nothing.
func (r *reel) Close() error { return nil }

// films is the recording of one start of the server, and what it must say.
type films struct {
	disk   disk
	tape   replay.Tape
	file   *reel             // the newest
	first  tick.Tick         // of it
	last   tick.Tick         // that must be in the file
	cut    bool              // the file has ended early
	said   int               // lines about that
	hashes [hashRing]livedIn // of the match, each hashEvery ticks
	handed bool              // something was recorded in this tick
}

const (
	hashEvery = 64
	hashRing  = 64 // a minute
)

type livedIn struct {
	at   tick.Tick
	hash uint64
}

// begin is for a server that has just started.
func (f *films) begin(w *world) {
	old := f.disk
	*f = films{disk: old}
	if f.disk.dice == nil {
		f.disk = disk{space: -1, dice: rand.New(rand.NewPCG(w.c.Seed, 0x6469736b))} // "disk"
	}
	f.tape = replay.Tape{
		Create: func(first tick.Tick) (replay.File, string, error) {
			w.checkFilm(replay.Over)
			f.file, f.first, f.last, f.cut, f.said = &reel{on: &f.disk}, first, 0, false, 0
			return f.file, "F", nil
		},
		Say: func(string) { f.said++ },
		Cut: func() { f.cut = true },
	}
}

// film is Config.Record.
func (w *world) film(c server.Film) {
	f := &w.films
	f.handed = true
	was := f.cut
	if f.tape.Put(c.Head, c.Chunk, c.First); !f.cut {
		f.last = c.Chunk.Last()
		return
	}
	end := replay.Full
	if f.disk.sick {
		end = replay.Endless // what cannot be written cannot say so
	}
	if !was {
		w.checkFilm(end)
		f.file = nil
	}
}

// note notes how the match stands.
func (f *films) note(w *world) {
	if m := w.Lobby.Match(); m.Tick()%hashEvery == 0 {
		f.hashes[m.Tick()/hashEvery%hashRing] = livedIn{m.Tick(), m.Hash()}
	}
	f.handed = false
}

// killed looks at the file that a server leaves that was killed: a second is lost at most.
func (f *films) killed(w *world) {
	if m := w.Lobby.Match(); f.file != nil && f.last+tick.Tick(w.rate)+1 < m.Tick() {
		w.fail(ReplayFile, "of %d ticks before the server was killed %d are recorded", m.Tick(), f.last)
	}
	w.checkFilm(replay.Open)
}

// over ends the recording as a server does that stops.
func (f *films) over(w *world) {
	if w.Lobby.Reel(); f.file == nil {
		return
	}
	f.tape.Close()
	if m := w.Lobby.Match(); f.last != m.Tick() {
		w.fail(ReplayFile, "the recording ends with tick %d, the match with %d", f.last, m.Tick())
	}
	w.checkFilm(replay.Over)
}

// checkFilm plays the newest file: it has a footer that says how it ends and where, and every fingerprint and every hash in it is what
// the match was.
func (w *world) checkFilm(end replay.Ending) {
	f := &w.films
	if f.file == nil || w.breach != nil || f.last == 0 && len(f.file.data) == 0 {
		return
	}
	if f.cut && f.said != 1 {
		w.fail(ReplayFile, "%d lines about a recording that could not be written", f.said)
	}
	r, err := replay.NewReader(bytes.NewReader(f.file.data))
	if err != nil {
		w.fail(ReplayFile, "%v", err)
		return
	}
	defer r.Close()
	m := w.Lobby.Match()
	p, err := replay.NewPlayer(&r.Head, m.Rules().Game, w.cfg.Arena)
	if err != nil {
		w.fail(ReplayFile, "%v", err)
		return
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.Load(c)
		}
		for err == nil && !p.Done() {
			err = p.Step()
			if t := p.Match.Tick(); err == nil && t%hashEvery == 0 {
				if was := f.hashes[t/hashEvery%hashRing]; was.at == t && was.hash != p.Match.Hash() {
					w.fail(ReplayFile, "tick %d of the recording is another than it was", t)
				}
			}
		}
		if err != nil {
			w.fail(ReplayFile, "%v", err)
			return
		}
	}
	if p.Match == nil || p.Match.Tick() != f.last || r.End != end {
		w.fail(ReplayFile, "the recording from tick %d ends %v, expected tick %d and %v", f.first, r.End, f.last, end)
	}
}
