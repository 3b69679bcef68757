package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// PredictionOptions are the settings of Prediction.
type PredictionOptions struct {
	Player  string // net id; empty for all
	Cause   string // name of a predict.Cause, or "any"
	First   int    // corrections that are written; 0 for all
	All     bool   // writes equal fields, too
	JSON    bool
	Map     string // file of a recording's map
	Preview preview.Options
}

// anyCause selects corrections of every cause.
const anyCause = "any"

// CorrectionLog is how many corrections of a client wait for the inspector: more than one tick has.
const CorrectionLog = 64

// Prediction writes where the prediction of players and the server's state differed, both states
// field by field, and the commands that led there. The source is "preview", for a match in virtual
// time, or the file of a recording. A recording has no predictions: each player's commands are
// predicted anew.
func Prediction(ctx context.Context, out io.Writer, source string, o PredictionOptions) error {
	r, err := NewPredictionReport(out, o)
	if err != nil {
		return err
	}
	if source == "preview" {
		err = r.preview(ctx)
	} else {
		err = r.replay(ctx, source)
	}
	return errors.Join(err, r.Close())
}

// PredictionReport writes corrections as they come, and their number at the end.
type PredictionReport struct {
	out     io.Writer
	o       PredictionOptions
	player  uint32
	written int
	total   PredictionTotals
}

// PredictionTotals counts what was compared.
type PredictionTotals struct {
	Players        int    `json:"players"`
	Rows           uint64 `json:"rows"` // owner rows
	Mispredictions uint64 `json:"mispredictions"`
	Pushes         uint64 `json:"pushes"` // knock-backs and teleports
	Lives          uint64 `json:"lives"`  // deaths and respawns
	Starved        uint64 `json:"starved_ticks,omitempty"`
}

// NewPredictionReport returns a report without corrections. Its errors are of use.
func NewPredictionReport(out io.Writer, o PredictionOptions) (*PredictionReport, error) {
	id, err := parseID("--player", o.Player)
	if err != nil {
		return nil, usage.Error(err)
	}
	causes := []string{anyCause}
	for c := predict.Misprediction; c <= predict.Life; c++ {
		causes = append(causes, c.String())
	}
	switch {
	case !slices.Contains(causes, o.Cause):
		return nil, usage.Errorf("--cause %q: expected one of %s", o.Cause, strings.Join(causes, ", "))
	case o.First < 0:
		return nil, usage.Errorf("--first %d: expected 0 for all, or more", o.First)
	}
	return &PredictionReport{out: out, o: o, player: id}, nil
}

// Take writes the corrections that wait in a client.
func (r *PredictionReport) Take(c *client.Client) error {
	for found, ok := c.NextCorrection(); ok; found, ok = c.NextCorrection() {
		if err := r.add(c.ID(), &found, c.Kit(), c.Arena()); err != nil {
			return err
		}
	}
	return nil
}

// Count adds a player's comparisons to the totals.
func (r *PredictionReport) Count(s *predict.Stats) {
	t := &r.total
	t.Players++
	t.Rows += s.Rows
	t.Mispredictions += s.Mispredictions
	t.Pushes += s.Pushes
	t.Lives += s.Lives
}

// wants reports whether a correction is to be written.
func (r *PredictionReport) wants(id netid.ID, c *predict.Correction) bool {
	return (r.player == 0 || r.player == uint32(id)) &&
		(r.o.Cause == anyCause || r.o.Cause == c.Cause.String()) &&
		(r.o.First == 0 || r.written < r.o.First)
}

// add writes a correction, if it is wanted.
func (r *PredictionReport) add(
	id netid.ID, c *predict.Correction, kit *sim.CompiledGame, a *arena.Arena,
) error {
	if !r.wants(id, c) {
		return nil
	}
	r.written++
	told := describe(id, c, kit, a)
	if r.o.JSON {
		return writeLine(r.out, told)
	}
	return told.write(r.out, r.o.All)
}

