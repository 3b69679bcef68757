package server

import (
	"github.com/tickrate/tickrate/ecs/tick"
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
type recording struct {
	*core
	recorded *sim.Match       // the match that rec records; a new match has a new recording
	head     *replay.Head     // of this recording alone: a writer may read it after the next begins
	rec      *replay.Recorder // nil: no recording is wanted
	last     *replay.Killcam  // the last seconds
	round    uint16
	begun    bool
	killcams killcams
}

// start starts to record the match as it stands, right after a tick or before the first.
func (r *recording) start() {
	ticks := r.chunkTicks()
	rec, err := replay.NewRecorder(r.match, ticks, replay.KeyEvery)
	if err != nil {
		return // a player joins or leaves: the next tick tries again
	}
	h := replay.HeadOf(r.match, r.cfg.ArenaName, ticks)
	r.reset()
	r.recorded, r.head, r.rec, r.last = r.match, &h, rec, replay.NewKillcam(h)
}

// reset forgets the recording, but not the connections that want killcams.
func (r *recording) reset() { *r = recording{core: r.core, killcams: r.killcams} }

func (r *recording) chunkTicks() int { return replay.ChunkMillis * int(r.cfg.Rules.Rate) / 1000 }

// tick takes the tick that was just played.
func (r *recording) tick() {
	switch {
	case r.cfg.Record == nil && r.killcams.viewers == 0:
		if r.rec != nil {
			r.rec.Close()
			r.reset()
		}
		return
	case r.rec == nil || r.recorded != r.match:
		r.start()
		return
	}
	if chunk := r.rec.Tick(); chunk != nil {
		r.emit(chunk)
		if r.killcams.viewers > 0 {
			r.last.Add(chunk)
		}
	}
}

// emit hands a chunk to Config.Record.
func (r *recording) emit(c *replay.Chunk) {
	if r.cfg.Record == nil {
		return
	}
	round := r.match.Mode().Round
	first := len(c.Key) > 0 && (!r.begun || round != r.round)
	r.cfg.Record(RecordingChunk{Head: r.head, Chunk: c, First: first})
	if first {
		r.begun, r.round = true, round
	}
}

// FinishRecording hands what was recorded since the last chunk to Config.Record and ends the
// recording: for the end of a lobby.
func (l *Lobby) FinishRecording() { l.recording.finish() }

func (r *recording) finish() {
	if r.rec == nil {
		return
	}
	if c := r.rec.Close(); c != nil {
		r.emit(c)
	}
	r.reset()
}

// millis is a time in ticks of the match.
func (r *recording) millis(n int) tick.Tick { return tick.Tick(n * int(r.cfg.Rules.Rate) / 1000) }
