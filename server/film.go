package server

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// Film is a piece of a lobby's recording. Whoever is handed one may keep it.
type Film struct {
	Head  *replay.Head // of the match that it is of
	Chunk *replay.Chunk
	First bool // of a round that a recording can begin with: one that is kept by rounds begins anew
}

// film records the lobby's match: for Config.Record, which has all of it, and for killcams, which have the last seconds.
type film struct {
	match *sim.Match       // that rec is of; a lobby that begins another match has another film
	head  *replay.Head     // of this recording alone: whoever writes it down may still read it when the next has begun
	rec   *replay.Recorder // nil: nobody wants one
	cam   *replay.Killcam
	round uint16
	begun bool
}

// roll begins to record the match as it stands, right after a tick or before the first.
func (l *Lobby) roll() {
	f := &l.film
	rate := l.cfg.Rules.Rate
	rec, err := replay.NewRecorder(l.match, replay.ChunkMillis*int(rate)/1000, replay.KeyEvery)
	if err != nil {
		return // somebody comes or goes: after the tick, then
	}
	h := replay.HeadOf(l.match, l.cfg.ArenaName, replay.ChunkMillis*int(rate)/1000)
	*f = film{match: l.match, head: &h, rec: rec, cam: replay.NewKillcam(h)}
}

// record takes the tick that was just played.
func (l *Lobby) record() {
	f := &l.film
	switch {
	case l.cfg.Record == nil && l.cams.askers == 0:
		if f.rec != nil { // nobody is left who wants it
			f.rec.Close()
			*f = film{}
		}
		return
	case f.rec == nil || f.match != l.match:
		l.roll()
		return
	}
	if done := f.rec.Tick(); done != nil {
		l.reel(done)
		if l.cams.askers > 0 {
			f.cam.Add(done)
		}
	}
}

// reel hands a chunk to whoever keeps recordings.
func (l *Lobby) reel(c *replay.Chunk) {
	f := &l.film
	if l.cfg.Record == nil {
		return
	}
	round := l.match.Mode().Round
	first := len(c.Key) > 0 && (!f.begun || round != f.round)
	l.cfg.Record(Film{Head: f.head, Chunk: c, First: first})
	if first {
		f.begun, f.round = true, round
	}
}

// Reel hands what was recorded since the last chunk to Config.Record and ends the recording: for the end of a lobby.
func (l *Lobby) Reel() {
	if l.film.rec == nil {
		return
	}
	if c := l.film.rec.Close(); c != nil {
		l.reel(c)
	}
	l.film = film{}
}

// ticksOf is so many milliseconds at the lobby's rate.
func (l *Lobby) ticksOf(millis int) tick.Tick {
	return tick.Tick(millis * int(l.cfg.Rules.Rate) / 1000)
}
