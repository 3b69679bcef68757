package codeceval

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/ecs/schema"
)

var update = flag.Bool("update", false,
	"derive the entity states in testdata anew from those beside the repository")

// derived are the files of testdata: some snapshots of the first entities of a whole file beside the
// repository.
var derived = []struct {
	file, source               string
	first, snapshots, entities int
}{
	{"fields58_train.itr.gz", "lobby_16_train.itr", 0, 600, 8},
	{"fields58_test.itr.gz", "lobby_64_train.itr", 0, 150, 8},
	{"cubes.itr.gz", "cubes_a.itr", 1000, 300, 901},
}

// The derived files are as large as is said, and something moves in nearly every snapshot.
func TestDerived(t *testing.T) {
	for _, c := range derived {
		path := filepath.Join("testdata", c.file)
		source := filepath.Join("../../../shared/traces/itr", c.source)
		if _, err := os.Stat(source); *update && err == nil {
			whole, err := itr.Open(source)
			if err != nil {
				t.Fatal(err)
			}
			cut := *whole
			cut.Entities, cut.Snapshots = c.entities, nil
			for _, rows := range whole.Snapshots[c.first:][:c.snapshots] {
				cut.Snapshots = append(cut.Snapshots, rows[:c.entities*len(whole.Fields)])
			}
			var b bytes.Buffer
			w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is in range
			if _, err := w.Write(cut.Append(nil)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got := open(t, c.file)
		if len(got.Snapshots) != c.snapshots || got.Entities != c.entities {
			t.Errorf("%s: %d snapshots of %d entities, want %d of %d", c.file, len(got.Snapshots), got.Entities,
				c.snapshots, c.entities)
		}
		still := 0
		for s := 1; s < len(got.Snapshots); s++ {
			if slices.Equal(got.Snapshots[s], got.Snapshots[s-1]) {
				still++
			}
		}
		if still > c.snapshots/20 {
			t.Errorf("%s: nothing moves in %d of %d snapshots", c.file, still, c.snapshots)
		}
	}
}

// The recordings of people, as poses.
const (
	people = "../trace/testdata/people_4on4.csv.gz"
	duel   = "../trace/testdata/people_duel.csv.gz"
)

// open reads entity states of testdata, or a recording of people.
func open(t testing.TB, name string) *itr.Trace {
	t.Helper()
	if strings.HasSuffix(name, ".csv.gz") {
		tr, err := itr.OpenPose(name, itr.Pose{Centimetres: 1, Degrees: 0.1, Hz: 20})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := itr.Read(unzipped, name)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// half cuts a trace: training sees one half, the judge the other.
func half(t *itr.Trace, second bool) *itr.Trace {
	c := *t
	if n := len(t.Snapshots) / 2; second {
		c.Snapshots = t.Snapshots[n:]
	} else {
		c.Snapshots = t.Snapshots[:n]
	}
	return &c
}

// judge trains and holds each codec's size, in bits an entity, against a limit.
func judge(t *testing.T, train, test *itr.Trace, delay int, limits map[schema.Codec]float64) {
	t.Helper()
	m, err := Train([]*itr.Trace{train}, delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("model of %d bytes in %d parts", m.Bytes(schema.Huffman), len(m.parts))
	for codec, limit := range limits {
		s, err := (&Trial{m, test, delay}).Run(codec)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %.1f B a snapshot, %.2f bits an entity, %.0f ns to encode, %.0f to decode", codec,
			s.BytesPerSnapshot, s.BitsPerEntity, s.EncodeNsPerEntity, s.DecodeNsPerEntity)
		if s.BitsPerEntity > limit {
			t.Errorf("%v: %.2f bits an entity, want at most %.2f", codec, s.BitsPerEntity, limit)
		}
	}
}

// Sizes on entity states that were not trained on. Whole files give smaller ones: models are trained
// on few snapshots here.
func TestLobbySizes(t *testing.T) {
	judge(t, open(t, "fields58_train.itr.gz"), open(t, "fields58_test.itr.gz"), 2,
		map[schema.Codec]float64{schema.Huffman: 98, schema.Range: 92})
}

func TestCubeSizes(t *testing.T) {
	const perFrame = 8.0 / 901
	cubes := open(t, "cubes.itr.gz")
	judge(t, half(cubes, true), half(cubes, false), 6,
		map[schema.Codec]float64{schema.Huffman: 525 * perFrame, schema.Range: 505 * perFrame})
}

func TestPoseSizes(t *testing.T) {
	judge(t, open(t, duel), open(t, people), 2,
		map[schema.Codec]float64{schema.Huffman: 32.5, schema.Range: 31.8})
}

// drifters is a small trace made up here, for tests of the harness.
func drifters(seed uint32, frames int) *itr.Trace {
	t := &itr.Trace{Name: "drifters", TickRate: 60, TicksPerSnapshot: 3, Entities: 5,
		Fields: []itr.Field{{Name: "x"}, {Name: "on", Kind: itr.Flag}}}
	row := make([]int32, 10)
	for range frames {
		for e := range 5 {
			seed = seed*1664525 + 1013904223
			if seed>>28 == 0 {
				row[e*2+1] ^= 1
			}
			row[e*2] += row[e*2+1] * int32(seed>>20&7)
		}
		t.Snapshots = append(t.Snapshots, append([]int32(nil), row...))
		t.Live = append(t.Live, []bool{true, seed>>24&3 != 0, true, true, true})
	}
	return t
}

// Every codec gives back what it was given, from the decoder's own memory.
func TestRunVerifies(t *testing.T) {
	train, test := drifters(1, 300), drifters(2, 100)
	// Rows that do not count stand still, as in traces read from files.
	for s := range test.Snapshots {
		for e, live := range test.Live[s] {
			if !live && s > 0 {
				copy(test.Row(s, e), test.Row(s-1, e))
			}
		}
	}
	m, err := Train([]*itr.Trace{train}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for codec := range schema.Codecs {
		s, err := (&Trial{m, test, 2}).Run(codec)
		if err != nil {
			t.Fatal(err)
		}
		if s.Verified != 100 || s.Snapshots != 100-Warmup(2) || s.BytesPerSnapshot <= 0 ||
			s.BitsPerEntity <= 0 {
			t.Errorf("%v: %+v", codec, s)
		}
		if codec != schema.Stored && s.FirstBytes <= s.BytesPerSnapshot ||
			codec.Packs() != (s.ModelBytes > m.Bytes(schema.Huffman)) {
			t.Errorf("%v: %+v", codec, s)
		}
	}
	if _, err := (&Trial{m, drifters(3, 10), 2}).Run(schema.Range); err == nil {
		t.Error("10 snapshots are too few for an average: no error")
	}
	other := drifters(1, 10)
	other.Fields[0].Name = "y"
	if Comparable(train, other) == nil {
		t.Error("other fields, but comparable")
	}
	if DefaultDelay(train) != 2 {
		t.Errorf("100 ms are %d snapshots at 20 Hz", DefaultDelay(train))
	}
}

// The default delay at a thousand snapshots a second is the oldest that a lobby has baselines for.
func TestDefaultDelayHasBaselines(t *testing.T) {
	fast := drifters(1, 300)
	fast.TickRate, fast.TicksPerSnapshot = 1000, 1
	delay := DefaultDelay(fast)
	a := newAcks(fast.Entities, delay)
	for range Warmup(delay) {
		a.advance()
	}
	if base := a.baselines(); delay != MaxDelay || base[0] == 0 {
		t.Errorf("%d snapshots: baselines %v", delay, base)
	}
	m, err := Train([]*itr.Trace{fast}, delay)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := (&Trial{m, drifters(2, 300), delay}).Run(schema.Huffman); err != nil || s.Snapshots == 0 {
		t.Errorf("%+v: %v", s, err)
	}
}

// A codec that gives back something else is found out.
func TestCompareFindsDifference(t *testing.T) {
	tr := drifters(1, 3)
	m, err := Train([]*itr.Trace{drifters(2, 100)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	forged := *tr
	forged.Snapshots = append([][]int32(nil), tr.Snapshots...)
	r := run{Trial: &Trial{m, &forged, 1}, acks: newAcks(tr.Entities, 1)}
	for _, p := range m.parts {
		r.lanes = append(r.lanes, newLane(p, m.models[0], tr))
	}
	if err := r.snapshot(0); err != nil {
		t.Fatal(err)
	}
	forged.Snapshots[0] = append([]int32(nil), tr.Snapshots[0]...)
	forged.Snapshots[0][7]++
	if _, err := r.compare(0); err == nil {
		t.Error("a changed value was not noticed")
	}
	forged.Live = [][]bool{{true, true, true, false, true}}
	if live, err := r.compare(0); err != nil || live != 4 {
		t.Error("a row that does not count was compared", live, err)
	}
}

// Fields of a trace that has more of them than a row are all in one part, and in one alone.
func TestWideTracesAreCut(t *testing.T) {
	wide := &itr.Trace{TickRate: 20, TicksPerSnapshot: 1, Entities: 3}
	for f := range 58 {
		wide.Fields = append(wide.Fields, itr.Field{Name: fmt.Sprint("a field ", f)})
	}
	seed := uint32(1)
	for range 40 {
		row := make([]int32, 3*58)
		for i := range row {
			seed = seed*1664525 + 1013904223
			row[i] = int32(seed>>28) * int32(i%5)
		}
		wide.Snapshots = append(wide.Snapshots, row)
	}
	m, err := Train([]*itr.Trace{wide}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, p := range m.parts {
		all = append(all, p.Fields...)
	}
	slices.Sort(all)
	for f, got := range all {
		if got != f {
			t.Fatalf("the parts hold the fields %v", all)
		}
	}
	for codec := range schema.Codecs {
		if s, err := (&Trial{m, wide, 2}).Run(codec); err != nil || s.Verified != 40 {
			t.Errorf("%v: %+v, %v", codec, s, err)
		}
	}
}
