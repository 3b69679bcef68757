package rows

import "testing"

// Speed a row of ten fields of which about half change, with all contexts and with few.
func BenchmarkRow(b *testing.B) {
	s, train := walkers(1, 64, 300)
	_, rec := walkers(2, 64, 300)
	for _, contexts := range []struct {
		name string
		n    int
	}{{"all", 0}, {"few", 2}} {
		m, err := Train(s, []Recording{train}, Training{Delay: 2, Rows: 10000, Contexts: contexts.n})
		if err != nil {
			b.Fatal(err)
		}
		for name, c := range coders(m) {
			var past Past
			buf := make([]byte, 0, 1<<16)
			bytes, frames := 0, 0
			b.Run(name+"/"+contexts.name+"/encode", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					rec.PastAt(20+i%280, 2, s.Interval, &past)
					buf = c[0].Append(buf[:0], rec.Frames[20+i%280], &past, nil)
					bytes += len(buf)
					frames++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64), "ns/row")
				b.ReportMetric(float64(bytes*8)/float64(frames*64), "bits/row")
			})
			var messages [280][]byte
			var pasts [280]Past
			for i := range messages {
				rec.PastAt(20+i, 2, s.Interval, &pasts[i])
				messages[i] = c[0].Append(nil, rec.Frames[20+i], &pasts[i], nil)
			}
			got := make([]int32, len(rec.Frames[0]))
			b.Run(name+"/"+contexts.name+"/decode", func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := c[1].Decode(messages[i%280], got, &pasts[i%280], nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64), "ns/row")
			})
		}
	}
}
