//go:build ignore

// Command derive makes the files beside it from the recordings that README.md names:
//
//	go run bench/trace/testdata/play/derive.go FOLDER
//
// Of QuakeWorld recordings it keeps 90 s, one row per player and 50 ms, positions in half units, angles
// in tenths of a degree, and the columns that package trace reads. Of entity-state traces it keeps the
// first snapshots.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tickrate/tickrate/bench/itr"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("expected the folder of the recordings")
	}
	into := filepath.Join("bench", "trace", "testdata", "play")
	for _, name := range []string{"qw_4on4_dm2_8p", "qw_duel_aerowalk_2p", "qw_duel_povdmm4_2p"} {
		write(filepath.Join(into, name+".csv.gz"), play(filepath.Join(os.Args[1], name+".csv.gz")))
	}
	for name, snapshots := range map[string]int{"lobby_16_train": 300, "lobby_64_train": 70, "cubes_a": 500} {
		t, err := itr.Open(filepath.Join(os.Args[1], "itr", name+".itr"))
		if err != nil {
			log.Fatal(err)
		}
		t.Snapshots = t.Snapshots[:min(snapshots, len(t.Snapshots))]
		if err := os.WriteFile(filepath.Join(into, name+".itr"), t.Append(nil), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

const (
	length, step = 90_000, 50 // milliseconds
)

// play reads a recording and returns its part as CSV.
func play(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, "tick,t_ms,player,x,y,z,pitch,yaw,alive,fire")
	next := map[string]int{} // by player: time of the next row to keep
	for _, r := range rows[1:] {
		t, player, alive := int(number(r[1])), r[2], r[11]
		if t < next[player] {
			continue
		}
		if t > length {
			break
		}
		next[player] = t/step*step + step
		fmt.Fprintf(&out, "%s,%d,%s,%s,%s,%s,%s,%s,%s,%s\n", r[0], t, player, round(r[3], 2), round(r[4], 2),
			round(r[5], 2), round(r[9], 10), round(r[10], 10), alive, r[15])
	}
	return out.Bytes()
}

func number(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		log.Fatal(err)
	}
	return x
}

// round rounds to a fraction of one.
func round(s string, per float64) string {
	return strconv.FormatFloat(math.Round(number(s)*per)/per+0, 'g', 8, 64)
}

// write writes a file, compressed.
func write(path string, data []byte) {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if _, err := z.Write(data); err != nil {
		log.Fatal(err)
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
