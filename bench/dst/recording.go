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

// disk is the simulated disk of the server's recording.
type disk struct {
	space   int // bytes left; negative means no limit
	failing bool
	rng     *rand.Rand // draws how much a failing disk writes
}

// errDisk is the error of a failing disk.
var errDisk = errors.New("input/output error")

// diskFile is a file on a disk.
type diskFile struct {
	on   *disk
	data []byte
}

// WriteAt writes as much as fits; on a failing disk it writes a random part.
func (r *diskFile) WriteAt(b []byte, at int64) (n int, err error) {
	switch n = len(b); {
	case r.on.failing:
		n, err = r.on.rng.IntN(n), errDisk
	case r.on.space >= 0:
		if more := int(at) + n - len(r.data); more > r.on.space {
			n, err = n-(more-r.on.space), replay.ErrDiskFull
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

// Truncate always works: it writes nothing.
func (r *diskFile) Truncate(size int64) error { r.data = r.data[:size]; return nil }

// Close does nothing.
func (r *diskFile) Close() error { return nil }

// recordings holds the recording of one start of the server, and what it must contain.
type recordings struct {
	disk       disk
	writer     replay.FileWriter
	file       *diskFile           // the newest file
	first      tick.Tick           // first tick of the file
	last       tick.Tick           // last tick that the file must contain
	phase      tick.Tick           // remainder by hashEvery of the ticks with checksums
	cut        bool                // the file ended early
	reports    int                 // messages about that
	inputs     []sim.TickInputs    // of the shadow match, by tick less 1
	block      []sim.PlayerCommand // memory for the commands of many ticks of inputs
	hashes     []tickHash          // of the match, by tick over hashEvery
	chunkEnded bool                // the server handed a chunk over in this tick
}

// hashEvery is the interval, in ticks, at which the match's hash is kept: that of a recording's
// checksums.
const hashEvery = replay.ChecksumEvery

// tickHash is the hash of the match after a tick.
type tickHash struct {
	at   tick.Tick
	hash uint64
}

// begin starts the recording of a server that has just started.
func (f *recordings) begin(r *run) {
	old := f.disk
	*f = recordings{disk: old}
	if f.disk.rng == nil {
		f.disk = disk{space: -1, rng: rand.New(rand.NewPCG(r.c.Seed, 0x6469736b))} // "disk"
	}
	f.noteHash(r.Lobby.Match())
	f.inputs = make([]sim.TickInputs, 0, int(r.rate)*int(Length/time.Second)+1)
	f.writer = replay.FileWriter{
		Create: func(first tick.Tick) (replay.File, string, error) {
			r.checkRecording(replay.Complete)
			f.file = &diskFile{on: &f.disk, data: make([]byte, 0, 1<<20)}
			f.first, f.last, f.phase = first, 0, (first-1)%hashEvery
			f.cut, f.reports = false, 0
			return f.file, "F", nil
		},
		Report:    func(string) { f.reports++ },
		Truncated: func() { f.cut = true },
	}
}

// onChunk takes a chunk from the server, as its Config.Record.
func (r *run) onChunk(c server.RecordingChunk) {
	f := &r.recordings
	f.chunkEnded = true
	was := f.cut
	write := f.writer.Write
	if c.First {
		write = f.writer.WriteFirst
	}
	if write(c.Head, c.Chunk); !f.cut {
		f.last = c.Chunk.Last()
		return
	}
	end := replay.DiskFull
	if f.disk.failing {
		end = replay.NoFooter // a failing disk cannot take the footer
	}
	if !was {
		r.checkRecording(end)
		f.file = nil
	}
}

// noteHash keeps the hash of the match every hashEvery ticks.
func (f *recordings) noteHash(m *sim.Match) {
	now := m.Tick()
	if now%hashEvery != f.phase {
		return
	}
	for tick.Tick(len(f.hashes)) <= now/hashEvery {
		f.hashes = append(f.hashes, tickHash{})
	}
	f.hashes[now/hashEvery] = tickHash{now, m.Hash()}
}

// hashAt returns the hash of the match after a tick, if it was kept.
func (f *recordings) hashAt(t tick.Tick) (hash uint64, ok bool) {
	if t/hashEvery >= tick.Tick(len(f.hashes)) || f.hashes[t/hashEvery].at != t {
		return 0, false
	}
	return f.hashes[t/hashEvery].hash, true
}

// noteInputs keeps what entered the match in a tick, as the shadow match logged it. It leaves out
// views that only the judging of a shot needed: a recording does not hold them.
func (f *recordings) noteInputs(d *sim.TickInputs) {
	views := slices.Clone(d.TargetViews)
	for i := range views {
		v := &views[i]
		v.Seen, v.Expired = v.View, false
	}
	if cap(f.block)-len(f.block) < len(d.Commands) {
		f.block = make([]sim.PlayerCommand, 0, 4096)
	}
	n := len(f.block)
	f.block = append(f.block, d.Commands...)
	f.inputs = append(f.inputs, sim.TickInputs{Tick: d.Tick, Changes: slices.Clone(d.Changes),
		Commands: f.block[n:len(f.block):len(f.block)], Limits: slices.Clone(d.Limits),
		Hidden: slices.Clone(d.Hidden), TargetViews: views})
}

// serverKilled checks the file that a killed server leaves: at most one second may be missing.
func (f *recordings) serverKilled(r *run) {
	if m := r.Lobby.Match(); f.file != nil && f.last+tick.Tick(r.rate)+1 < m.Tick() {
		r.fail(ReplayFile, "of %d ticks before the server was killed %d are recorded", m.Tick(), f.last)
	}
	r.checkRecording(replay.Unfinished)
}

// finish ends the recording as a server does that stops in order.
func (f *recordings) finish(r *run) {
	if r.Lobby.FinishRecording(); f.file == nil {
		return
	}
	f.writer.Close()
	if m := r.Lobby.Match(); f.last != m.Tick() {
		r.fail(ReplayFile, "the recording ends with tick %d, the match with %d", f.last, m.Tick())
	}
	r.checkRecording(replay.Complete)
}
