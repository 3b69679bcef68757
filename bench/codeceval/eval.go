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
	Snapshots int `json:"snapshots"` // of which the averages are made
}

// Warmup is the first snapshot of which averages are made: before it, too little is acknowledged.
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

// Run puts one codec through every step-th snapshot, coded, decoded and compared; step 1 is all,
// and the only one for which the decoder's past is what it decoded itself.
func Run(name string, m *rows.Model, dictionary []byte, t *itr.Trace, delay, step int) (Score, error) {
	enc, err := New(name, m, dictionary)
	if err != nil {
		return Score{}, err
	}
	dec, err := New(name, m, dictionary)
	if err != nil {
		return Score{}, err
	}
	sent := rows.Recording{Frames: t.Snapshots}
	got := rows.Recording{Frames: t.Snapshots}
	if step == 1 {
		got.Frames = make([][]int32, len(t.Snapshots))
	}
	var score Score
	var past, held rows.Past
	var message []byte
	var encode, decode time.Duration
	bytes, entities := 0, 0
	start := 0
	if step > 1 {
		start = Warmup(delay)
	}
	scratch := make([]int32, len(t.Snapshots[0]))
	for s := start; s < len(t.Snapshots); s += step {
		sent.PastAt(s, delay, int32(t.TicksPerSnapshot), &past)
		got.PastAt(s, delay, int32(t.TicksPerSnapshot), &held)
		live := liveAt(t, s)
		frame := scratch
		if step == 1 { // rows that do not count stand still
			frame = make([]int32, len(t.Snapshots[s]))
			if s > 0 {
				copy(frame, got.Frames[s-1])
			}
			got.Frames[s] = frame
		}
		t0 := time.Now()
		message = enc.Append(message[:0], t.Snapshots[s], &past, live)
		t1 := time.Now()
		err := dec.Decode(message, frame, &held, live)
		t2 := time.Now()
		if err != nil {
			return score, fmt.Errorf("codeceval: %s: %s: snapshot %d: %w", t.Name, name, s, err)
		}
		n, err := compare(t, s, frame, live)
		if err != nil {
			return score, fmt.Errorf("codeceval: %s: %s: snapshot %d: %w", t.Name, name, s, err)
		}
		score.Verified++
		if s < Warmup(delay) {
			continue
		}
		score.Snapshots++
		bytes += len(message)
		entities += n
		encode += t1.Sub(t0)
		decode += t2.Sub(t1)
	}
	if score.Snapshots == 0 || entities == 0 {
		return score, fmt.Errorf("codeceval: %s: %d snapshots: expected more than the %d before averages begin", t.Name, len(t.Snapshots), Warmup(delay))
	}
	score.BytesPerSnapshot = float64(bytes) / float64(score.Snapshots)
	score.BitsPerEntity = float64(bytes) * 8 / float64(entities)
	score.EncodeNsPerEntity = float64(encode.Nanoseconds()) / float64(entities)
	score.DecodeNsPerEntity = float64(decode.Nanoseconds()) / float64(entities)
	return score, nil
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
