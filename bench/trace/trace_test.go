package trace

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

func open(t testing.TB, path string) *Trace {
	t.Helper()
	got, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func close3(a, b geom.Vec3, within float32) bool { return a.Sub(b).Len() <= within }

func TestHandmadeQuakeWorld(t *testing.T) {
	got := open(t, "testdata/handmade_qw.csv")
	if got.Name != "handmade_qw.csv" || len(got.Tracks) != 2 || got.Tracks[0].Player != 0 ||
		got.Tracks[1].Player != 3 {
		t.Fatalf("name %q, %d tracks", got.Name, len(got.Tracks))
	}
	walker, turner := got.Tracks[0], got.Tracks[1]
	// 1 until death, 2 from the new life to the teleport, 3 after it.
	if want := []Run{{0, 80}, {90, 110}, {110, 120}}; len(walker.Runs) != 3 || walker.Runs[0] != want[0] ||
		walker.Runs[1] != want[1] || walker.Runs[2] != want[2] {
		t.Errorf("runs %v, want %v", walker.Runs, want)
	}
	if walker.TotalLength() != (79+19+9)*25*time.Millisecond {
		t.Errorf("total length %v", walker.TotalLength())
	}
	first := walker.Samples[0]
	// One step of 8 units; the origin is 24 above the feet.
	if want := (geom.Vec3{X: 8. / 32}); first.Pos != want {
		t.Errorf("first position %v, want %v", first.Pos, want)
	}
	if first.Yaw != 0x4000 || first.Pitch.Degrees() < 5.4 || first.Pitch.Degrees() > 5.6 {
		t.Errorf("looks at yaw %v pitch %v, want along +x and 5.5 up",
			first.Yaw.Degrees(), first.Pitch.Degrees())
	}
	if s := walker.Samples[70]; s.Yaw != 0 || s.Pitch.Degrees() > -9.9 {
		t.Errorf("after the turn: yaw %v pitch %v", s.Yaw.Degrees(), s.Pitch.Degrees())
	}
	for _, i := range []int{10, 70, 100} { // walks where it looks, 10 m/s
		s := walker.Samples[i]
		if want := geom.Forward(s.Yaw, 0).Scale(10); !close3(s.Vel, want, 0.01) {
			t.Errorf("sample %d moves %v, want %v", i, s.Vel, want)
		}
	}
	if s := walker.Samples; !s[20].Fire || !s[21].Fire || s[22].Fire || s[19].Fire {
		t.Error("a shot is not a press of 50 ms")
	}
	for i, s := range walker.Samples {
		if near := i >= 38 && i <= 43; s.Jump && !near {
			t.Errorf("sample %d jumps, the only jump is at 40", i)
		}
	}
	if !walker.Samples[40].Jump {
		t.Error("the jump at sample 40 was not seen")
	}
	if turner.Samples[35].Vel != (geom.Vec3{}) || !turner.Samples[35].Fire || len(turner.Runs) != 1 {
		t.Errorf("the turner: %+v, %d runs", turner.Samples[35], len(turner.Runs))
	}
	if d := turner.Samples[11].Yaw - turner.Samples[10].Yaw; d.Degrees() > -8.9 || d.Degrees() < -9.1 {
		t.Errorf("9 degrees to the left became %v", d.Degrees())
	}
}

func TestHandmadeCounterStrike(t *testing.T) {
	got := open(t, "testdata/handmade_cs16.csv")
	if len(got.Tracks) != 2 {
		t.Fatalf("%d tracks", len(got.Tracks))
	}
	for i, track := range got.Tracks {
		if len(track.Samples) != 60 || len(track.Runs) != 1 {
			t.Fatalf("track %d: %d samples (a repeated row counts once), %d runs",
				i, len(track.Samples), len(track.Runs))
		}
		s := track.Samples[20]
		if want := geom.Forward(s.Yaw, 0).Scale(4.1 / 39.37 / 0.0167); !close3(s.Vel, want, 0.01) ||
			s.Pos.Y != 0 {
			t.Errorf("track %d moves %v at height %v, want %v on the ground", i, s.Vel, s.Pos.Y, want)
		}
		if !track.Samples[12].Fire || track.Samples[9].Fire || track.Samples[15].Fire ||
			!track.Samples[30].Jump || track.Samples[29].Jump {
			t.Errorf("track %d: buttons are wrong", i)
		}
		if s.Pitch.Degrees() > -9.9 {
			t.Errorf("track %d: pitch %v, theirs is 10 down", i, s.Pitch.Degrees())
		}
	}
}

func TestGzipReadsTheSame(t *testing.T) {
	plain, err := os.ReadFile("testdata/handmade_qw.csv")
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(plain)
	w.Close()
	path := filepath.Join(t.TempDir(), "x.csv.gz")
	if err := os.WriteFile(path, zipped.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, path), open(t, "testdata/handmade_qw.csv")
	if len(a.Tracks) != 2 || a.Tracks[0].Samples[50] != b.Tracks[0].Samples[50] {
		t.Error("gzip and plain differ")
	}
	cut := zipped.Bytes()[:zipped.Len()-40]
	if _, err := Read(bytes.NewReader(cut), "cut.csv.gz"); err == nil ||
		!strings.Contains(err.Error(), "trace cut.csv.gz:") || !strings.Contains(err.Error(), "ends early") {
		t.Errorf("a cut file: %v", err)
	}
}

func TestErrorsNameFileLineColumnAndWhatWasExpected(t *testing.T) {
	const header = "tick,t_ms,player,x,y,z,vx,vy,vz,pitch,yaw,alive,health,armor,weapon," +
		"fire,pov,wframe,dmg,ping\n"
	const row = "0,0,0,1,2,3,,,,0,0,1,100,0,1,0,,0,0,25\n"
	cases := []struct{ name, content, want string }{
		{"1 empty", "", "trace f.csv:1: the file is empty: expected a header line"},
		{"2 something else", "hello\n", "trace f.csv:1: not a trace: " +
			"expected a header with tick and alive (QuakeWorld) or session and buttons"},
		{"3 lacks a column", "tick,alive,player\n",
			`trace f.csv:1: header of a QuakeWorld trace lacks column "t_ms"; expected player, t_ms, x`},
		{"4 a column twice", "tick,tick\n", `f.csv:1: column "tick" stands twice`},
		{"5 not a number", header + row + strings.Replace(row, ",1,2,3,", ",1,2,z,", 1),
			`f.csv:3: column "z" is "z", expected units from -131072 to 131072`},
		{"6 NaN", header + strings.Replace(row, ",1,2,3,", ",NaN,2,3,", 1),
			`f.csv:2: column "x" is "NaN", expected units`},
		{"7 far away", header + strings.Replace(row, ",1,2,3,", ",1,2e9,3,", 1), `column "y" is "2e9"`},
		{"8 short line", header + "0,0,0,1,2\n", `f.csv:2: column "z" (number 6) is missing: the line has 5`},
		{"9 half a player", header + "0,0,0.5,1,2,3,,,,0,0,1,100,0,1,0\n",
			`column "player" is "0.5", expected a whole number`},
		{"10 alive twice over", header + "0,0,0,1,2,3,,,,0,0,2,100,0,1,0\n",
			`column "alive" is "2", expected a whole number from 0 to 1`},
		{"11 time goes back", header + strings.Replace(row, "0,0,0", "1,50,0", 1) + row,
			`f.csv:3: column "t_ms": time goes back from 50ms to 0s for player 0`},
		{"12 nobody", header + row, "f.csv: nobody moves in it"},
		{"13 long line", header + strings.Repeat("1", 5000), "f.csv:2: the line is longer than 4096 bytes"},
		{"14 not gzip", "\x1f\x8bxx", "f.csv: not readable as gzip"},
	}
	for _, c := range cases {
		_, err := Read(strings.NewReader(c.content), "f.csv")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q, want %q", c.name, err, c.want)
		}
	}
	missing := filepath.Join(t.TempDir(), "nowhere.csv")
	if _, err := Open(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing file: %v", err)
	}
}

