package dst

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
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
		r.data = slices.Grow(r.data, end-len(r.data))[:end]
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
	file   *reel       // the newest
	first  tick.Tick   // of it
	last   tick.Tick   // that must be in the file
	phase  tick.Tick   // its fingerprints are of ticks so far behind the multiples of markEvery
	cut    bool        // the file has ended early
	said   int         // lines about that
	pages  []sim.Diary // what came into the twin, by tick less 1
	taken  []sim.Taken // of pages, a block of many
	marks  []mark      // of the match, by tick over markEvery
	handed bool        // something was recorded in this tick
}

// markEvery is how often the match's hash is written down: it is in a recording as often.
const markEvery = replay.SumsEvery

type mark struct {
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
	f.note(w.Lobby.Match())
	f.pages = make([]sim.Diary, 0, int(w.rate)*int(Length/time.Second)+1)
	f.tape = replay.Tape{
		Create: func(first tick.Tick) (replay.File, string, error) {
			w.checkFilm(replay.Over)
			f.file, f.first, f.last, f.phase, f.cut, f.said = &reel{on: &f.disk, data: make([]byte, 0, 1<<20)}, first, 0, (first-1)%markEvery, false, 0
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
func (f *films) note(m *sim.Match) {
	now := m.Tick()
	if now%markEvery != f.phase {
		return
	}
	for tick.Tick(len(f.marks)) <= now/markEvery {
		f.marks = append(f.marks, mark{})
	}
	f.marks[now/markEvery] = mark{now, m.Hash()}
}

// mark is how the match stood after a tick, as far as that was noted.
func (f *films) mark(t tick.Tick) (hash uint64, ok bool) {
	if t/markEvery >= tick.Tick(len(f.marks)) || f.marks[t/markEvery].at != t {
		return 0, false
	}
	return f.marks[t/markEvery].hash, true
}

// page notes what came into the match for a tick. It is the twin's diary, which it wrote of what it was given. A recording does not say how
// somebody was seen who is judged by another view, as nothing follows from that.
func (f *films) page(d *sim.Diary) {
	beheld := slices.Clone(d.Beheld)
	for i := range beheld {
		b := &beheld[i]
		b.Seen, b.Old = b.View, false
	}
	if cap(f.taken)-len(f.taken) < len(d.Taken) {
		f.taken = make([]sim.Taken, 0, 4096)
	}
	n := len(f.taken)
	f.taken = append(f.taken, d.Taken...)
	f.pages = append(f.pages, sim.Diary{Tick: d.Tick, Acts: slices.Clone(d.Acts), Taken: f.taken[n:len(f.taken):len(f.taken)],
		Known: slices.Clone(d.Known), Unseen: slices.Clone(d.Unseen), Beheld: beheld})
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
