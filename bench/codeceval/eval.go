package codeceval

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/codeceval/rows"
	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/compress/dict"
)

// Score is what one codec reached.
type Score struct {
	BytesPerSnapshot  float64 `json:"bytes_per_snapshot"`
	BitsPerEntity     float64 `json:"bits_per_entity"`
	EncodeNsPerEntity float64 `json:"encode_ns_per_entity"`
	DecodeNsPerEntity float64 `json:"decode_ns_per_entity"`
	// Snapshots decoded and found equal, warm-up included.
	Verified  int `json:"verified"`
	Snapshots int `json:"snapshots"` // number of snapshots that the averages cover
}

// Warmup is the first snapshot that averages cover. Before it, too few snapshots are acked.
func Warmup(delay int) int { return 4*delay + 2 }

// DefaultDelay is the number of snapshots in 100 ms, one at least.
func DefaultDelay(t *itr.Trace) int {
	return max(1, int(0.1*float64(t.TickRate)/float64(t.TicksPerSnapshot)+0.5))
}

// SchemaOf is the schema of a trace's rows.
func SchemaOf(t *itr.Trace) rows.Schema {
	s := rows.Schema{Interval: int32(t.TicksPerSnapshot)}
	for _, f := range t.Fields {
		s.Fields = append(s.Fields, rows.Field{Name: f.Name, Kind: rows.Kind(f.Kind), Mod: f.Mod})
	}
	return s
}

// Comparable reports why a model trained on a says nothing about b: other fields or another rate.
func Comparable(a, b *itr.Trace) error {
	if len(a.Fields) != len(b.Fields) {
		return fmt.Errorf("codeceval: %s has %d fields, %s has %d: expected the same", a.Name, len(a.Fields), b.Name, len(b.Fields))
	}
	for i := range a.Fields {
		if a.Fields[i] != b.Fields[i] {
			return fmt.Errorf("codeceval: field %d is %+v in %s and %+v in %s: expected the same", i, a.Fields[i], a.Name, b.Fields[i], b.Name)
		}
	}
	if a.TickRate*b.TicksPerSnapshot != b.TickRate*a.TicksPerSnapshot {
		return fmt.Errorf("codeceval: %s has %d/%d snapshots a second, %s %d/%d: expected the same",
			a.Name, a.TickRate, a.TicksPerSnapshot, b.Name, b.TickRate, b.TicksPerSnapshot)
	}
	return nil
}

// Train makes the model and the dictionary that the codecs share.
func Train(train []*itr.Trace, delay, rowsAtMost int) (*rows.Model, []byte, error) {
	var recs []rows.Recording
	for _, t := range train {
		if err := Comparable(train[0], t); err != nil {
			return nil, nil, err
		}
		recs = append(recs, rows.Recording{Frames: t.Snapshots, Live: t.Live})
	}
	m, err := rows.Train(SchemaOf(train[0]), recs, rows.Training{Delay: delay, Rows: rowsAtMost})
	if err != nil {
		return nil, nil, err
	}
	return m, trainDictionary(train, recs, delay), nil
}

// trainDictionary samples what Stored makes of the training traces.
func trainDictionary(train []*itr.Trace, recs []rows.Recording, delay int) []byte {
	const samples, size = 400, 110 << 10
	var blobs [][]byte
	var past rows.Past
	for i, t := range train {
		c := NewStored(len(t.Fields))
		from := Warmup(delay)
		for k := range samples / len(train) {
			s := from + k*(len(t.Snapshots)-from)*len(train)/samples
			if s >= len(t.Snapshots) {
				break
			}
			recs[i].PastAt(s, delay, int32(t.TicksPerSnapshot), &past)
			if b := c.Append(nil, t.Snapshots[s], &past, liveAt(t, s)); len(b) >= 8 {
				blobs = append(blobs, b)
			}
		}
	}
	return dict.Train(blobs, size)
}

func liveAt(t *itr.Trace, s int) []bool {
	if t.Live == nil {
		return nil
	}
	return t.Live[s]
}

