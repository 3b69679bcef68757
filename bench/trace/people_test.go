package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false,
	"derive the recordings of people in testdata anew from those beside the repository")

// people are recordings of people in testdata, and the files beside the repository that they are
// derived from: the first minute, in whole units and tenths of degrees, with the columns that are
// read.
var people = []struct {
	file, source string
	tracks, rows int
	jumpsHz      [2]float64
	metresHz     [2]float64 // mean speed, metres a second
	speeds       []float64  // of the whole source by the game server's own statistics, units/s
}{
	{"people_4on4.csv.gz", "qw_4on4_dm2_8p.csv.gz", 8, 13712, [2]float64{0.2, 1.5}, [2]float64{5, 12}, nil},
	{"people_duel.csv.gz", "qw_duel_aerowalk_2p.csv.gz", 2, 7806, [2]float64{0.2, 1.6}, [2]float64{8, 12},
		[]float64{325.55, 313.57}},
}

// Recordings of people give as many tracks as there were players, who run and jump as people do.
func TestPeople(t *testing.T) {
	for _, c := range people {
		path := filepath.Join("testdata", c.file)
		if source := filepath.Join("../../../shared/traces", c.source); *update {
			if _, err := os.Stat(source); err == nil {
				speedsAreTheServers(t, open(t, source), c.speeds)
				derive(t, source, path)
			}
		}
		got := open(t, path)
		if len(got.Tracks) != c.tracks {
			t.Errorf("%s: %d tracks, want %d", c.file, len(got.Tracks), c.tracks)
		}
		samples, jumps, way, live := 0, 0, 0.0, 0.0
		for i := range got.Tracks {
			track := &got.Tracks[i]
			checkTrack(t, track)
			samples += len(track.Samples)
			live += track.TotalLength().Seconds()
			way += walked(track)
			for _, r := range track.Runs {
				for k := r.From + 1; k < r.To; k++ {
					if track.Samples[k].Jump && !track.Samples[k-1].Jump {
						jumps++
					}
				}
			}
		}
		speed, jumpsHz := way/live, float64(jumps)/live
		t.Logf("%s: %d samples, %.0f s alive, mean speed %.2f m/s, %.2f jumps a second", c.file, samples, live,
			speed, jumpsHz)
		if samples > c.rows*102/100 || samples < c.rows*95/100 {
			t.Errorf("%s: %d samples, want about %d", c.file, samples, c.rows)
		}
		if speed < c.metresHz[0] || speed > c.metresHz[1] || jumpsHz < c.jumpsHz[0] || jumpsHz > c.jumpsHz[1] {
			t.Errorf("%s: mean speed %.2f m/s, %.2f jumps a second, want %v and %v", c.file, speed, jumpsHz,
				c.metresHz, c.jumpsHz)
		}
	}
}

// walked is the length of the way of a track on the ground, metres.
func walked(track *Track) (way float64) {
	for _, r := range track.Runs {
		for i := r.From + 1; i < r.To; i++ {
			step := track.Samples[i].Pos.Sub(track.Samples[i-1].Pos)
			way += math.Hypot(float64(step.X), float64(step.Z))
		}
	}
	return way
}

// speedsAreTheServers compares the mean speeds of a whole recording with those that its game server
// counted.
func speedsAreTheServers(t *testing.T, whole *Trace, want []float64) {
	for i, want := range want {
		track := &whole.Tracks[i]
		if speed := 32 * walked(track) / track.TotalLength().Seconds(); math.Abs(speed-want) > 0.01*want {
			t.Errorf("player %d: %.2f units/s, the server counted %.2f", track.Player, speed, want)
		}
	}
}

// derive writes the first minute of a QuakeWorld recording.
func derive(t *testing.T, from, to string) {
	t.Helper()
	file, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(unzipped)
	head, err := in.Read()
	if err != nil {
		t.Fatal(err)
	}
	columns := append([]string{quakeWorld.mark[0]}, quakeWorld.columns...)
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(zipped)
	if err := w.Write(columns); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := in.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		at := map[string]string{}
		for i, name := range head {
			at[name] = line[i]
		}
		if number(t, at["t_ms"]) >= 60_000 {
			break
		}
		var row []string
		for _, name := range columns {
			text := at[name]
			switch name {
			case "x", "y", "z":
				text = fmt.Sprintf("%.0f", number(t, text))
			case "pitch", "yaw":
				text = strconv.FormatFloat(math.Round(10*number(t, text))/10, 'f', -1, 64)
			}
			row = append(row, text)
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if w.Flush(); w.Error() != nil || zipped.Close() != nil {
		t.Fatal(w.Error())
	}
	if err := os.WriteFile(to, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
