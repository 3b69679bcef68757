package itr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func small() *Trace {
	return &Trace{TickRate: 60, TicksPerSnapshot: 3, Entities: 3,
		Fields: []Field{{Name: "x"}, {Name: "yaw", Kind: Angle, Mod: 360}},
		Snapshots: [][]int32{
			{1, 2, 0, 0, math.MaxInt32, math.MinInt32}, {1, 2, 0, 0, math.MinInt32, math.MaxInt32},
			{1, 2, 0, 0, math.MinInt32, math.MaxInt32}}}
}

func equal(a, b *Trace) bool {
	return a.TickRate == b.TickRate && a.TicksPerSnapshot == b.TicksPerSnapshot && a.Entities == b.Entities &&
		slices.Equal(a.Fields, b.Fields) && slices.EqualFunc(a.Snapshots, b.Snapshots, slices.Equal[[]int32])
}

func TestReadWrite(t *testing.T) {
	want := small()
	got, err := Read(bytes.NewReader(want.Append(nil)), "small")
	if err != nil || !equal(got, want) {
		t.Fatalf("%v: got %+v, want %+v", err, got, want)
	}
}

// Errors of a file name the file, the byte and what was expected.
func TestReadErrors(t *testing.T) {
	good := small().Append(nil)
	at := func(i int, v uint32) []byte {
		b := slices.Clone(good)
		binary.LittleEndian.PutUint32(b[i:], v)
		return b
	}
	for name, c := range map[string]struct {
		src  []byte
		want string
	}{
		"empty": {nil, "byte 0: not a usable trace: the file ends, expected the magic ITR1"},
		"other magic": {[]byte("ITR2xxxxxxxx"),
			`byte 3: not a usable trace: 0x32, expected the magic "ITR1"`},
		"no rate": {at(4, 0), "byte 4: not a usable trace: the tick rate is 0, expected 1 to"},
		"too many fields": {at(16, 65),
			"byte 16: not a usable trace: the number of fields is 65, expected 1 to 64"},
		"too large": {at(20, 1<<20+1),
			"byte 20: not a usable trace: the number of snapshots is 1048577, expected 1 to"},
		"cut in header": {good[:10],
			"byte 10: not a usable trace: the file ends, expected the ticks per snapshot"},
		"cut in snapshot":   {good[:len(good)-9], "the file ends, expected"},
		"more than it said": {append(slices.Clone(good), 0), "bytes behind the last of"},
		"kind": {func() []byte { b := slices.Clone(good); b[26] = 9; return b }(),
			"byte 26: not a usable trace: field 0 (\"x\") is of kind 9, expected 0 to 3"},
	} {
		_, err := Read(bytes.NewReader(c.src), "a.itr")
		if err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "a.itr") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open("nowhere.itr"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A header that promises much and delivers nothing costs no memory.
func TestReadBounded(t *testing.T) {
	b := small().Append(nil)[:24]
	binary.LittleEndian.PutUint32(b[12:], 1)
	binary.LittleEndian.PutUint32(b[16:], 1)
	binary.LittleEndian.PutUint32(b[20:], MaxSnapshots)
	if n := testing.AllocsPerRun(1, func() { _, _ = Read(bytes.NewReader(b), "") }); n > 40 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small().Append(nil))
	f.Add([]byte("ITR1"))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Read(bytes.NewReader(src), "fuzz")
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(got.Append(nil)), "fuzz")
		if err != nil || !equal(got, again) {
			t.Fatalf("a trace changed when written and read: %v", err)
		}
	})
}

func TestParsePose(t *testing.T) {
	if p, err := ParsePose("1cm,0.1deg"); err != nil || p.Centimetres != 1 || p.Degrees != 0.1 {
		t.Error(p, err)
	}
	for _, bad := range []string{"", "1cm", "1,1", "0cm,1deg", "1cm,NaNdeg", "1m,1deg", "1cm,0.1deg,2"} {
		if _, err := ParsePose(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// Two players on a line: between samples the pose is interpolated, a death stands still, and the
// dead do not count.
func TestOpenPose(t *testing.T) {
	csv := "tick,t_ms,player,x,y,z,pitch,yaw,alive,fire\n"
	for i, s := range []string{"0,0,0,24,0,90,1,0", "100,32,0,24,0,90,1,0", "200,64,0,24,0,90,0,0",
		"300,96,0,24,0,90,0,0", "400,0,320,24,10,0,1,0", "500,0,320,24,10,0,1,0"} {
		ms, rest, _ := strings.Cut(s, ",")
		csv += string(rune('0'+i)) + "," + ms + ",7," + rest + "\n"
	}
	path := t.TempDir() + "/a.csv"
	if err := os.WriteFile(path, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := OpenPose(path, Pose{Centimetres: 1, Degrees: 0.1, Hz: 20})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		live bool
		x, z int32
	}{{true, 0, 0}, {true, 50, 0}, {true, 100, 0}, {true, 100, 0}, {false, 100, 0}, {false, 100, 0},
		{false, 100, 0}, {false, 100, 0}, {true, 0, 1000}, {true, 0, 1000}, {true, 0, 1000}}
	if len(tr.Snapshots) != len(want) {
		t.Fatalf("%d snapshots, want %d", len(tr.Snapshots), len(want))
	}
	for s, w := range want {
		if row := tr.Row(s, 0); tr.Live[s][0] != w.live || row[0] != w.x || row[2] != w.z {
			t.Errorf("snapshot %d: live %v at %d, want %v at %d, %d", s, tr.Live[s][0], row, w.live, w.x, w.z)
		}
	}
	if row := tr.Row(10, 0); row[3] != 900 || row[4] != -100 {
		t.Errorf("yaw %d and pitch %d, want 900 and -100", row[3], row[4])
	}
}
