package server

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// RecordingChunk is a piece of a lobby's recording. The function that gets it may keep it.
type RecordingChunk struct {
	Head  *replay.Head // of the recording that it is of
	Chunk *replay.Chunk
	First bool // a new round starts, and a recording can begin with this chunk: one file a round
}

// recording records the match of a lobby. Config.Record gets all of it, killcams the last seconds.
// A tick only copies; chunks and killcams are encoded by Config.Background.
type recording struct {
	*core
	recorded *sim.Match       // the match that rec records; a new match has a new recording
	head     *replay.Head     // of this recording alone: a writer may read it after the next begins
	rec      *replay.Recorder // nil: no recording is wanted
	last     *replay.Killcam  // the last seconds; belongs to Config.Background
	round    uint16
	begun    bool
	dropped  uint64 // of rec's dropped chunks, those that are counted
	jobs     *recordingJobs
	spare    spareRecorder
	killcams killcams
}

// spareRecorder is the memory of recordings of one match: of killcams, which end and begin with the
// connections that want them.
type spareRecorder struct {
	of   *sim.Match
	head replay.Head
	rec  *replay.Recorder
}

// recordingJobs is what a recording has Config.Background do. A job is used again for each
// RawChunks-th chunk: by then it is done, since no more chunks than that have memory.
type recordingJobs struct {
	chunks  [replay.RawChunks]chunkJob
	handed  int // chunks
	killcam killcamJob
}

// chunkJob encodes a chunk, for Config.Record and for killcams.
type chunkJob struct {
	raw    *replay.RawChunk
	head   *replay.Head
	first  bool
	record func(RecordingChunk) // nil: it is for killcams only
	cam    *replay.Killcam      // nil: no connection wants killcams
	run    func()               // encode, bound once
}

func newRecordingJobs() *recordingJobs {
	j := new(recordingJobs)
	for i := range j.chunks {
		j.chunks[i].run = j.chunks[i].encode
	}
	j.killcam.run = j.killcam.encode
	return j
}

// encode runs outside the tick. Once the raw chunk is encoded, the tick may use the job again.
func (j *chunkJob) encode() {
	to := *j
	chunk := to.raw.Encode()
	if to.record != nil {
		to.record(RecordingChunk{Head: to.head, Chunk: chunk, First: to.first})
	}
	if to.cam != nil {
		to.cam.Add(chunk)
	}
}

// reserve allocates what recordings of the match need, unless the map came with it, or the lobby is
// small: the tick in which a client first wants killcams then makes it, within 2 ms.
func (r *recording) reserve() {
	if r.cfg.Record != nil || r.cfg.reservesKillcams() {
		r.makeSpare()
	}
}

func (r *recording) makeSpare() {
	if r.spare.of != r.match {
		r.spare.make(&r.cfg, r.match)
	}
}

// make allocates what recordings of a match need: milliseconds and megabytes. While a player joins
// or leaves it does nothing.
func (s *spareRecorder) make(c *Config, m *sim.Match) {
	ticks := chunkTicks(c)
	if rec, err := replay.NewRecorder(m, ticks, replay.KeyEvery); err == nil {
		rec.Close()
		*s = spareRecorder{m, replay.HeadOf(m, c.ArenaName, ticks), rec}
	}
}

// start starts to record the match as it stands, right after a tick or before the first.
func (r *recording) start() {
	r.makeSpare()
	if r.spare.of != r.match || !r.spare.rec.Approach(r.match) || r.spare.rec.Start(r.match) != nil {
		return // not yet, or a player joins or leaves: the next tick tries again
	}
	h := r.spare.head
	h.RespawnMillis = r.match.Rules().RespawnMillis
	r.reset()
	r.recorded, r.head, r.rec, r.last = r.match, &h, r.spare.rec, replay.NewKillcam(h)
	r.dropped, r.jobs = r.rec.Dropped(), newRecordingJobs()
}

// reset forgets the recording, but neither its memory nor the connections that want killcams.
func (r *recording) reset() {
	*r = recording{core: r.core, spare: r.spare, killcams: r.killcams}
}

func chunkTicks(c *Config) int { return replay.ChunkMillis * int(c.Rules.Rate) / 1000 }

// tick takes the tick that was just played.
func (r *recording) tick() {
	switch {
	case r.cfg.Record == nil && r.killcams.viewers == 0:
		if r.rec != nil {
			r.finish()
		}
		return
	case r.rec == nil || r.recorded != r.match:
		r.start()
		return
	}
	if raw := r.rec.Tick(); raw != nil {
		r.hand(raw)
	}
	if n := r.rec.Dropped(); n != r.dropped {
		r.Stats.Count[metrics.RecordingChunksDropped].Add(n - r.dropped)
		r.dropped, r.begun = n, false // the recording goes on in another file
	}
}

// hand has a chunk encoded for Config.Record and for killcams.
func (r *recording) hand(raw *replay.RawChunk) {
	j := &r.jobs.chunks[r.jobs.handed%replay.RawChunks]
	r.jobs.handed++
	round := r.match.Mode().Round
	j.raw, j.head, j.record, j.cam = raw, r.head, r.cfg.Record, nil
	if j.first = raw.HasKey() && (!r.begun || round != r.round); j.first {
		r.begun, r.round = true, round
	}
	if r.killcams.viewers > 0 {
		j.cam = r.last
	}
	r.cfg.Background(j.run)
}

// FinishRecording hands what was recorded since the last chunk to Config.Background and ends the
// recording: for the end of a lobby, which must let Background finish.
func (l *Lobby) FinishRecording() { l.recording.finish() }

func (r *recording) finish() {
	if r.rec == nil {
		return
	}
	if raw := r.rec.Close(); raw != nil {
		r.hand(raw)
	}
	r.reset()
}

// millis is a time in ticks of the match.
func (r *recording) millis(n int) tick.Tick { return tick.Tick(n * int(r.cfg.Rules.Rate) / 1000) }
