package codeceval

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Score is the result of one codec. Averages leave out the warm-up. Entities are live rows, of all
// parts together; times are wall-clock times of the coder alone.
type Score struct {
	BytesPerSnapshot  float64 `json:"bytes_per_snapshot"` // blocks of all parts, no run headers
	BitsPerEntity     float64 `json:"bits_per_entity"`
	FirstBytes        float64 `json:"first_snapshot_bytes"` // blocks of all parts against nothing
	ModelBytes        int     `json:"model_bytes"`          // what a client without the model fetches
	EncodeNsPerEntity float64 `json:"encode_ns_per_entity"`
	DecodeNsPerEntity float64 `json:"decode_ns_per_entity"`
	// Snapshots decoded and found equal, warm-up included.
	Verified  int `json:"verified"`
	Snapshots int `json:"snapshots"` // number of snapshots that the averages cover
}

// Warmup is the first snapshot that averages cover. Before it, too few snapshots are acked.
func Warmup(delay int) int { return 4*delay + 2 }

// DefaultDelay is the default age of an acknowledgement: the snapshots in 100 ms, 1 to MaxDelay.
func DefaultDelay(t *itr.Trace) int {
	return min(max(1, int(0.1*float64(t.TickRate)/float64(t.TicksPerSnapshot)+0.5)), MaxDelay)
}

// MaxDelay is the greatest age of an acknowledgement, in snapshots. A lobby keeps no older
// baseline.
const MaxDelay = snapshot.MaxAge

// Comparable reports why a model trained on a says nothing about b: other fields or another rate.
func Comparable(a, b *itr.Trace) error {
	if len(a.Fields) != len(b.Fields) {
		return fmt.Errorf("codeceval: %s has %d fields, %s has %d: expected the same",
			a.Name, len(a.Fields), b.Name, len(b.Fields))
	}
	for i := range a.Fields {
		if a.Fields[i] != b.Fields[i] {
			return fmt.Errorf("codeceval: field %d is %+v in %s and %+v in %s: expected the same",
				i, a.Fields[i], a.Name, b.Fields[i], b.Name)
		}
	}
	if a.TickRate*b.TicksPerSnapshot != b.TickRate*a.TicksPerSnapshot {
		return fmt.Errorf("codeceval: %s has %d/%d snapshots a second, %s %d/%d: expected the same",
			a.Name, a.TickRate, a.TicksPerSnapshot, b.Name, b.TickRate, b.TicksPerSnapshot)
	}
	return nil
}

// Model is the trained models of the parts of a trace's rows, with dictionaries for the codecs that
// pack blocks.
type Model struct {
	parts  []Part
	models []*schema.Model
}

// Bytes is the size of the models and of the dictionaries that a codec uses: what a client without
// them fetches when it joins.
func (m *Model) Bytes(codec schema.Codec) (n int) {
	for _, part := range m.models {
		n += len(part.Append(nil))
		if d := part.Dictionaries(); d != nil && codec.Packs() {
			n += len(d.Delta.Dictionary()) + len(d.Spawn.Dictionary())
		}
	}
	return n
}

// Of makes a model of one schema whose fields are those of a trace, such as a lobby's own.
func Of(m *schema.Model) *Model {
	p := Part{Schema: m.Schema()}
	for f := range p.Schema.Fields {
		p.Fields = append(p.Fields, f)
	}
	return &Model{parts: []Part{p}, models: []*schema.Model{m}}
}

// Dictionaries of a part: bytes of each, and about how many blocks they are trained on.
const (
	dictionaryBytes  = 1 << 10
	dictionaryBlocks = 1 << 12
)

