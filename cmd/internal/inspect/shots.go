package inspect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/shotsvg"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim/replay"
)

// ShotOptions are the settings of Shots: which records to show, and how.
type ShotOptions struct {
	Shooter, Victim  string   // net ids; empty for all
	Verdicts, Clamps []string // names of verdicts and clamp reasons; none for all
	From, To         uint32   // first and last tick; 0 for no limit
	Number           uint64   // of one shot; 0 for all
	Last             int      // most records shown; 0 for all
	JSON             bool     // writes one line of JSON for each record
	SVG              string   // file for a drawing of the last record
	Secret           string   // of the server's HTTP port; empty for none
	Map              string   // file of a recording's map; empty for the map that it names
	Preview          preview.Options
}

// shotQuery is the state of one call of Shots.
type shotQuery struct {
	ShotOptions
	filter lagcomp.ShotFilter // the options, parsed
	fired  uint64             // shots fired so far, shown or not
}

// shotLogSize is the number of records in the log of a simulated match. It is larger than the shots
// of any tick, since records are taken out after each.
const shotLogSize = server.MaxShotLogSize

// Shots writes shot records of a source: the URL or host:port of a running server, the file of a recording, or
// "preview" for a match in virtual time. If the source fails on the way, the records before that
// are written and the error is returned.
func Shots(ctx context.Context, out io.Writer, source string, o ShotOptions) error {
	f := &shotQuery{ShotOptions: o}
	if err := f.parse(); err != nil {
		return usage.Error(err)
	}
	var shots []lagcomp.ShotRecord
	var rate int
	var err error
	switch {
	case isServer(source):
		shots, rate, err = f.ask(ctx, source)
	case source == "preview":
		shots, rate, err = f.preview(ctx)
	default:
		shots, rate, err = f.replay(ctx, source)
	}
	if err != nil && len(shots) == 0 {
		return err
	}
	return errors.Join(err, f.show(out, shots, rate))
}

// isServer reports whether a source is a URL, or host:port where no file is named so.
func isServer(source string) bool {
	if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
		return true
	}
	_, port, err := net.SplitHostPort(source)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return false
	}
	_, err = os.Stat(source)
	return errors.Is(err, os.ErrNotExist)
}

// parse builds the filter from the options. Its error joins all verdicts and clamp reasons that are
// unknown.
func (f *shotQuery) parse() (err error) {
	if f.filter.Shooter, err = parseID("--shooter", f.Shooter); err != nil {
		return err
	}
	if f.filter.Subject, err = parseID("--victim", f.Victim); err != nil {
		return err
	}
	for _, v := range f.Verdicts {
		err = errors.Join(err, f.filter.AddVerdict(v))
	}
	for _, v := range f.Clamps {
		err = errors.Join(err, f.filter.AddClamp(v))
	}
	f.filter.From, f.filter.To, f.filter.Number = tick.Tick(f.From), tick.Tick(f.To), f.Number
	switch {
	case err != nil:
	case f.To != 0 && f.To < f.From:
		err = fmt.Errorf("--from %d --to %d: expected --to to be at least --from", f.From, f.To)
	case f.Last < 0:
		err = fmt.Errorf("--last %d: expected 0 for all, or more", f.Last)
	}
	return err
}

// parseID parses a net id, such as 8.1 or 2049. An empty text is 0.
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

// keep appends the matching records of more to kept. It drops the oldest once there are twice as
// many as will be shown, so that a long match stays small in memory.
func (f *shotQuery) keep(kept, more []lagcomp.ShotRecord) []lagcomp.ShotRecord {
	for i := range more {
		if f.filter.Matches(&more[i]) {
			kept = append(kept, more[i])
		}
	}
	if f.Last > 0 && len(kept) > 2*f.Last {
		kept = append(kept[:0], kept[len(kept)-f.Last:]...)
	}
	return kept
}

// ask returns the matching records of a running server, and its tick rate in Hz. The server keeps
// only its newest records, while its count is of all shots.
func (f *shotQuery) ask(ctx context.Context, url string) ([]lagcomp.ShotRecord, int, error) {
	var answer httpapi.ShotList
	if err := serverapi.Get(ctx, url, "/v1/shots", f.Secret, &answer); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", url, err)
	}
	f.fired = answer.Count
	return f.keep(nil, answer.Shots), answer.Rate, nil
}

