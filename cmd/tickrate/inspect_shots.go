package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/shotsvg"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// shotsFlags are the flags of inspect shots.
type shotsFlags struct {
	shooter, victim  string
	verdicts, clamps []string
	from, to         uint32
	number           uint64
	last             int
	json             bool
	svg, secret      string
	play             previewFlags
	arena            string
	filter           lagcomp.ShotFilter
	count            uint64 // shots fired
}

// shotsRing is how many receipts a match of our own keeps: more than can be fired in a tick.
const shotsRing = server.MaxShotLogSize

func newInspectShots() *cobra.Command {
	f := shotsFlags{play: previewFlags{mode: "deathmatch", rate: int(tick.DefaultRate)}}
	c := &cobra.Command{
		Use:   "shots [URL | FILE | preview]",
		Short: "Print the receipts of shots: what was claimed, what was believed, who was hit or missed by how much",
		Long: `shots reads receipts from a running server, which keeps the last of them (serve --receipts), from a recording, which it plays again, or
from a match of its own in virtual time. By default it asks the server on this machine. A reader of a picture sees what the shooter saw,
where the target was judged to be and where it was by then.

  tickrate inspect shots --verdict miss --last 20
  tickrate inspect shots http://203.0.113.5:7914 --http-token SECRET --clamp any
  tickrate inspect shots match.tkr --shooter 3.1 --from 600 --to 1200
  tickrate inspect shots preview --delay 60 --verdict hit --last 1 --svg shot.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return badUse(fmt.Errorf("%d sources: expected one; see tickrate inspect shots --help", len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return inspectShots(c, &f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.shooter, "shooter", "", "only shots of this player, by net `id`: 3.1, or its number")
	fl.StringVar(&f.victim, "victim", "", "only shots that hit this player, by net `id`, or missed it by least")
	fl.StringArrayVar(&f.verdicts, "verdict", nil, "only shots with this `verdict`: hit, miss, wall, object, unseen, no-history; may be repeated")
	fl.StringArrayVar(&f.clamps, "clamp", nil, "only shots whose view was moved for this `reason`: any, rtt, acks, cap, backwards, ahead, span, history, no-view, nothing-sent, or none; may be repeated")
	fl.Uint32Var(&f.from, "from", 0, "only shots of this `tick` and later; 0 for no limit")
	fl.Uint32Var(&f.to, "to", 0, "only shots of this `tick` and before; 0 for no limit")
	fl.Uint64Var(&f.number, "number", 0, "only the shot of this `number`; default all")
	fl.IntVar(&f.last, "last", 50, "the last so many `shots`; 0 for all")
	fl.BoolVar(&f.json, "json", false, "print a line of JSON for each shot, with all there is")
	fl.StringVar(&f.svg, "svg", "", "draw the last of the shots into this `file`; default none is drawn")
	fl.StringVar(&f.secret, "http-token", "", "`secret` of the server, if it has one; also "+tokenVariable)
	fl.StringVar(&f.arena, "arena", "", "of a recording: `map` if it is a file, as for replay; default what the recording says")
	fl.StringVar(&f.play.content, "content", "", contentUsage)
	fl.StringVar(&f.play.arena, "map", "arena-16", "of preview: `map`, as serve --arena")
	fl.IntVar(&f.play.players, "players", 8, fmt.Sprintf("of preview: `number` of players, 1 to %d", maxPreview))
	fl.DurationVar(&f.play.duration, "duration", 30*time.Second, "with preview: `length` of the match, 1s to 10h")
	fl.DurationVar(&f.play.delay, "delay", 40*time.Millisecond, "with preview: one-way `delay` of each link, 0 to 1s")
	fl.Float64Var(&f.play.loss, "loss", 0, "of preview: `share` of datagrams that each link loses, 0 to 0.5")
	fl.Uint64Var(&f.play.seed, "seed", 1, "of preview: `seed` of the match, the players and the links")
	return c
}

func inspectShots(c *cobra.Command, f *shotsFlags, args []string) error {
	if err := f.parse(); err != nil {
		return badUse(err)
	}
	source := "http://127.0.0.1:7914"
	if len(args) > 0 {
		source = args[0]
	}
	var shots []lagcomp.ShotRecord
	var rate int
	var err error
	switch {
	case strings.HasPrefix(source, "http://"), strings.HasPrefix(source, "https://"):
		shots, rate, err = f.ask(c.Context(), source)
	case source == "preview":
		shots, rate, err = f.preview(c.Context())
	default:
		shots, rate, err = f.replay(c.Context(), source)
	}
	if err != nil && len(shots) == 0 {
		return err
	}
	return errors.Join(err, f.show(c.OutOrStdout(), shots, rate))
}

// parse reads what to look for.
func (f *shotsFlags) parse() (err error) {
	if f.filter.Shooter, err = parseID("--shooter", f.shooter); err != nil {
		return err
	}
	if f.filter.Subject, err = parseID("--victim", f.victim); err != nil {
		return err
	}
	for _, v := range f.verdicts {
		err = errors.Join(err, f.filter.AddVerdict(v))
	}
	for _, v := range f.clamps {
		err = errors.Join(err, f.filter.AddClamp(v))
	}
	f.filter.From, f.filter.To, f.filter.Number = tick.Tick(f.from), tick.Tick(f.to), f.number
	switch {
	case err != nil:
	case f.to != 0 && f.to < f.from:
		err = fmt.Errorf("--from %d --to %d: expected an order", f.from, f.to)
	case f.last < 0:
		err = fmt.Errorf("--last %d: expected 0 for all, or more", f.last)
	}
	return err
}

// parseID reads a net id as it is printed, slot.generation, or as its number; "" is 0.
func parseID(flag, text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	id, err := netid.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", flag, text, err)
	}
	return uint32(id), nil
}

// keep adds those that are wanted, and forgets what is too old.
func (f *shotsFlags) keep(kept, more []lagcomp.ShotRecord) []lagcomp.ShotRecord {
	for i := range more {
		if f.filter.Matches(&more[i]) {
			kept = append(kept, more[i])
		}
	}
	if f.last > 0 && len(kept) > 2*f.last {
		kept = append(kept[:0], kept[len(kept)-f.last:]...)
	}
	return kept
}

// ask asks a running server.
func (f *shotsFlags) ask(ctx context.Context, url string) ([]lagcomp.ShotRecord, int, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/v1/shots", nil)
	if err != nil {
		return nil, 0, badUse(err)
	}
	if secret := cmp.Or(f.secret, os.Getenv(tokenVariable)); secret != "" {
		q.Header.Set("Authorization", "Bearer "+secret)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close() // it is read to its end
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return nil, 0, fmt.Errorf("%s: %s: %s", url, answer.Status, strings.TrimSpace(string(text)))
	}
	var s server.ShotList
	if err := json.NewDecoder(io.LimitReader(answer.Body, 256<<20)).Decode(&s); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", url, err)
	}
	f.count = s.Count
	return f.keep(nil, s.Shots), s.Rate, nil
}

// preview plays a match in virtual time.
func (f *shotsFlags) preview(ctx context.Context) (kept []lagcomp.ShotRecord, rate int, err error) {
	f.play.receipts = shotsRing
	if err := f.play.check(); err != nil {
		return nil, 0, badUse(err)
	}
	b, err := f.play.open()
	if err != nil {
		return nil, 0, err
	}
	ring := b.Lobby.ShotLog()
	begun := time.Now()
	ring.Clock = func() int64 { return int64(time.Since(begun)) }
	var news []lagcomp.ShotRecord
	for end := f.play.duration; b.Now() < end && ctx.Err() == nil; f.count = ring.Count() {
		if err := b.Step(); err != nil {
			return kept, f.play.rate, err
		}
		news = ring.Since(f.count, 0, news[:0])
		kept = f.keep(kept, news)
	}
	return kept, f.play.rate, ctx.Err()
}

// replay plays a recording again. What comes before damage, or a difference, is kept.
func (f *shotsFlags) replay(ctx context.Context, path string) (kept []lagcomp.ShotRecord, rate int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, badUse(fmt.Errorf("recording: %w", err))
	}
	defer file.Close() // it was read only
	r, err := replay.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	p, err := (&replayFlags{arena: f.arena, pack: f.play.content}).player(&r.Head)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	rate = int(r.Head.Rate)
	ring, begun := lagcomp.NewShotLog(shotsRing), time.Now()
	ring.Clock = func() int64 { return int64(time.Since(begun)) }
	var news []lagcomp.ShotRecord
	for ctx.Err() == nil {
		chunk, err := r.Next()
		if err == io.EOF {
			return kept, rate, nil
		}
		if err == nil {
			err = p.Load(chunk)
		}
		if err != nil {
			return kept, rate, fmt.Errorf("%s: %w", path, err)
		}
		p.Match.SetShotLog(ring)
		for ; !p.Done() && ctx.Err() == nil; f.count = ring.Count() {
			if f.to != 0 && uint32(p.Match.Tick()) >= f.to {
				return kept, rate, nil
			}
			if err := p.Step(); err != nil {
				return kept, rate, fmt.Errorf("%s: %w", path, err)
			}
			news = ring.Since(f.count, 0, news[:0])
			kept = f.keep(kept, news)
		}
	}
	return kept, rate, ctx.Err()
}

func shotName(id uint32) string { return netid.ID(id).String() }

// show prints the shots, and draws the last.
func (f *shotsFlags) show(w io.Writer, shots []lagcomp.ShotRecord, rate int) error {
	if f.last > 0 && len(shots) > f.last {
		shots = shots[len(shots)-f.last:]
	}
	if f.svg != "" {
		if len(shots) == 0 {
			return errors.New("--svg: no shot to draw")
		}
		if err := os.WriteFile(f.svg, shotsvg.Append(nil, &shots[len(shots)-1], shotName), 0o644); err != nil {
			return err
		}
	}
	if f.json {
		out := json.NewEncoder(w)
		for i := range shots {
			if err := out.Encode(&shots[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "shot\ttick\tshooter\tverdict\twho\tbone\tat m\tby m\tclaimed\tback ms\tclamp\tmoved ms\trows\tbodies\tns")
	period := 1000 / float64(max(rate, 1))
	for i := range shots {
		r := &shots[i]
		who, bone, at, by := "-", "-", "-", "-"
		if r.Subject != 0 {
			who, bone, at, by = shotName(r.Subject), r.Bone.String(), fmt.Sprintf("%.2f", r.Distance), fmt.Sprintf("%.2f", r.Miss)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t%+.0f\t%d\t%d\t%d\n", r.Number, r.Tick, shotName(r.Shooter), r.Verdict, who, bone, at, by,
			shotsvg.View(r.Claimed), shotsvg.Behind(r)*period, r.ClampReason, float64(r.Shift)/256*period, r.Candidates, r.PosesTested, r.Nanos)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d shots shown of %d fired\n", len(shots), f.count)
	return err
}
