package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	hitrig "github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/replay"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	from, to    uint32
	check, json bool
	arena, pack string
}

func newReplay() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a recorded match again, and check that it is the same",
		Long: `replay plays a recording of tickrate serve --record again, holds it against the fingerprints in it, and prints who was killed when,
how it ended and how everybody aimed: from 0, as people do, to 1, as no hand does; nobody is punished by it. It stops at the first difference and names the tick and what differs. Of a file that ends early or is damaged all is
played that comes before; the error says where it ends and what was expected there. Exit code 1 then, and at a difference.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badUse(fmt.Errorf("%d files: expected one recording; see tickrate replay --help", len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return replayFile(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.Uint32Var(&f.from, "from", 0, "first `tick` to be played; 0 for the first there is")
	fl.Uint32Var(&f.to, "to", 0, "last `tick` to be played; 0 for the last there is")
	fl.BoolVar(&f.check, "check", false, "say only whether it is the same")
	fl.BoolVar(&f.json, "json", false, "print one line of JSON instead")
	fl.StringVar(&f.arena, "arena", "", "`map` if it is a file: the recording has its name only; default what the recording says")
	fl.StringVar(&f.pack, "content", "", contentUsage)
	return c
}

// replayed is what came of a replay.
type replayed struct {
	Map      string    `json:"map"`
	Mode     string    `json:"mode"`
	Hz       int       `json:"hz"`
	Slots    int       `json:"slots"`
	From     tick.Tick `json:"from"`
	To       tick.Tick `json:"to"`
	Ticks    int       `json:"ticks"`
	Compared int       `json:"fingerprints"`
	Bytes    int64     `json:"bytes"`
	Speed    float64   `json:"speed"` // in times of life
	Kills    []killed  `json:"kills"`
	Scores   []int32   `json:"scores"`
	Players  []scored  `json:"players"`
	Same     bool      `json:"same"`
	Error    string    `json:"error,omitempty"`
	Diverged *diverged `json:"diverged,omitempty"`
	Phase    string    `json:"phase"`
	End      string    `json:"end,omitempty"` // how the file ends, if all of it was read

	rate tick.Rate
	aim  *aim.Tracker
}

type killed struct {
	Tick   tick.Tick `json:"tick"`
	Killer string    `json:"killer"`
	Victim string    `json:"victim"`
	Cause  string    `json:"cause"`
	Head   bool      `json:"head,omitempty"`
}

type scored struct {
	ID     string `json:"id"`
	Team   uint8  `json:"team"`
	Kills  uint16 `json:"kills"`
	Deaths uint16 `json:"deaths"`
	Aim    *aimed `json:"aim,omitempty"` // of who hit somebody
}

// aimed is how somebody aimed, see aim.Features.
type aimed struct {
	Rounds   uint32  `json:"rounds"`
	Hits     uint32  `json:"hits"`
	OnTarget float32 `json:"on_target"`
	Snap     float32 `json:"snap_degrees"`
	Reaction float32 `json:"reaction_ms"`
	Score    float32 `json:"score"`
}

type diverged struct {
	Since tick.Tick `json:"since"`
	Tick  tick.Tick `json:"tick"`
	What  string    `json:"what"`
}

func replayFile(c *cobra.Command, f replayFlags, path string) error {
	if f.to != 0 && f.to < f.from {
		return badUse(fmt.Errorf("--from %d --to %d: expected an order", f.from, f.to))
	}
	file, err := os.Open(path)
	if err != nil {
		return badUse(fmt.Errorf("recording: %w", err))
	}
	defer file.Close()
	r, err := replay.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	p, err := f.player(&r.Head)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := replayed{Map: r.Head.ArenaName, Mode: r.Head.Mode, Hz: int(r.Head.Rate), Slots: r.Head.Slots, rate: r.Head.Rate, aim: aim.New(r.Head.Slots), Kills: []killed{}}
	begun := time.Now()
	err = out.play(c, &f, r, p)
	out.Bytes, out.Same, out.Compared = r.Offset(), err == nil, p.Compared
	if took := time.Since(begun).Seconds(); took > 0 {
		out.Speed = float64(out.Ticks) / float64(out.Hz) / took
	}
	out.stand(p.Match)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
		out.Error = err.Error()
		if d := (*replay.Divergence)(nil); errors.As(err, &d) {
			out.Diverged = &diverged{d.Since, d.Tick, d.What}
		}
	}
	out.print(c.OutOrStdout(), &f)
	return err
}

// player finds what the head of a recording names.
func (f *replayFlags) player(h *replay.Head) (*replay.Player, error) {
	pack, err := openContent(f.pack)
	if err != nil {
		return nil, err
	}
	var ground *arena.Arena
	if f.arena != "" {
		ground, err = openArena(f.arena)
	} else if a, ok, bad := pack.Ground(h.ArenaName); ok {
		ground, err = a, bad
	} else if ground, err = client.Known(h.ArenaName, h.Arena); err != nil { // a name in a file is no path
		err = badUse(fmt.Errorf("map %q: %w; give its file with --arena", h.ArenaName, err))
	}
	if err != nil {
		return nil, err
	}
	game, err := sim.GameForArena(pack, h.ArenaName, h.Mode)
	if err != nil {
		return nil, badUse(err)
	}
	return replay.NewPlayer(h, game, ground)
}

// play plays what was asked for, as far as it goes.
func (o *replayed) play(c *cobra.Command, f *replayFlags, r *replay.Reader, p *replay.Player) error {
	var since []*replay.Chunk // the last state
	for c.Context().Err() == nil {
		chunk, err := r.Next()
		if err == io.EOF {
			o.End = r.End.String()
			return nil
		}
		if err != nil {
			return err
		}
		if len(chunk.Key) > 0 {
			since = since[:0]
		}
		if since = append(since, chunk); uint32(chunk.Last()) < f.from {
			continue
		}
		for _, chunk := range since {
			if over, err := o.chunk(c, f, p, chunk); over || err != nil {
				return err
			}
		}
		since = since[:0]
	}
	return c.Context().Err()
}

// chunk plays a chunk, and says whether that was all that was asked for.
func (o *replayed) chunk(c *cobra.Command, f *replayFlags, p *replay.Player, chunk *replay.Chunk) (over bool, err error) {
	if err := p.Load(chunk); err != nil {
		return false, err
	}
	for !p.Done() && c.Context().Err() == nil {
		if f.to != 0 && uint32(p.Match.Tick()) >= f.to {
			return true, nil
		}
		if err := p.Step(); err != nil {
			return false, err
		}
		o.tick(f, p.Match)
	}
	return false, c.Context().Err()
}

// tick notes what happened.
func (o *replayed) tick(f *replayFlags, m *sim.Match) {
	o.Ticks++
	t := m.Tick()
	if uint32(t) < f.from {
		return
	}
	if o.From == 0 {
		o.From = t
	}
	o.To = t
	o.aim.Tick(m)
	for _, e := range m.Outcome().Events {
		if e.Kind == sim.EventKill {
			o.Kills = append(o.Kills, killed{t, e.Actor.String(), e.Victim.String(), e.Cause.String(), e.Part == hitrig.PartHead})
		}
	}
}

// stand notes how the match stands.
func (o *replayed) stand(m *sim.Match) {
	if m == nil {
		return
	}
	s := m.Mode()
	o.Scores, o.Phase = s.Score[:], [mode.Phases]string{"countdown", "round", "ended"}[s.Phase]
	for _, pose := range m.Poses() {
		id := m.World.At(int(pose.ID >> 8))
		if v := m.Vital(id); pose.ID != 0 && v != nil && !v.Spectator {
			o.Players = append(o.Players, scored{id.String(), v.Team, v.Kills, v.Deaths, o.aimOf(id.Index())})
		}
	}
}

// aimOf is how the player of a slot aimed in the ticks that were asked for, nil if it hit nobody.
func (o *replayed) aimOf(slot int) *aimed {
	f := o.aim.Features(slot)
	if f.Hits == 0 {
		return nil
	}
	return &aimed{f.Shots, f.Hits, f.OnTarget, f.Snap, f.Reaction, f.Score()}
}

// clock is a tick as time since the match began.
func (o *replayed) clock(t tick.Tick) string {
	ms := o.rate.At(t).Milliseconds()
	return fmt.Sprintf("%d:%02d.%03d", ms/60000, ms/1000%60, ms%1000)
}

func (o *replayed) print(w io.Writer, f *replayFlags) {
	if f.json {
		_ = json.NewEncoder(w).Encode(o)
		return
	}
	if !f.check {
		fmt.Fprintf(w, "%s on %s, %d Hz, up to %d players\n", o.Mode, o.Map, o.Hz, o.Slots)
		for _, k := range o.Kills {
			how := k.Cause
			if k.Head {
				how += ", head"
			}
			fmt.Fprintf(w, "%10s  tick %-7d %s killed %s (%s)\n", o.clock(k.Tick), k.Tick, k.Killer, k.Victim, how)
		}
		fmt.Fprintf(w, "%s at %s, score %v\n", o.Phase, o.clock(o.To), o.Scores)
		for _, p := range o.Players {
			fmt.Fprintf(w, "  %-8s team %d  %3d kills  %3d deaths", p.ID, p.Team, p.Kills, p.Deaths)
			if a := p.Aim; a != nil {
				fmt.Fprintf(w, "  %4d of %4d rounds hit, after turns of %.1f degrees a tick, %.0f ms in sight: aim %.2f", a.Hits, a.Rounds, a.Snap, a.Reaction, a.Score)
			}
			fmt.Fprintln(w)
		}
	}
	verdict := "the same"
	if !o.Same {
		verdict = "the same up to here"
	}
	fmt.Fprintf(w, "%d ticks, %d to %d, %.1f times as fast as life: %d fingerprints, %s\n", o.Ticks, o.From, o.To, o.Speed, o.Compared, verdict)
}