// Close writes the totals.
func (r *PredictionReport) Close() error {
	t := &r.total
	if r.o.JSON {
		return writeLine(r.out, struct {
			Type string `json:"type"`
			PredictionTotals
			Written int `json:"written"`
		}{"summary", *t, r.written})
	}
	var b strings.Builder
	if t.Mispredictions == 0 {
		b.WriteString("No prediction differed from the server's state.\n")
	}
	fmt.Fprintf(&b, "%d players, %d owner rows compared:\n"+
		"  %d mispredictions\n"+
		"  %d pushes by the server: knock-backs and teleports (--cause push)\n"+
		"  %d deaths and respawns (--cause life)\n", t.Players, t.Rows, t.Mispredictions, t.Pushes, t.Lives)
	if t.Starved > 0 {
		fmt.Fprintf(&b, "%d ticks ran without their player's command. What the player predicted\n"+
			"there is not in a recording.\n", t.Starved)
	}
	if r.o.First > 0 && r.written == r.o.First {
		fmt.Fprintf(&b, "Only the first %d are shown: --first 0 shows all.\n", r.written)
	}
	_, err := io.WriteString(r.out, b.String())
	return err
}

// preview plays a match in virtual time.
func (r *PredictionReport) preview(ctx context.Context) error {
	o := r.o.Preview
	o.Corrections = CorrectionLog
	s, err := o.Open()
	if err != nil {
		return err
	}
	for s.Now() < o.Duration && ctx.Err() == nil {
		if err := s.Step(); err != nil {
			return err
		}
		for _, c := range s.Clients {
			if err := r.Take(c); err != nil {
				return err
			}
		}
	}
	for _, c := range s.Clients {
		stats := c.Stats()
		r.Count(&stats.Prediction)
	}
	return ctx.Err()
}

// predictors predicts the players of a recording, by slot.
type predictors struct {
	of    map[int]*predictor
	match *sim.Match
}

// predictor predicts one player.
type predictor struct {
	predict.Predictor
	id netid.ID
}

// replay plays a recording and predicts each player's commands from the state before.
func (r *PredictionReport) replay(ctx context.Context, path string) error {
	all := predictors{}
	defer func() { all.count(r) }()
	return eachTick(ctx, path, &playback.Options{Map: r.o.Map, Content: r.o.Preview.Content},
		func(m *sim.Match, in *sim.TickInputs) error { return all.tick(r, m, in) })
}

// tick predicts a tick of all players and compares it with the match.
func (p *predictors) tick(r *PredictionReport, m *sim.Match, in *sim.TickInputs) error {
	if p.match != m { // the recording has a gap
		p.count(r)
		p.match, p.of = m, map[int]*predictor{}
	}
	own := map[int]*sim.Command{}
	for i := range in.Commands {
		own[in.Commands[i].ID.Index()] = &in.Commands[i].Command
	}
	poses := m.Poses()
	for slot := range poses {
		id := m.World.At(slot)
		if m.Vital(id) == nil || m.Spectates(id) {
			continue
		}
		one := p.of[slot]
		if one == nil || one.id != id {
			if one != nil {
				r.Count(&one.Stats)
			}
			one = newPredictor(m, id)
			p.of[slot] = one
		}
		if err := one.tick(r, m, own[slot]); err != nil {
			return err
		}
	}
	return nil
}

func newPredictor(m *sim.Match, id netid.ID) *predictor {
	log := ringbuf.New[predict.Correction](1)
	return &predictor{predict.Predictor{Arena: m.Scene().Arena, Kit: m.Game(), Log: &log}, id}
}

// tick predicts the newest tick of the match by the player's command, nil for none, and compares.
func (p *predictor) tick(r *PredictionReport, m *sim.Match, own *sim.Command) error {
	t := m.Tick()
	if own == nil {
		if p.First != 0 {
			r.total.Starved++
		}
		p.Skip(t)
	} else {
		p.Skip(t - 1)
		p.Push(*own, tick.View{})
	}
	row := netstate.GatherSelf(m, p.id)
	p.Reconcile(t, &row)
	for c, ok := p.Log.Pop(); ok; c, ok = p.Log.Pop() {
		if err := r.add(p.id, &c, p.Kit, p.Arena); err != nil {
			return err
		}
	}
	return nil
}

// count adds what was compared to the report.
func (p *predictors) count(r *PredictionReport) {
	for _, one := range p.of {
		r.Count(&one.Stats)
	}
	p.of = nil
}
