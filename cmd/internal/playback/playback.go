// Package playback plays a recorded match again and compares it with the checksums in the
// recording. A file and options go in; kills, scores, statistics of aiming and the first difference
// come out. Commands call it.
package playback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	hitrig "github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/replay"
)

// Options are the settings of a playback.
type Options struct {
	From, To uint32 // first and last tick to play; 0: those of the recording
	Check    bool   // write the last line only: whether all checksums are equal
	JSON     bool   // write the result as one line of JSON
	At       uint32 // tick to play many times, in place of the match; 0: none
	Times    int    // number of times that tick At is played; 0: 200
	Profile  string // file for a CPU profile of tick At; "": none
	// File of the map and folder of the content pack; "": those that the recording names.
	Map, Content string
}

// Result is the outcome of a playback, and the JSON that Run writes.
type Result struct {
	Map      string        `json:"map"`       // name, as clients see it
	Mode     string        `json:"mode"`      // name in the content pack
	Hz       int           `json:"hz"`        // simulation rate
	Slots    int           `json:"slots"`     // most players
	From     tick.Tick     `json:"from"`      // first tick played, from Options.From on
	To       tick.Tick     `json:"to"`        // last tick played
	Ticks    int           `json:"ticks"`     // number of ticks played, those before From included
	Compared int           `json:"checksums"` // number of equal checksums and saved states
	Bytes    int64         `json:"bytes"`     // number of bytes of the file that were read
	Speed    float64       `json:"speed"`     // ratio of match time to elapsed time
	Kills    []Kill        `json:"kills"`     // in the order of the match
	Scores   []int32       `json:"scores"`    // by team
	Players  []PlayerScore `json:"players"`   // at the last tick
	Same     bool          `json:"same"`      // every checksum was equal
	Error    string        `json:"error,omitempty"`
	Diverged *Difference   `json:"diverged,omitempty"` // nil unless the match differs
	Phase    string        `json:"phase"`              // countdown, round or ended
	End      string        `json:"end,omitempty"`      // how the file ends; "": not read to its end

	rate        tick.Rate    // Hz as the type that converts ticks to time
	aim         *aim.Tracker // of all slots
	first, last tick.Tick    // of the chunks that were read
}

// Kill is one kill. Players are named by net id.
type Kill struct {
	Tick   tick.Tick `json:"tick"`
	Killer string    `json:"killer"`
	Victim string    `json:"victim"`
	Cause  string    `json:"cause"`
	Head   bool      `json:"head,omitempty"`
}

// PlayerScore is the score of a player after the last tick.
type PlayerScore struct {
	ID     string    `json:"id"`
	Team   uint8     `json:"team"`
	Kills  uint16    `json:"kills"`
	Deaths uint16    `json:"deaths"`
	Aim    *AimStats `json:"aim,omitempty"` // nil for a player without a hit
}

// AimStats are a player's statistics of aiming. Snap and Reaction are means, see aim.Features.
type AimStats struct {
	Rounds   uint32  `json:"rounds"`       // bullets fired
	Hits     uint32  `json:"hits"`         // bullets that hit a player
	OnTarget float32 `json:"on_target"`    // Hits / Rounds
	Snap     float32 `json:"snap_degrees"` // greatest turn in a tick of the 200 ms before a hit
	Reaction float32 `json:"reaction_ms"`  // from the victim's coming into sight to the first hit
	Score    float32 `json:"score"`        // suspicion: 0, as people aim, to 1, as no hand can
}

// Difference is the first difference between the recording and the match that was played again.
type Difference struct {
	Since tick.Tick `json:"since"` // newest tick whose checksum was equal
	Tick  tick.Tick `json:"tick"`  // tick whose checksum differs
	What  string    `json:"what"`  // the first field that differs, or the checksum
}

