package replay

import (
	"testing"
	"time"
)

// BenchmarkRecorder is what recording adds to a tick of 64 players, beside the match itself: share
// is of both; most is the worst tick. encode and pack are per chunk, with a state each, and in no
// tick.
func BenchmarkRecorder(b *testing.B) {
	p := newPlay(b, 64, 3)
	for range 300 {
		p.step()
	}
	rec, err := NewRecorder(p.m, 240, 1)
	if err != nil {
		b.Fatal(err)
	}
	cam := NewKillcam(HeadOf(p.m, "arena-16", 240))
	var step, record, most, encode, pack time.Duration
	chunks := 0
	for b.Loop() {
		t0 := time.Now()
		p.step()
		t1 := time.Now()
		raw := rec.Tick()
		took := time.Since(t1)
		step, record, most = step+t1.Sub(t0), record+took, max(most, took)
		if raw != nil {
			t2 := time.Now()
			done := raw.Encode()
			t3 := time.Now()
			cam.Add(done)
			encode, pack, chunks = encode+t3.Sub(t2), pack+time.Since(t3), chunks+1
		}
	}
	b.ReportMetric(float64(encode.Microseconds())/float64(max(1, chunks)), "us/encode")
	b.ReportMetric(float64(pack.Microseconds())/float64(max(1, chunks)), "us/pack")
	b.ReportMetric(float64(record.Nanoseconds())/float64(b.N), "ns/record")
	b.ReportMetric(100*float64(record)/float64(step+record), "%share")
	b.ReportMetric(float64(most.Microseconds()), "us/most")
	b.ReportMetric(float64(cam.Memory()), "B/cam")
}

// BenchmarkReplay is how many times as fast as life a recording of 16 players is played.
func BenchmarkReplay(b *testing.B) {
	file, hashes := record(b, newPlay(b, 16, 5), 600, 240)
	var took time.Duration
	for b.Loop() {
		t0 := time.Now()
		if _, _, err := again(b, file); err != nil {
			b.Fatal(err)
		}
		took += time.Since(t0)
	}
	b.ReportMetric(float64(len(hashes))/60*float64(b.N)/took.Seconds(), "xlife")
}

// BenchmarkKillcam is what making one of twelve seconds of 64 players takes: once a second at most.
func BenchmarkKillcam(b *testing.B) {
	p := newPlay(b, 64, 3)
	h := HeadOf(p.m, "arena-16", 240)
	rec, err := NewRecorder(p.m, 240, 1)
	if err != nil {
		b.Fatal(err)
	}
	cam := NewKillcam(h)
	for range 960 {
		p.step()
		if raw := rec.Tick(); raw != nil {
			cam.Add(raw.Encode())
		}
	}
	n, pending := 0, Chunk{}
	for b.Loop() {
		pending = rec.Pending(pending.Log)
		recorded, _, err := cam.Append(nil, &pending, 1<<20)
		if n = len(recorded); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "B")
}
