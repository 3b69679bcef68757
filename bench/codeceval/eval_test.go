package codeceval

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
)

// recordings finds the folder of recordings: shared/traces beside the repository, or further up.
func recordings(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("TICKRATE_TRACES"); dir != "" {
		return dir
	}
	for dir := ".."; len(dir) < 30; dir += "/.." {
		if path := filepath.Join(dir, "shared", "traces"); isDir(path) {
			return path
		}
	}
	t.Skip("shared/traces is missing: the sizes of learned codecs on recordings stay unproven")
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func open(t *testing.T, name string) *itr.Trace {
	t.Helper()
	path := filepath.Join(recordings(t), name)
	var tr *itr.Trace
	var err error
	if filepath.Ext(name) == ".itr" {
		tr, err = itr.Open(path)
	} else {
		tr, err = itr.OpenPose(path, itr.Pose{Centimetres: 1, Degrees: 0.1, Hz: 20})
	}
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
func judge(t *testing.T, train, test *itr.Trace, delay, rows, step int, limits map[string]float64) {
	t.Helper()
	m, d, err := Train([]*itr.Trace{train}, delay, rows)
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range limits {
		s, err := (&Trial{m, d, test, delay, step}).Run(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f B a snapshot, %.2f bits an entity", name, s.BytesPerSnapshot, s.BitsPerEntity)
		if s.BitsPerEntity > limit {
			t.Errorf("%s: %.2f bits an entity, want at most %.2f", name, s.BitsPerEntity, limit)
		}
	}
}

// Sizes on recordings that were not trained on. Training sees few rows here, to be quick; codec
// eval does better.
func TestLobbySizes(t *testing.T) {
	judge(t, open(t, "itr/lobby_16_train.itr"), open(t, "itr/lobby_64_train.itr"), 2, 2000, 60,
		map[string]float64{"huffman": 80, "range": 66})
}

func TestCubeSizes(t *testing.T) {
	const perFrame = 8.0 / 901
	cubes := open(t, "itr/cubes_a.itr")
	judge(t, half(cubes, true), half(cubes, false), 6, 200000, 50,
		map[string]float64{"huffman": 435 * perFrame, "range": 380 * perFrame})
}

func TestPoseSizes(t *testing.T) {
	judge(t, open(t, "qw_duel_aerowalk_2p.csv.gz"), open(t, "qw_4on4_dm2_8p.csv.gz"), 2, 20000, 10,
		map[string]float64{"huffman": 30, "range": 28.6})
}

// drifters is a small trace made up here, so that the harness is tested where no recordings are.
func drifters(seed uint32, frames int) *itr.Trace {
	t := &itr.Trace{Name: "drifters", TickRate: 60, TicksPerSnapshot: 3, Entities: 5, Fields: []itr.Field{{Name: "x"}, {Name: "on", Kind: itr.Flag}}}
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
	m, d, err := Train([]*itr.Trace{train}, 2, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names {
		s, err := (&Trial{m, d, test, 2, 1}).Run(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Verified != 100 || s.Snapshots != 100-Warmup(2) || s.BytesPerSnapshot <= 0 || s.BitsPerEntity <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := (&Trial{m, d, drifters(3, 10), 2, 1}).Run("range"); err == nil {
		t.Error("10 snapshots are too few for an average: no error")
	}
	if _, err := (&Trial{m, d, test, 2, 1}).Run("lzma"); err == nil {
		t.Error("a codec that does not exist: no error")
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

// A codec that gives back something else is found out.
func TestCompareFindsDifference(t *testing.T) {
	tr := drifters(1, 3)
	frame := append([]int32(nil), tr.Snapshots[2]...)
	if n, err := compare(tr, 2, frame, nil); err != nil || n != 5 {
		t.Fatal(n, err)
	}
	frame[7]++
	if _, err := compare(tr, 2, frame, nil); err == nil {
		t.Error("a changed value was not noticed")
	}
	if _, err := compare(tr, 2, frame, []bool{true, true, true, false, true}); err != nil {
		t.Error("a row that does not count was compared")
	}
}