// preview plays a match in virtual time and returns its matching records and its tick rate.
func (f *shotQuery) preview(ctx context.Context) (kept []lagcomp.ShotRecord, rate int, err error) {
	f.Preview.ShotLogSize = shotLogSize
	if err := f.Preview.Check(); err != nil {
		return nil, 0, usage.Error(err)
	}
	b, err := f.Preview.Open()
	if err != nil {
		return nil, 0, err
	}
	ring := b.Lobby.ShotLog()
	begun := time.Now()
	ring.Clock = func() int64 { return int64(time.Since(begun)) }
	var added []lagcomp.ShotRecord
	for end := f.Preview.Duration; b.Now() < end && ctx.Err() == nil; f.fired = ring.Count() {
		if err := b.Step(); err != nil {
			return kept, f.Preview.Rate, err
		}
		added = ring.Since(f.fired, 0, added[:0])
		kept = f.keep(kept, added)
	}
	return kept, f.Preview.Rate, ctx.Err()
}

// replay plays a recording and returns its matching records and its tick rate. With an error it
// returns the records before the damage or the difference.
func (f *shotQuery) replay(ctx context.Context, path string) ([]lagcomp.ShotRecord, int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, usage.Errorf("recording: %w", err)
	}
	defer file.Close()
	r, err := replay.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	p, err := (&playback.Options{Map: f.Map, Content: f.Preview.Content}).Player(&r.Head)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	var kept []lagcomp.ShotRecord
	rate := int(r.Head.Rate)
	// The log times each shot by a clock, which a replay would otherwise lack.
	ring, begun := lagcomp.NewShotLog(shotLogSize), time.Now()
	ring.Clock = func() int64 { return int64(time.Since(begun)) }
	var added []lagcomp.ShotRecord // records of one tick
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
		p.Match.SetShotLog(ring) // a chunk with a saved state makes a new match
		for ; !p.Done() && ctx.Err() == nil; f.fired = ring.Count() {
			if f.To != 0 && uint32(p.Match.Tick()) >= f.To {
				return kept, rate, nil
			}
			if err := p.Step(); err != nil {
				return kept, rate, fmt.Errorf("%s: %w", path, err)
			}
			added = ring.Since(f.fired, 0, added[:0])
			kept = f.keep(kept, added)
		}
	}
	return kept, rate, ctx.Err()
}

// ShotName formats the net id in a shot record, as index.generation.
func ShotName(id uint32) string { return netid.ID(id).String() }

// show writes the last records as a table or as JSON, and draws the very last. rate is in Hz.
func (f *shotQuery) show(w io.Writer, shots []lagcomp.ShotRecord, rate int) error {
	if f.Last > 0 && len(shots) > f.Last {
		shots = shots[len(shots)-f.Last:]
	}
	if f.SVG != "" {
		if len(shots) == 0 {
			return errors.New("--svg: no shot to draw")
		}
		drawing := shotsvg.Append(nil, &shots[len(shots)-1], ShotName)
		if err := os.WriteFile(f.SVG, drawing, 0o644); err != nil {
			return err
		}
	}
	if f.JSON {
		out := json.NewEncoder(w)
		for i := range shots {
			if err := out.Encode(&shots[i]); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "shot\ttick\tshooter\tverdict\ttarget\tbone\tat m\tmiss m\tclaimed view\t"+
		"age ms\tclamp\tmoved ms\tcandidates\tposes\tns")
	period := 1000 / float64(max(rate, 1)) // of a tick, ms
	for i := range shots {
		r := &shots[i]
		target, bone, at, miss := "-", "-", "-", "-"
		if r.Subject != 0 {
			target, bone, at, miss = ShotName(r.Subject), shotsvg.BoneName(r),
				fmt.Sprintf("%.2f", r.Distance), fmt.Sprintf("%.2f", r.Miss)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t%+.0f\t%d\t%d\t%d\n",
			r.Number, r.Tick, ShotName(r.Shooter), r.Verdict, target, bone, at, miss,
			shotsvg.View(r.Claimed), shotsvg.Behind(r)*period, r.ClampReason,
			float64(r.Shift)/256*period, // Shift is in 1/256 tick
			r.Candidates, r.PosesTested, r.Nanos)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d of %d shots fired are shown\n", len(shots), f.fired)
	return err
}