func TestJoin(t *testing.T) {
	a, b := open(t, "testdata/handmade_qw.csv"), open(t, "testdata/handmade_cs16.csv")
	both := Join(a, b)
	if both.Name != "handmade_qw.csv, handmade_cs16.csv" || len(both.Tracks) != 4 ||
		both.Tracks[2].Source != "handmade_cs16.csv" {
		t.Errorf("joined %q, %d tracks", both.Name, len(both.Tracks))
	}
}

func FuzzRead(f *testing.F) {
	for _, path := range []string{"testdata/handmade_qw.csv", "testdata/handmade_cs16.csv"} {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		f.Add(content[:500])
	}
	f.Add([]byte("tick,alive,player,t_ms,x,y,z,pitch,yaw,fire\n" +
		"0,1,0,0,0,0,0,0,0,0\n0,1,0,1e9,0,0,0,0,0,0\n0,1,0,1e9,0,0,0,0,0,0"))
	f.Add([]byte("\x1f\x8b\b\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := Read(bytes.NewReader(content), "fuzz.csv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "trace fuzz.csv:") {
				t.Fatalf("error does not name the file: %v", err)
			}
			return
		}
		for i := range got.Tracks {
			checkTrack(t, &got.Tracks[i])
		}
		s := NewSampler(got, len(content), 1)
		for _, at := range []time.Duration{-1, 0, 1, s.Length() - 1, s.Length(), 7 * s.Length() / 3} {
			if p := s.At(at); !p.Pos.Finite() || !p.Vel.Finite() {
				t.Fatalf("at %v: %+v", at, p)
			}
		}
	})
}

func checkTrack(t *testing.T, track *Track) {
	t.Helper()
	end := 0
	if len(track.Runs) == 0 {
		t.Fatal("a track without a run was kept")
	}
	for _, r := range track.Runs {
		if r.From < end || r.To < r.From+2 || r.To > len(track.Samples) {
			t.Fatalf("runs %v of %d samples", track.Runs, len(track.Samples))
		}
		end = r.To
		for i := r.From; i < r.To; i++ {
			s := track.Samples[i]
			if !s.Alive || !s.Pos.Finite() || !s.Vel.Finite() ||
				(i > r.From && s.T-track.Samples[i-1].T < shortestStep) {
				t.Fatalf("sample %d: %+v", i, s)
			}
		}
	}
}
