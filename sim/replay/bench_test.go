package replay

import (
	"testing"
	"time"
)

// BenchmarkRecorder is what recording adds to a tick of 64 players (record-ns/tick), beside the match
// itself. A chunk, with a state each, is encoded and packed in no tick.
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
	var step, record, encode, pack time.Duration
	chunks := 0
	for b.Loop() {
		t0 := time.Now()
		p.step()
		t1 := time.Now()
		raw := rec.Tick()
		step, record = step+t1.Sub(t0), record+time.Since(t1)
		if raw != nil {
			t2 := time.Now()
			done := raw.Encode()
			t3 := time.Now()
			cam.Add(done)
			encode, pack, chunks = encode+t3.Sub(t2), pack+time.Since(t3), chunks+1
		}
	}
	b.ReportMetric(float64(step)/float64(b.N), "match-ns/tick")
	b.ReportMetric(float64(record)/float64(b.N), "record-ns/tick")
	b.ReportMetric(float64(encode)/float64(max(1, chunks)), "encode-ns/chunk")
	b.ReportMetric(float64(pack)/float64(max(1, chunks)), "pack-ns/chunk")
	b.ReportMetric(0, "ns/op") // chunks included, now and then
}

// BenchmarkReplay is the time of a tick of 16 players when their recording is played.
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
	b.ReportMetric(float64(took)/float64(b.N*len(hashes)), "ns/tick")
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
	b.ReportMetric(float64(n), "recording-B/op")
}