// Train makes the model for traces of one kind: a coder without training codes them, counts, and
// takes samples of blocks for dictionaries. delay is the age of an acknowledgement, in snapshots.
// Warm-up snapshots are coded in no count, so a trace that is shorter adds none. Traces that are not
// Comparable are an error.
func Train(train []*itr.Trace, delay int) (*Model, error) {
	for _, t := range train {
		if err := Comparable(train[0], t); err != nil {
			return nil, err
		}
	}
	m, blocks := &Model{parts: layout(train, delay)}, 0
	for _, t := range train {
		blocks += len(t.Snapshots) * (t.Entities/snapshot.GroupRows + 1)
	}
	for _, p := range m.parts {
		counts, samples := schema.NewCounts(p.Schema), snapshot.NewBlockSamples(p.Schema)
		for _, t := range train {
			l, a := newLane(p, schema.DefaultModel(p.Schema), t), newAcks(t.Entities, delay)
			l.encoder.Count(counts)
			for s := range t.Snapshots {
				a.advance()
				l.capture(t, s)
				if s < Warmup(delay) {
					continue
				}
				if l.encoder.Sample(nil); s%(1+blocks/dictionaryBlocks) == 0 {
					l.encoder.Sample(samples)
				}
				l.encode(a)
			}
		}
		dictionaries, err := samples.Train(dictionaryBytes)
		if err != nil {
			return nil, fmt.Errorf("codeceval: %s: %w", train[0].Name, err)
		}
		m.models = append(m.models, schema.Train(p.Schema, counts).WithDictionaries(dictionaries))
	}
	return m, nil
}

// Trial is what codecs are compared on.
type Trial struct {
	Model *Model
	Trace *itr.Trace
	Delay int // in snapshots, 1 to MaxDelay
}

// Run codes the trace with a codec, decodes it, and compares the two. The first difference ends the
// run: the error names snapshot, entity and field, and the score has counts but no averages.
func (tr *Trial) Run(codec schema.Codec) (Score, error) {
	t := tr.Trace
	r := run{Trial: tr, acks: newAcks(t.Entities, tr.Delay)}
	r.score.ModelBytes = tr.Model.Bytes(codec)
	for i, p := range tr.Model.parts {
		r.lanes = append(r.lanes, newLane(p, tr.Model.models[i].With(codec), t))
	}
	for s := range t.Snapshots {
		if err := r.snapshot(s); err != nil {
			return r.score, fmt.Errorf("codeceval: %s: %v: snapshot %d: %w", t.Name, codec, s, err)
		}
	}
	return r.average()
}

// lane is the two ends of one part: the server's ring and encoder, and the client's decoder. The
// decoder sees sections only, never the ring.
type lane struct {
	Part
	ring    *snapshot.Ring
	encoder *snapshot.Encoder
	decoder *snapshot.Decoder
	stored  bool    // rows have no baselines
	row     []int32 // scratch, in the order of Fields
	section []byte  // bytes of the newest snapshot, run headers included
}

// newLane allocates both ends for all entities of a trace. m has the schema of p.
func newLane(p Part, m *schema.Model, t *itr.Trace) *lane {
	return &lane{Part: p, ring: snapshot.NewRing(p.Schema, t.Entities, snapshot.Window, 1),
		encoder: snapshot.NewEncoder(m, t.Entities), decoder: snapshot.NewDecoder(m, t.Entities, 1),
		stored: m.Codec() == schema.Stored, row: make([]int32, len(p.Fields))}
}

// capture fills the frame of snapshot s. Rows that do not count stand still in a trace.
func (l *lane) capture(t *itr.Trace, s int) {
	frame := l.ring.Begin(tick.Tick(s + 1))
	for e := range t.Entities {
		row := t.Row(s, e)
		for i, f := range l.Fields {
			l.row[i] = row[f]
		}
		frame.Set(e, netid.Make(e, 1), l.row)
	}
}