// Run plays the recording at path and writes the result, even if the match differs. The error names
// the first difference, the damage in the file, or a wrong option.
func Run(ctx context.Context, w io.Writer, path string, o Options) error {
	if o.To != 0 && o.To < o.From {
		return usage.Errorf("--from %d --to %d: expected --to to be at least --from", o.From, o.To)
	}
	if err := o.checkRepeat(); err != nil {
		return err
	}
	r, err := Open(path, &o)
	if err != nil {
		return err
	}
	defer r.Close()
	p, head := r.Player, &r.reader.Head
	if o.At != 0 {
		if err := o.repeat(ctx, w, r.reader, p); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	out := Result{Map: head.ArenaName, Mode: head.Mode, Hz: int(head.Rate), Slots: head.Slots,
		rate: head.Rate, aim: aim.New(head.Slots), Kills: []Kill{}}
	begun := time.Now()
	err = out.play(ctx, &o, r)
	if err == nil && out.From == 0 && (o.From != 0 || o.To != 0) {
		return usage.Errorf("%s has ticks %d to %d: expected some of them, not%s", path,
			out.first, out.last, o.givenRange())
	}
	out.Bytes, out.Same, out.Compared = r.reader.Offset(), err == nil, p.Compared
	if took := time.Since(begun).Seconds(); took > 0 {
		out.Speed = float64(out.Ticks) / float64(out.Hz) / took
	}
	out.score(p.Match)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
		out.Error = err.Error()
		if d := (*replay.Divergence)(nil); errors.As(err, &d) {
			out.Diverged = &Difference{d.Since, d.Tick, d.What}
		}
	}
	out.print(w, &o)
	return err
}

// givenRange is --from and --to as they were given, each after a space.
func (o *Options) givenRange() (text string) {
	if o.From != 0 {
		text = fmt.Sprintf(" --from %d", o.From)
	}
	if o.To != 0 {
		text += fmt.Sprintf(" --to %d", o.To)
	}
	return text
}

// Player loads the map, content pack and rules that the head of a recording names, and returns a
// player for its chunks. A map that neither the pack nor this build has is a usage error.
func (o *Options) Player(h *replay.Head) (*replay.Player, error) {
	pack, err := assets.Content(o.Content)
	if err != nil {
		return nil, err
	}
	var ground *arena.Arena
	if o.Map != "" {
		ground, err = assets.Map(o.Map)
	} else if a, ok, bad := pack.Ground(h.ArenaName); ok {
		ground, err = a, bad
	} else if ground, err = client.Known(h.ArenaName, h.Arena); err != nil {
		// Known opens no file: a name in a recording is never used as a path.
		err = usage.Errorf("map %q: %w; give its file with --map", h.ArenaName, err)
	}
	if err != nil {
		return nil, err
	}
	game, err := assets.Game(pack, h.ArenaName, h.Mode)
	if err != nil {
		return nil, err
	}
	return replay.NewPlayer(h, game, ground)
}

// play reads the chunks and plays the ticks that the options ask for, up to the first error. It
// begins at the last saved state before From, since later ticks follow from it.
func (o *Result) play(ctx context.Context, f *Options, r *Recording) error {
	var since []*replay.Chunk // chunks since the last saved state
	for ctx.Err() == nil {
		chunk, err := r.reader.Next()
		if err == io.EOF {
			o.End = r.reader.End.String()
			return nil
		}
		if err != nil {
			return err
		}
		if o.last == 0 {
			o.first = chunk.First
		}
		o.last = chunk.Last()
		if len(chunk.Key) > 0 { // a saved state: no earlier chunk is needed
			since = since[:0]
		}
		if since = append(since, chunk); uint32(chunk.Last()) < f.From {
			continue
		}
		for _, chunk := range since {
			if f.To != 0 && uint32(chunk.First) > f.To {
				return nil
			}
			err := r.playChunk(ctx, chunk, func(err error) error { return o.tick(f, r.Player.Match, err) })
			if err == errOver {
				return nil
			} else if err != nil {
				return err
			}
		}
		since = since[:0]
	}
	return ctx.Err()
}

