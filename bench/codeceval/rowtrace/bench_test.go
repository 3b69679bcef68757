package rowtrace

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/codeceval"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/sim/netstate"
)

// BenchmarkPlayer codes what a snapshot tells of another player, in a lobby of this build that
// follows recorded people. The models are those of this build. The time is that of encoding.
func BenchmarkPlayer(b *testing.B) {
	trial := &codeceval.Trial{Model: codeceval.Of(netstate.Trained().Public), Delay: late,
		Trace: lobby(b, 16, 60*time.Second, 2, "people_4on4.csv.gz")}
	for _, codec := range []schema.Codec{schema.Huffman, schema.Range, schema.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			var encode, decode, bits float64
			for range b.N {
				s, err := trial.Run(codec)
				if err != nil {
					b.Fatal(err)
				}
				encode += s.EncodeNsPerEntity
				decode += s.DecodeNsPerEntity
				bits = s.BitsPerEntity
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(encode/float64(b.N), "ns/row")
			b.ReportMetric(decode/float64(b.N), "decode-ns/row")
			b.ReportMetric(bits/8, "B/row")
		})
	}
}
