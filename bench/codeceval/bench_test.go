package codeceval

import (
	"testing"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/ecs/schema"
)

// BenchmarkTrace codes recordings with codecs of a lobby, as codec eval does, with a model that is
// trained on another recording, or on the other half of the same one. The time is that of encoding.
func BenchmarkTrace(b *testing.B) {
	cubes := open(b, "cubes.itr.gz")
	for _, c := range []struct {
		name  string
		train []*itr.Trace
		test  *itr.Trace
		delay int // snapshots in 100 ms
	}{
		{"fields=58", []*itr.Trace{open(b, "fields58_train.itr.gz")}, open(b, "fields58_test.itr.gz"), 2},
		{"cubes", []*itr.Trace{half(cubes, true)}, half(cubes, false), 6},
		{"people", []*itr.Trace{open(b, duel)}, open(b, people), 2},
		{"duel", []*itr.Trace{open(b, people)}, open(b, duel), 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, err := Train(c.train, c.delay)
			if err != nil {
				b.Fatal(err)
			}
			for _, codec := range []schema.Codec{schema.Huffman, schema.Range, schema.Zstd} {
				b.Run(codec.String(), func(b *testing.B) { runTrial(b, &Trial{m, c.test, c.delay}, codec) })
			}
		})
	}
}

// runTrial reports sizes and times of one codec.
func runTrial(b *testing.B, trial *Trial, codec schema.Codec) {
	var s Score
	var encode, decode float64
	for range b.N {
		var err error
		if s, err = trial.Run(codec); err != nil {
			b.Fatal(err)
		}
		encode += s.EncodeNsPerEntity
		decode += s.DecodeNsPerEntity
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(encode/float64(b.N), "ns/row")
	b.ReportMetric(decode/float64(b.N), "decode-ns/row")
	b.ReportMetric(s.BitsPerEntity, "bits/row")
	b.ReportMetric(s.BytesPerSnapshot, "B/snapshot")
	b.ReportMetric(s.FirstBytes, "first-B/snapshot")
	b.ReportMetric(float64(s.ModelBytes), "model-B")
}