// errOver ends a playback after the last tick that the options ask for.
var errOver = errors.New("the last tick was played")

// tick adds the kills and the aim of the tick that m has just played. It returns err, the error of
// that tick, or errOver after the last tick that the options ask for.
func (o *Result) tick(f *Options, m *sim.Match, err error) error {
	if err != nil {
		return err
	}
	o.Ticks++
	t := m.Tick()
	if uint32(t) < f.From {
		return nil
	}
	if o.From == 0 {
		o.From = t
	}
	o.To = t
	o.aim.Tick(m)
	for _, e := range m.Outcome().Events {
		if e.Kind == sim.EventKill {
			o.Kills = append(o.Kills,
				Kill{t, e.Actor.String(), e.Victim.String(), e.Cause.String(), e.Part == hitrig.PartHead})
		}
	}
	if f.To != 0 && uint32(t) >= f.To {
		return errOver
	}
	return nil
}

// score adds the scores after the last tick. m is nil if no chunk was read.
func (o *Result) score(m *sim.Match) {
	if m == nil {
		return
	}
	s := m.Mode()
	o.Scores, o.Phase = s.Score[:], [mode.Phases]string{"countdown", "round", "ended"}[s.Phase]
	for _, pose := range m.Poses() {
		id := m.World.At(int(pose.ID >> 8))
		if v := m.Vital(id); pose.ID != 0 && v != nil && !m.Spectates(id) {
			o.Players = append(o.Players,
				PlayerScore{id.String(), v.Team, v.Kills, v.Deaths, o.aimOf(id.Index())})
		}
	}
}

// aimOf returns the aiming statistics of the player in a slot, nil if it hit nobody.
func (o *Result) aimOf(slot int) *AimStats {
	f := o.aim.Features(slot)
	if f.Hits == 0 {
		return nil
	}
	return &AimStats{f.Shots, f.Hits, f.OnTarget, f.Snap, f.Reaction, f.Score()}
}

// clock formats a tick as time since the match began.
func (o *Result) clock(t tick.Tick) string {
	ms := o.rate.At(t).Milliseconds()
	return fmt.Sprintf("%d:%02d.%03d", ms/60000, ms/1000%60, ms%1000)
}

// print writes the result as text, or as a line of JSON.
func (o *Result) print(w io.Writer, f *Options) {
	if f.JSON {
		_ = json.NewEncoder(w).Encode(o)
		return
	}
	if !f.Check {
		fmt.Fprintf(w, "%s on %s, %d Hz, up to %d players\n", o.Mode, o.Map, o.Hz, o.Slots)
		for _, k := range o.Kills {
			how := k.Cause
			if k.Head {
				how += ", head"
			}
			fmt.Fprintf(w, "%10s  tick %-7d %s killed %s (%s)\n", o.clock(k.Tick),
				k.Tick, k.Killer, k.Victim, how)
		}
		fmt.Fprintf(w, "%s at %s, score %v\n", o.Phase, o.clock(o.To), o.Scores)
		for _, p := range o.Players {
			fmt.Fprintf(w, "  %-8s team %d  %3d kills  %3d deaths", p.ID, p.Team, p.Kills, p.Deaths)
			if a := p.Aim; a != nil {
				fmt.Fprintf(w, "  %4d of %4d shots hit, snap %.1f degrees, reaction %.0f ms, "+
					"suspicion %.2f (0 to 1)", a.Hits, a.Rounds, a.Snap, a.Reaction, a.Score)
			}
			fmt.Fprintln(w)
		}
	}
	verdict := "the same match"
	if !o.Same {
		verdict = "the same match up to the error"
	}
	fmt.Fprintf(w, "%d ticks played, %d to %d, %.1f times real time, %d checksums equal: %s\n",
		o.Ticks, o.From, o.To, o.Speed, o.Compared, verdict)
}