// Trial is what codecs are compared on. Step is 1 for every snapshot; only then the decoder's past
// is what it decoded itself. A larger Step codes every Step-th snapshot, for a quick look.
type Trial struct {
	Model       *rows.Model
	Dictionary  []byte // of zstd; nil for none
	Trace       *itr.Trace
	Delay, Step int // in snapshots
}

// Run codes the trace with the codec of that name, decodes it, and compares the two.
func (tr *Trial) Run(name string) (Score, error) {
	enc, err := New(name, tr.Model, tr.Dictionary)
	if err != nil {
		return Score{}, err
	}
	dec, err := New(name, tr.Model, tr.Dictionary)
	if err != nil {
		return Score{}, err
	}
	t := tr.Trace
	r := run{Trial: tr, enc: enc, dec: dec, scratch: make([]int32, len(t.Snapshots[0]))}
	r.sent.Frames, r.got.Frames = t.Snapshots, t.Snapshots
	start := Warmup(tr.Delay)
	if tr.Step == 1 {
		start, r.got.Frames = 0, make([][]int32, len(t.Snapshots))
	}
	for s := start; s < len(t.Snapshots); s += tr.Step {
		if err := r.snapshot(s); err != nil {
			return r.score, fmt.Errorf("codeceval: %s: %s: snapshot %d: %w", t.Name, name, s, err)
		}
	}
	return r.average()
}

// run is a trial of one codec under way. Totals begin after the warm-up.
type run struct {
	*Trial
	enc, dec        Codec
	sent, got       rows.Recording
	past, held      rows.Past
	message         []byte
	scratch         []int32
	score           Score
	encode, decode  time.Duration
	bytes, entities int
}

// snapshot codes, decodes and compares snapshot s.
func (r *run) snapshot(s int) error {
	t := r.Trace
	r.sent.PastAt(s, r.Delay, int32(t.TicksPerSnapshot), &r.past)
	r.got.PastAt(s, r.Delay, int32(t.TicksPerSnapshot), &r.held)
	live := liveAt(t, s)
	frame := r.scratch
	if r.Step == 1 { // rows that do not count stand still
		frame = make([]int32, len(t.Snapshots[s]))
		if s > 0 {
			copy(frame, r.got.Frames[s-1])
		}
		r.got.Frames[s] = frame
	}
	t0 := time.Now()
	r.message = r.enc.Append(r.message[:0], t.Snapshots[s], &r.past, live)
	t1 := time.Now()
	err := r.dec.Decode(r.message, frame, &r.held, live)
	t2 := time.Now()
	if err != nil {
		return err
	}
	n, err := compare(t, s, frame, live)
	if err != nil {
		return err
	}
	if r.score.Verified++; s < Warmup(r.Delay) {
		return nil
	}
	r.score.Snapshots++
	r.bytes += len(r.message)
	r.entities += n
	r.encode += t1.Sub(t0)
	r.decode += t2.Sub(t1)
	return nil
}

// average turns totals into a score.
func (r *run) average() (Score, error) {
	s, entities := r.score, float64(r.entities)
	if s.Snapshots == 0 || r.entities == 0 {
		return s, fmt.Errorf("codeceval: %s: %d snapshots: expected more than the %d before averages begin",
			r.Trace.Name, len(r.Trace.Snapshots), Warmup(r.Delay))
	}
	s.BytesPerSnapshot = float64(r.bytes) / float64(s.Snapshots)
	s.BitsPerEntity = float64(r.bytes) * 8 / entities
	s.EncodeNsPerEntity = float64(r.encode.Nanoseconds()) / entities
	s.DecodeNsPerEntity = float64(r.decode.Nanoseconds()) / entities
	return s, nil
}

// compare holds a decoded frame against the truth and counts its live rows.
func compare(t *itr.Trace, s int, frame []int32, live []bool) (n int, err error) {
	k := len(t.Fields)
	for e := range t.Entities {
		if live != nil && !live[e] {
			continue
		}
		n++
		for f, want := range t.Row(s, e) {
			if got := frame[e*k+f]; got != want {
				return n, fmt.Errorf("entity %d, field %s is %d, sent was %d", e, t.Fields[f].Name, got, want)
			}
		}
	}
	return n, nil
}