// encode writes the section of the captured snapshot and returns the bytes of its blocks. All
// groups share the baselines of a; codec Stored has none.
func (l *lane) encode(a *acks) (bytes int) {
	base := a.baselines()
	if l.stored {
		base = snapshot.Baselines{}
	}
	l.encoder.Begin(l.ring.At(a.now), l.ring)
	l.section = l.section[:0]
	for first := 0; first < a.groups; first += snapshot.MaxRun {
		run := snapshot.Run{First: first, Count: min(snapshot.MaxRun, a.groups-first), Baselines: base}
		blocks := l.encoder.Run(run.First, run.Count, base)
		l.section = append(snapshot.AppendRun(l.section, run, a.now, 1), blocks...)
		bytes += len(blocks)
	}
	return bytes
}

// firstBytes is the size of the blocks of the captured snapshot against nothing, as a client that
// joins gets them. It follows encode.
func (l *lane) firstBytes(a *acks) int {
	return len(l.encoder.Run(0, a.groups, snapshot.Baselines{}))
}

// firstEvery is how many snapshots are between two that are also coded against nothing.
const firstEvery = 16

// run is a trial of one codec under way. Totals begin after the warm-up.
type run struct {
	*Trial
	lanes           []*lane
	acks            *acks
	score           Score
	encode, decode  time.Duration // wall-clock time of all lanes
	bytes, entities int           // of blocks; live rows
	first, firsts   int           // bytes against nothing; snapshots that were coded so
}

// snapshot codes, decodes and compares snapshot s. The time of capture and comparison counts for
// neither end.
func (r *run) snapshot(s int) error {
	r.acks.advance()
	for _, l := range r.lanes {
		l.capture(r.Trace, s)
	}
	bytes := 0
	t0 := time.Now()
	for _, l := range r.lanes {
		bytes += l.encode(r.acks)
	}
	t1 := time.Now()
	for _, l := range r.lanes {
		if err := l.decoder.Section(r.acks.now, l.section); err != nil {
			return err
		}
	}
	t2 := time.Now()
	n, err := r.compare(s)
	if err != nil {
		return err
	}
	if r.score.Verified++; s < Warmup(r.Delay) {
		return nil
	}
	r.score.Snapshots++
	r.bytes += bytes
	r.entities += n
	if r.score.Snapshots%firstEvery == 1 {
		r.firsts++
		for _, l := range r.lanes {
			r.first += l.firstBytes(r.acks)
		}
	}
	r.encode += t1.Sub(t0)
	r.decode += t2.Sub(t1)
	return nil
}

// average turns totals into a score. A trace without live rows after the warm-up is an error, as it
// has no averages.
func (r *run) average() (Score, error) {
	s, entities := r.score, float64(r.entities)
	if s.Snapshots == 0 || r.entities == 0 {
		return s, fmt.Errorf("codeceval: %s: %d snapshots: expected more than the %d before averages begin",
			r.Trace.Name, len(r.Trace.Snapshots), Warmup(r.Delay))
	}
	s.BytesPerSnapshot = float64(r.bytes) / float64(s.Snapshots)
	s.FirstBytes = float64(r.first) / float64(r.firsts)
	s.BitsPerEntity = float64(r.bytes) * 8 / entities
	s.EncodeNsPerEntity = float64(r.encode.Nanoseconds()) / entities
	s.DecodeNsPerEntity = float64(r.decode.Nanoseconds()) / entities
	return s, nil
}

// compare holds the decoded snapshot s against the trace and counts its live rows.
func (r *run) compare(s int) (live int, err error) {
	t := r.Trace
	for e := range t.Entities {
		if t.Live != nil && !t.Live[s][e] {
			continue
		}
		live++
		want := t.Row(s, e)
		for _, l := range r.lanes {
			l.decoder.At(r.acks.now).Row(e, l.row)
			for i, f := range l.Fields {
				if l.row[i] != want[f] {
					return live, fmt.Errorf("entity %d, field %s is %d, sent was %d",
						e, t.Fields[f].Name, l.row[i], want[f])
				}
			}
		}
	}
	return live, nil
}
